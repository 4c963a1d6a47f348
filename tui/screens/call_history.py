"""What was called before: fill its arguments in, or call it again as it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.protocol.jackfield_tools import PastCall
from tui.signs import SignName
from tui.text import Hint
from tui.views.call_page import span, write_json
from tui.views.times import clock
from tui.widgets.columns import Column
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet

_SIGNS: dict[str, SignName] = {
    "answered": "works",
    "toolError": "failed",
    "failed": "failed",
    "cancelled": "off",
}
_WORDS = {"answered": "answered", "toolError": "tool error", "failed": "no answer"}
SHOWN_LINES = 10


class Chosen(NamedTuple):
    """A past call; `again`: send it as it was."""

    call: PastCall
    again: bool


class HistorySheet(Sheet[Chosen | None]):
    """Past calls of one tool, newest first."""

    SIZE = "medium"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "again", "call again", id="form.submit"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    HistorySheet {
        & RowList { height: auto; max-height: 12; }
        &.-short RowList { max-height: 8; }
        & #box #body #sent { height: 11; background: $surface; padding: 0 2 0 3; margin: 1 1 0 0; }
        &.-short #box #body #sent { height: 7; }
    }
    """
    COLUMNS = (
        Column("time", "Time", 8),
        Column("state", "Outcome", 11),
        Column("said", "Said", 20, grow=1, spill=True),
        Column("took", "", 8, keep=2, right=True),
    )

    def __init__(self, calls: Sequence[PastCall]) -> None:
        super().__init__("Called before", "kept until Jackfield ends")
        self._calls = {call.call_id: call for call in calls}
        self._rows = RowList(self.COLUMNS)
        self._sent = PageView(self._write, id="sent")

    def body(self) -> ComposeResult:
        """The calls, and what was sent with the selected one."""
        yield self._rows
        yield self._sent

    def on_mount(self) -> None:
        """The newest is selected."""
        self._rows.set_rows(list(self._calls), self._row)
        self._rows.styles.height = max(1, len(self._calls))
        self._rows.display = bool(self._calls)
        self._rows.focus()

    def _row(self, key: str) -> RowView:
        call = self._calls[key]
        return RowView(
            _SIGNS.get(call.outcome, "none"),
            {
                "time": [(clock(call.at), "muted")],
                "state": _WORDS.get(call.outcome, call.outcome),
                "said": [(call.said, "muted")],
                "took": [(span(call.duration_ms), "muted")],
            },
        )

    def _selected(self) -> PastCall | None:
        return self._calls.get(self._rows.cursor_id or "")

    def _write(self, page: Page) -> None:
        call = self._selected()
        if call is None:
            page.title("Not called yet")
            return
        page.both([("Sent", "strong")], [("secrets masked" if call.masked else "", "muted")])
        write_json(page, call.arguments or {}, SHOWN_LINES)

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`enter` is bound by the list."""
        shown, tail = super().hints()
        return ([Hint("enter", "fill in"), *shown] if self._calls else []), tail

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._sent.redraw()

    @on(RowList.Activated)
    def _fill(self) -> None:
        if (call := self._selected()) is not None:
            self.dismiss(Chosen(call, again=False))

    def action_again(self) -> None:
        """Send it once more, its secrets too."""
        if (call := self._selected()) is not None:
            self.dismiss(Chosen(call, again=True))
