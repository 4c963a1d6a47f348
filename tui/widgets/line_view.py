"""The base of widgets that draw line by line and scroll."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget


class LineView(ScrollView):
    """Knows how many lines it has."""

    def take_lines(self, count: int) -> None:
        """Have that many lines.

        Setting `virtual_size` lays the whole screen out anew and paints the widget as a whole; where
        the height does not depend on it, that happens only when the scroll bar comes or goes.
        """
        size = Size(0, count)
        if self.styles.is_auto_height:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
