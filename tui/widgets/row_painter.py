"""Draws the lines of a list, and keeps what it has built and drawn."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from typing import Final

from rich.segment import Segment
from textual.cache import LRUCache
from textual.strip import Strip
from textual.widget import Widget

from tui.signs import glyphs_of
from tui.theme import is_plain
from tui.widgets.columns import Column, Layout, fit
from tui.widgets.looks import Looks
from tui.widgets.row_view import (
    GUTTER,
    MARGIN,
    Painted,
    RowView,
    matcher,
    merge,
    paint_group,
    paint_row,
    text_of,
)

_log = logging.getLogger(__name__)

_KEPT: Final = 1024
BAR: Final = 1
"""Cells of the scroll bar at the right end."""

# What a drawn line depends on besides its row: width, cursor, focus, turn of the busy sign.
_State = tuple[int, bool, bool, int]


def _no_row(id: str) -> RowView:
    return RowView("unknown", {"name": id})


class RowPainter:
    """Views by id, built when they are first drawn, and lines by id and state.

    Args:
        widget: The list; its component classes give the looks.
        columns: Of its rows.
    """

    def __init__(self, widget: Widget, columns: tuple[Column, ...]) -> None:
        self._widget = widget
        self._columns = columns
        self._build: Callable[[str], RowView] = _no_row
        self._match: re.Pattern[str] | None = None
        self._looks = Looks(widget)
        self._blank: Strip | None = None
        self._views: LRUCache[str, RowView] = LRUCache(_KEPT)
        self._strips: LRUCache[str, tuple[_State, Strip]] = LRUCache(_KEPT)
        self._layouts: LRUCache[int, Layout] = LRUCache(8)

    # What is kept

    def build_with(self, build: Callable[[str], RowView]) -> None:
        """Build rows with something else from now on."""
        self._build = build
        self.forget_views()

    def build_again(self, build: Callable[[str], RowView], ids: Iterable[str]) -> list[str]:
        """Build the rows that are on the screen again, and forget the others.

        Returns:
            Those of `ids` that are to be drawn again: they say something else now.
        """
        kept = [(id, self._views.get(id), self._strips.get(id)) for id in ids]
        self.build_with(build)
        other: list[str] = []
        for id, view, strip in kept:
            if view is None or strip is None or self.view(id) != view:
                other.append(id)
            else:
                self._strips[id] = strip
        return other

    def forget(self, id: str) -> None:
        """Build and draw one row again."""
        self._views.discard(id)
        self._strips.discard(id)

    def forget_views(self) -> None:
        """Build and draw every row again."""
        self._views.clear()
        self._strips.clear()

    def forget_lines(self) -> None:
        """Draw every row again: a fold has turned."""
        self._strips.clear()

    def forget_looks(self) -> None:
        """The styles are other ones."""
        self._blank = None
        self._looks.clear()
        self._strips.clear()

    def use_columns(self, columns: tuple[Column, ...]) -> None:
        """Draw in other columns."""
        self._columns = columns
        self._layouts.clear()
        self._strips.clear()

    def use_needle(self, needle: str) -> None:
        """Mark other matches."""
        self._match = matcher(needle)
        self._strips.clear()

    # What is drawn

    def view(self, id: str) -> RowView:
        """What a row says."""
        view = self._views.get(id)
        if view is None:
            try:
                view = self._build(id)
            except Exception:
                # One row that cannot be built must not take the screen down.
                _log.exception("row %r cannot be built", id)
                view = RowView("failed", {self._columns[0].key: id, "name": id})
            self._views[id] = view
        return view

    def is_busy(self, id: str) -> bool:
        """Whether a row that has been drawn has the sign that turns."""
        view = self._views.get(id)
        return view is not None and view.sign == "busy"

    def layout(self, width: int) -> Layout:
        """The columns in a list of that width, scrollbar left out."""
        layout = self._layouts.get(width)
        if layout is None:
            layout = self._layouts[width] = fit(self._columns, width - GUTTER - MARGIN)
        return layout

    def blank(self, width: int) -> Strip:
        """A line without a row."""
        if self._blank is None or self._blank.cell_length != width:
            blank = Strip.blank(width - BAR, self._looks.plain)
            self._blank = blank.adjust_cell_length(width, self._looks.back)
        return self._blank

    def line(self, id: str, width: int, here: bool, turn: int, folded: bool | None) -> Strip:
        """The line of a row.

        Args:
            id: Of the row.
            width: Cells of the list, scroll bar included.
            here: The cursor is on it.
            turn: Of the busy sign.
            folded: For a group row; None for a plain one.
        """
        state = (width, here, here and self._widget.has_focus, turn)
        kept = self._strips.get(id)
        if kept is not None and kept[0] == state:
            return kept[1]
        strip = self._draw(self.view(id), width, here, turn, folded)
        self._strips[id] = (state, strip)
        return strip

    def _draw(self, view: RowView, width: int, here: bool, turn: int, folded: bool | None) -> Strip:
        glyphs = glyphs_of(self._widget)
        plain = is_plain(self._widget)
        mark = " "
        if here:
            mark = ">" if plain else glyphs.line("cursor")
        fresh, fresh_tone = glyphs.fresh(view.fresh)
        room = width - BAR
        painted: Painted = [
            (mark, "accent" if self._widget.has_focus else "edge"),
            (f"{fresh} ", fresh_tone),
        ]
        if folded is None:
            painted += paint_row(view, self.layout(room), glyphs, self._match, turn)
        else:
            painted += paint_group(view, room - GUTTER + 2 - MARGIN, glyphs, folded)
        ground = self._looks.ground(here, folded is not None)
        # Tones under reverse make a patchwork, so a plain cursor row has one style.
        pieces = [(text_of(painted), "")] if here and plain else merge(painted)
        segments = [Segment(text, ground + self._looks.tone(name)) for text, name in pieces]
        line = Strip(segments).crop_extend(0, room, ground)
        return line.adjust_cell_length(width, self._looks.back)
