"""The base of widgets that draw line by line and scroll."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


class LineView(ScrollView):
    """Knows how many lines it has."""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw from another line on; the scroll bar too, where that can be seen."""
        bar = self.vertical_scrollbar
        if self.show_vertical_scrollbar and self._bar_moves(bar.position, new_value):
            bar.position = new_value
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)

    def _bar_moves(self, was: float, to: float) -> bool:
        """Whether the bar would look different: it is drawn in eighths of a cell."""
        step = self.virtual_size.height / max(1, 8 * self.size.height)
        ends = (0, self.max_scroll_y)
        return step <= 1 or was in ends or to in ends or int(was / step) != int(to / step)

    def take_lines(self, count: int) -> None:
        """Have that many lines.

        Setting `virtual_size` lays the whole screen out anew and paints the widget as a whole;
        where the height does not depend on it, only the scroll bar's coming or going does.
        """
        size = Size(0, count)
        if self.styles.is_auto_height:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)  # pyright: ignore[reportArgumentType]
            self._scroll_update(size)
