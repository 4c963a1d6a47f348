"""Everything that failed since the start, and what is wrong in files now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from tui.store import Changed, ViewStore
from tui.text import Hint
from tui.theme import app_of
from tui.views.base import Place
from tui.views.faults import FaultLine, fault_lines
from tui.widgets.columns import Column
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

SAID = 6  # lines for the selected fault


class Target(NamedTuple):
    """The row that a fault belongs to."""

    domain: str
    subject: str


class ErrorsSheet(Sheet[Target | None]):
    """Faults one per line, the selected one whole below. `enter` goes to its row."""

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    ErrorsSheet {
        & RowList { height: auto; max-height: 18; }
        &.-short RowList { max-height: 12; }
        & #said { height: 7; background: $surface; padding: 0 2 0 3; }
        & #box #body #said { margin: 1 1 0 0; }
    }
    """
    COLUMNS = (
        Column("time", "Time", 8),
        Column("about", "About", 16, grow=1, most=28),
        Column("what", "What", 20, grow=4, spill=True),
        Column("times", "", 9, keep=2, right=True),
    )

    def __init__(self, store: ViewStore, place: Place, changes: Signal[set[Changed]]) -> None:
        super().__init__("Errors", "newest first")
        self._store, self._place, self._changes = store, place, changes
        self._lines: dict[str, FaultLine] = {}
        self._rows = RowList(self.COLUMNS)
        self._said = PageView(self._write, id="said")

    def body(self) -> ComposeResult:
        """The list, and the whole of the selected one."""
        yield self._rows
        yield self._said

    def on_mount(self) -> None:
        """Follow the store."""
        self._changes.subscribe(self, self._fill)
        self._fill(set())
        self._rows.focus()

    def _fill(self, changed: set[Changed]) -> None:
        self._lines = {line.key: line for line in fault_lines(self._store, self._place)}
        self._rows.set_rows(list(self._lines), self._row)
        self._rows.styles.height = max(1, len(self._lines))
        self._rows.display = bool(self._lines)
        self._said.redraw()

    def _row(self, key: str) -> RowView:
        line = self._lines[key]
        times = f"{line.count} times" if line.count > 1 else ""
        return RowView(
            line.sign,
            {
                "time": [(line.time, "muted")],
                "about": line.about,
                "what": [(f"{line.what}  ", ""), (line.words, "muted")],
                "times": [(times, "muted")] if times else [],
            },
        )

    def _selected(self) -> FaultLine | None:
        return self._lines.get(self._rows.cursor_id or "")

    def _write(self, page: Page) -> None:
        line = self._selected()
        if line is None:
            page.title("No error")
            page.text("Nothing has failed, and every file could be read.")
            return
        page.both([(line.about, "strong"), (f"  {line.what}", "")], [(line.time, "muted")])
        page.text(line.words, limit=SAID)

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`enter` is bound by the list."""
        shown, tail = super().hints()
        line = self._selected()
        go = [Hint("enter", "go to the row")] if line and line.subject else []
        return [*go, *(shown if line else [])], tail

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._said.redraw()
        self.refresh_bindings()

    @on(RowList.Activated)
    def _go(self) -> None:
        line = self._selected()
        if line is not None and line.subject:
            self.dismiss(Target(line.domain, line.subject))

    def action_copy(self) -> None:
        """Copy what was said."""
        if line := self._selected():
            app = app_of(self)
            app.copy_to_clipboard(f"{line.time} {line.about}: {line.what}: {line.words}")
            toast(app, "Copied: the error")
