"""Columns that fit: they drop by priority, then share what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = 2


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a list.

    Attributes:
        key: Name of its cell in a row.
        title: Its head.
        width: Least width in cells.
        grow: Its share of what is left over.
        most: Greatest width in cells.
        keep: 1 stays longest; the highest number is dropped first.
        right: Aligned right.
        spill: Its text may run over empty cells to its right: reasons.
        match: Matches of the filter are marked in it.
        path: Cut in the middle instead of the end.
    """

    key: str
    title: str
    width: int
    grow: int = 0
    most: int = 999
    keep: int = 1
    right: bool = False
    spill: bool = False
    match: bool = False
    path: bool = False


Layout = tuple[tuple[Column, int], ...]


def fit(columns: Sequence[Column], cells: int) -> Layout:
    """The columns that fit into `cells`, each with its width.

    The first one stays even where it does not fit.
    """
    chosen = list(columns)
    while len(chosen) > 1 and _least(chosen) > cells:
        chosen.remove(max(chosen[1:], key=lambda column: column.keep))
    widths = {column.key: column.width for column in chosen}
    spare = cells - _least(chosen)
    while spare > 0:
        growing = [c for c in chosen if c.grow and widths[c.key] < c.most]
        if not growing:
            break
        share = max(1, spare // sum(column.grow for column in growing))
        for column in growing:
            more = min(share * column.grow, column.most - widths[column.key], spare)
            widths[column.key] += more
            spare -= more
    return tuple((column, widths[column.key]) for column in chosen)


def _least(columns: Sequence[Column]) -> int:
    return sum(column.width + GAP for column in columns) - GAP
