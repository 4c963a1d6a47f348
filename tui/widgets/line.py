"""The base of the one-line parts of the frame: parts in, one line out, clicks by place."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.app import RenderResult
from textual.widget import Widget

from tui.signs import Glyphs, glyphs_of
from tui.text import Part, Parts, parts_width
from tui.theme import content

T = TypeVar("T")


class Places(Generic[T]):
    """What stands where on a line, for clicks."""

    def __init__(self) -> None:
        self._places: list[tuple[int, int, T]] = []

    def clear(self) -> None:
        """Forget all of them."""
        self._places.clear()

    def add(self, start: int, parts: Parts, what: T) -> int:
        """Note that `parts` begin at cell `start` and stand for `what`.

        Returns:
            The cell after them.
        """
        end = start + parts_width(parts)
        self._places.append((start, end, what))
        return end

    def starts(self) -> list[tuple[int, T]]:
        """Everything with the cell where it begins."""
        return [(start, what) for start, _, what in self._places]

    def at(self, x: int) -> T | None:
        """What stands at cell `x`."""
        return next((what for start, end, what in self._places if start <= x < end), None)


class Line(Widget):
    """A widget of one line that draws `parts()`."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Line { width: 1fr; height: 1; }"

    @property
    def glyphs(self) -> Glyphs:
        """The glyphs of the app."""
        return glyphs_of(self)

    def parts(self, cells: int) -> list[Part]:
        """What stands on the line.

        Args:
            cells: Its width.
        """
        raise NotImplementedError

    def render(self) -> RenderResult:
        """The line."""
        return content(self.parts(self.size.width))
