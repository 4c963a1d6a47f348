"""Which of a server's tools, when it has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.protocol.rows import ToolRow
from tui.text import Hint, Tone
from tui.widgets.columns import Column
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet

_EFFECTS: dict[str, Tone] = {"destroys": "care"}


class PickToolSheet(Sheet[str | None]):
    """Answers with the id of a tool."""

    SIZE = "medium"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    PickToolSheet {
        & RowList { height: auto; max-height: 24; }
        &.-short RowList { max-height: 16; }
    }
    """
    COLUMNS = (
        Column("name", "Tool", 19, grow=1, most=36, match=True),
        Column("effect", "Effect", 8, keep=2),
        Column("about", "About", 20, grow=3),
    )

    def __init__(self, rows: Sequence[ToolRow]) -> None:
        super().__init__("Try which tool?", f"{len(rows)} tools")
        self._tools = {row.id: row for row in sorted(rows, key=lambda row: row.name.casefold())}
        self._rows = RowList(self.COLUMNS)

    def body(self) -> ComposeResult:
        """The tools by name."""
        yield self._rows

    def on_mount(self) -> None:
        """The first one is selected."""
        super().on_mount()
        self._rows.set_rows(list(self._tools), self._row)
        self._rows.styles.height = max(1, len(self._tools))
        self._rows.focus()

    def _row(self, key: str) -> RowView:
        row = self._tools[key]
        return RowView(
            "works",
            {
                "name": row.name,
                "effect": [(row.effect, _EFFECTS.get(row.effect, "muted"))],
                "about": [(row.title or row.description, "muted")],
            },
        )

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`enter` is bound by the list."""
        shown, tail = super().hints()
        return [Hint("enter", "try it"), *shown], tail

    @on(RowList.Activated)
    def _chosen(self, event: RowList.Activated) -> None:
        self.dismiss(event.id)
