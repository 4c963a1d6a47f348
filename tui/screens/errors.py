"""Everything that failed since the start, and what is wrong in files now."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from tui.signs import SignName
from tui.store import Changed, ViewStore
from tui.text import Part
from tui.views.base import Place
from tui.views.faults import FaultLine, fault_lines
from tui.widgets.columns import Column
from tui.widgets.notice import empty
from tui.widgets.page_view import PageView
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet


class Target(NamedTuple):
    """The row that a fault belongs to."""

    domain: str
    subject: str


class ErrorsSheet(Sheet[Target]):
    """Two lines each: who and what, then the words. `enter` goes to the row."""

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "go to the row", id="row.details"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = "ErrorsSheet RowList { height: auto; max-height: 100%; min-height: 4; }"
    COLUMNS = (
        Column("time", "Time", 8),
        Column("about", "", 16, grow=1, most=28),
        Column("what", "", 24, grow=4, spill=True),
        Column("times", "", 9, keep=2, right=True),
    )

    def __init__(self, store: ViewStore, place: Place, changes: Signal[set[Changed]]) -> None:
        super().__init__("Errors", "newest first")
        self._store, self._place, self._changes = store, place, changes
        self._lines: dict[str, FaultLine] = {}

    def body(self) -> ComposeResult:
        yield RowList(self.COLUMNS)
        yield PageView(empty("No error", "Nothing has failed, and every file could be read."))

    def on_mount(self) -> None:
        super().on_mount()
        self._changes.subscribe(self, self._fill)
        self._fill(set())
        self.query_one(RowList).focus()

    def _fill(self, changed: set[Changed]) -> None:
        lines = fault_lines(self._store, self._place)
        self._lines = {line.key: line for line in lines}
        ids = [part for line in lines for part in (line.key, f"{line.key}\0words")]
        rows = self.query_one(RowList)
        rows.set_rows(ids, self._row)
        rows.styles.height = max(1, len(ids))
        rows.display = bool(ids)
        self.query_one(PageView).display = not ids

    def _row(self, id: str) -> RowView:
        key, _, words = id.partition("\0")
        line = self._lines[key]
        if words:
            said: list[Part] = [("  ", ""), (line.words, "muted")]
            return RowView("none", {"time": "", "about": "", "what": said})
        sign: SignName = line.sign
        times = f"{line.count} times" if line.count > 1 else ""
        return RowView(
            sign,
            {
                "time": [(line.time, "muted")],
                "about": [(line.about, "strong")],
                "what": line.what,
                "times": [(times, "muted")] if times else [],
            },
        )

    def _selected(self) -> FaultLine | None:
        id = self.query_one(RowList).cursor_id
        return self._lines.get(id.partition("\0")[0]) if id else None

    @on(RowList.Activated)
    def action_go(self) -> None:
        """Close, and put the cursor on the row."""
        line = self._selected()
        if line is not None and line.subject:
            self.dismiss(Target(line.domain, line.subject))

    def action_copy(self) -> None:
        """Copy what was said."""
        if line := self._selected():
            self.app.copy_to_clipboard(f"{line.time} {line.about}: {line.what}: {line.words}")
