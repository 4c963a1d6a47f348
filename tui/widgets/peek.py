"""Two lines about the selected row, where there is no room for its details."""

from __future__ import annotations

from textual.app import RenderResult
from textual.widget import Widget

from tui.signs import glyphs_of
from tui.text import Parts, spread
from tui.theme import content


class Peek(Widget):
    """The row's whole reason, and the key that mends it."""

    DEFAULT_CSS = "Peek { height: 2; background: $surface; padding: 0 2 0 3; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._said: tuple[Parts, Parts, Parts] = ((), (), ())

    def show(self, top: Parts, right: Parts, below: Parts) -> None:
        """Say something else.

        Args:
            top: Name and place.
            right: Right end of the first line: the mending key, or a fact.
            below: The whole reason.
        """
        said = (tuple(top), tuple(right), tuple(below))
        if said != self._said:
            self._said = said
            self.refresh()

    def render(self) -> RenderResult:
        """Both lines."""
        top, right, below = self._said
        cells, mark = self.size.width, glyphs_of(self).cut
        first = content(spread(top, right, cells, mark))
        return first.append("\n").append(content(spread(below, (), cells, mark)))
