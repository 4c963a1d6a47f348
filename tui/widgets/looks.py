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
        if here:
            return self._component("row--cursor" if self._widget.has_focus else "row--blurred")
        return self._component("row--group") if group else self.plain

    @property
    def plain(self) -> Style:
        """The widget's own style, which Textual works out anew at every call."""
        if (style := self._kept.get("")) is None:
            style = self._kept[""] = self._widget.rich_style
        return style

    @property
    def back(self) -> Style:
        """The widget's background alone, for what lies beside its lines."""
        if (style := self._kept.get("back")) is None:
            below, own = self._widget.background_colors
            style = self._kept["back"] = Style(bgcolor=(below + own).rich_color)
        return style

    def _component(self, name: str) -> Style:
        return self._widget.get_component_rich_style(name)

    def tone(self, name: str) -> Style:
        """The style that a tone, or `match`, adds to the ground."""
        key = f"+{name}"
        if (look := self._kept.get(key)) is None:
            look = self._kept[key] = self._look(name)
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
