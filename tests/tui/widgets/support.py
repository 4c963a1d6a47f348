"""A stage for one widget: our themes and glyphs, nothing else, and what the screen then shows."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from tui.signs import UNICODE, Glyphs
from tui.theme import register_themes, theme_defaults
from tui.widgets.breakpoints import HEIGHTS, WIDTHS


class Stage(App[None]):
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, *widgets: Widget, theme: str = "dusk", glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self._cast = widgets
        self.glyphs = glyphs
        register_themes(self)
        self.theme = theme

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return theme_defaults()

    def compose(self) -> ComposeResult:
        yield from self._cast


def screen_lines(app: App[None]) -> list[str]:
    """The whole screen as text."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return ["".join(s.text for s in strip).ljust(width) for strip in strips][:height]


def lines_of(widget: Widget) -> list[str]:
    """What a widget shows, line by line, blanks at the end left out."""
    x, y, width, height = widget.region
    screen = widget.app.screen._compositor.render_strips()
    return [strip.crop(x, x + width).text.rstrip() for strip in screen[y : y + height]]


def drawn(widget: Widget) -> list[str]:
    """What a widget draws itself, its scrollbar left out."""
    return [widget.render_line(y).text for y in range(widget.size.height)]


def segments_of(widget: Widget, line: int) -> list[Segment]:
    """The segments of one line of a widget, after the filters of the app."""
    return [s for s in widget.render_line(line) if s.text]


def seen(messages: Iterable[Message], kind: type[Message]) -> list[Message]:
    """Messages of a kind, each once: a hook sees them at every node on their way up."""
    found = {id(message): message for message in messages if type(message) is kind}
    return list(found.values())
