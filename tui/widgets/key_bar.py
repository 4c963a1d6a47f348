"""Keys that do something here and now; the palette and the help keep the right end."""

from __future__ import annotations

from textual import events
from textual.reactive import reactive

from tui.text import Hint, Hints, Part, blank, parts_width, spread
from tui.theme import app_of
from tui.widgets.line import Line, Places
from tui.widgets.page import key_parts

_GAP = 3
TAIL: Hints = (Hint("ctrl+p", "commands"), Hint("question_mark", "help"))


class KeyBar(Line):
    """As many hints as fit, whole ones only; a click presses the key."""

    DEFAULT_CSS = "KeyBar { background: $background; padding: 0 1; }"

    hints: reactive[Hints] = reactive(())
    """Most wanted first."""
    tail: reactive[Hints] = reactive(TAIL)

    def __init__(self, hints: Hints = (), tail: Hints = TAIL, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(KeyBar.hints, hints)
        self.set_reactive(KeyBar.tail, tail)
        self._places: Places[str] = Places()

    def parts(self, cells: int) -> list[Part]:
        """The hints that fit, and the tail."""
        self._places.clear()
        tail = key_parts(self.tail, self.glyphs)
        shown: list[Part] = []
        left = cells - parts_width(tail) - (_GAP if tail else 0)
        at = 0
        for hint in self.hints:
            parts = key_parts([hint], self.glyphs)
            gap = _GAP if shown else 0
            if at + gap + parts_width(parts) > left:
                break
            shown += [blank(gap), *parts]
            at = self._places.add(at + gap, parts, hint[0])
        at = cells - parts_width(tail)
        for hint in self.tail:
            at = self._places.add(at, key_parts([hint], self.glyphs), hint[0]) + _GAP
        return spread(shown, tail, cells, self.glyphs.cut)

    def on_click(self, event: events.Click) -> None:
        """Press the key."""
        offset = event.get_content_offset(self)
        key = self._places.at(offset.x) if offset else None
        if key and "," not in key:
            app_of(self).simulate_key(key)
