"""Rich styles of tones, for widgets that draw their own lines."""

from __future__ import annotations

from typing import Final

from rich.style import Style
from textual.widget import Widget

TONES: Final = ("muted", "accent", "good", "care", "bad", "edge", "rule", "match")
_SAME: Final = {"aside": "muted", "key": "accent", "link": "accent"}

COMPONENTS: Final = frozenset(
    {"row--cursor", "row--blurred", "row--group", *(f"row--{tone}" for tone in TONES)}
)
"""Component classes that a widget with looks has, and gives colours to in its CSS."""


class Looks:
    """The styles of a widget's component classes, kept until the theme changes."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._kept: dict[str, Style] = {}

    def clear(self) -> None:
        """Forget them: the theme or the focus is another one."""
        self._kept.clear()

    def ground(self, here: bool, group: bool) -> Style:
        """The style of a whole line.

        Args:
            here: The cursor is on it.
            group: It is a group row.
        """
        widget = self._widget
        if here:
            name = "row--cursor" if widget.has_focus else "row--blurred"
            return widget.get_component_rich_style(name)
        return widget.get_component_rich_style("row--group") if group else widget.rich_style

    def tone(self, name: str) -> Style:
        """The style that a tone, or `match`, adds to the ground."""
        look = self._kept.get(name)
        if look is None:
            look = self._kept[name] = self._look(name)
        return look

    def _look(self, name: str) -> Style:
        look = Style.null()
        if name == "key" or name.startswith("strong"):
            look = Style(bold=True)
        elif name == "link":
            look = Style(underline=True)
        tone = name.removeprefix("strong").removeprefix("-")
        tone = _SAME.get(tone, tone)
        if not tone:
            return look
        return self._widget.get_component_rich_style(f"row--{tone}", partial=True) + look
