"""The column heads above a list."""

from __future__ import annotations

from textual.app import RenderResult
from textual.widget import Widget

from tui.signs import glyphs_of
from tui.theme import content
from tui.widgets.row_list import RowList
from tui.widgets.row_view import paint_heads


class RowHeader(Widget):
    """The column heads of a list; they follow its columns and its width."""

    DEFAULT_CSS = """
    RowHeader { height: 1; background: $background; color: $text-muted; }
    """

    def __init__(self, row_list: RowList) -> None:
        super().__init__()
        self._list = row_list

    def on_mount(self) -> None:
        """Follow the columns of the list."""
        self.watch(self._list, "columns", self._columns_changed, init=False)

    def _columns_changed(self) -> None:
        self.refresh()

    def render(self) -> RenderResult:
        """The heads over their columns."""
        bar = self._list.styles.scrollbar_size_vertical
        layout = self._list.layout_for(self.size.width - bar)
        return content([(paint_heads(layout, glyphs_of(self).cut), "muted")])
