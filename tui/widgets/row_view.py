"""What one line of a list says, and how it is laid out. No widget, no theme."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tui.signs import Fresh, Glyphs, SignName
from tui.text import Part, Parts, clean, cut, cut_middle, fit_parts, pad, parts_width, width
from tui.widgets.columns import GAP, Column, Layout

GUTTER: Final = 5
"""Cells left of the first column: cursor, freshness mark, blank, sign, blank."""
MARGIN: Final = 1
"""Blank cells right of the last column."""
MATCH: Final = "match"
_LINED: Final = frozenset({MATCH, "link"})  # underlined, so their blanks can be seen

# Text with what it is for: a tone, or `match`.
Painted = list[tuple[str, str]]


@dataclass(slots=True)
class RowView:
    """What a row says: `sign  name  WORD reason  facts`.

    Attributes:
        sign: Who has to act. A group row draws its fold mark instead.
        cells: By column key; text or parts. A group row has `name`.
        fresh: What a refetch did to it.
        note: Right end of a group row: count and age.
    """

    sign: SignName
    cells: Mapping[str, Parts | str] = field(default_factory=dict[str, "Parts | str"])
    fresh: Fresh = ""
    note: Parts = ()


def as_parts(cell: Parts | str | None) -> list[Part]:
    """A cell as parts, whichever way it was given."""
    if not cell:
        return []
    return [(cell, "")] if isinstance(cell, str) else list(cell)


def is_empty(cell: Parts | str | None) -> bool:
    """Whether a cell says nothing, so that a reason may run over it."""
    return not cell or not (cell if isinstance(cell, str) else any(text for text, _ in cell))


def matcher(query: str) -> re.Pattern[str] | None:
    """Finds every word of the query, in any case; None for an empty one."""
    words = sorted(set(clean(query).split()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)), re.IGNORECASE) if words else None


def paint_row(
    view: RowView,
    layout: Layout,
    glyphs: Glyphs,
    match: re.Pattern[str] | None = None,
    turn: int = 0,
) -> Painted:
    """A plain row, from its sign to the end of the last column."""
    sign, tone = glyphs.part(view.sign, turn)
    out: Painted = [(sign, tone)]
    at = 0
    while at < len(layout):
        column, room = layout[at]
        if column.spill:
            while at + 1 < len(layout) and is_empty(view.cells.get(layout[at + 1][0].key)):
                at += 1
                room += GAP + layout[at][1]
        at += 1
        out += _cell(as_parts(view.cells.get(column.key)), column, room, glyphs.cut, match)
        if at < len(layout):
            out.append((" " * GAP, ""))
    return out


def _cell(
    parts: list[Part], column: Column, room: int, mark: str, match: re.Pattern[str] | None
) -> Painted:
    if column.path and len(parts) == 1:
        shown: list[Part] = [(cut_middle(parts[0][0], room, mark), parts[0][1])]
    else:
        shown = fit_parts(parts, room, mark)
    space = (" " * (room - sum(width(text) for text, _ in shown)), "")
    painted: Painted = [*shown] if match is None or not column.match else _marked(shown, match)
    return [space, *painted] if column.right else [*painted, space]


def _marked(parts: Iterable[Part], match: re.Pattern[str]) -> Painted:
    out: Painted = []
    for text, tone in parts:
        if tone == "aside":
            out.append((text, tone))
            continue
        at = 0
        for found in match.finditer(text):
            out += [(text[at : found.start()], tone), (found[0], MATCH)]
            at = found.end()
        out.append((text[at:], tone))
    return out


def paint_group(view: RowView, cells: int, glyphs: Glyphs, folded: bool) -> Painted:
    """A group row: fold mark, name, source cut in its middle, and the note at the right end."""
    note = fit_parts(view.note, cells // 2, glyphs.cut)
    note_width = parts_width(note)
    room = cells - 2 - note_width - (GAP if note else 0)
    name = _group_name(as_parts(view.cells.get("name")), room, glyphs.cut)
    space = " " * (cells - 2 - note_width - parts_width(name))
    fold = glyphs.line("shut" if folded else "open")
    return [(f"{fold} ", "muted"), *name, (space, ""), *note]


def _group_name(parts: list[Part], room: int, mark: str) -> list[Part]:
    """The parts in `room`; what gives way is a muted part, in its middle."""
    first: list[Part] = [(text, tone or "strong") for text, tone in parts[:1]]
    parts = first + parts[1:]
    over = parts_width(parts) - room
    if over > 0:
        for at in range(len(parts) - 1, 0, -1):
            text, tone = parts[at]
            if tone == "muted" and (left := width(clean(text)) - over) >= 12:
                parts[at] = (cut_middle(text, left, mark), tone)
                break
    return fit_parts(parts, room, mark)


def merge(painted: Painted) -> Painted:
    """The same look with fewer pieces: a blank takes the tone of what stands before it.

    A terminal gets about half as many bytes so, which shows while the list scrolls. What follows
    other scripts stays apart: fonts draw those a little wider or narrower than their cells, and
    in pictures of the screen the next column would drift.
    """
    out: Painted = []
    for text, tone in painted:
        if not text:
            continue
        if out:
            before, last = out[-1]
            blank = text.isspace() and last not in _LINED and tone not in _LINED
            if before.isascii() and (blank or tone == last):
                out[-1] = (before + text, last)
                continue
        out.append((text, tone))
    return out


def paint_heads(layout: Layout, mark: str) -> str:
    """The column heads, from the left edge of the list."""
    cells = (pad(cut(c.title, room, mark), room, c.right) for c, room in layout)
    return " " * GUTTER + (" " * GAP).join(cells)


def text_of(painted: Sequence[tuple[str, str]]) -> str:
    """The bare text of painted parts."""
    return "".join(text for text, _ in painted)
