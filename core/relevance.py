"""Relevance: how well names and texts fit what somebody looks for.

The panel's filter and `jackfield search` use the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from heapq import nlargest
from typing import Generic, Literal, TypeVar

import msgspec

from core.protocol.rows import PluginRow

T = TypeVar("T")

LIKELY = 50
"""Names that `nearest` looks at closely."""
_LATE = (False, True)
_WORDS = re.compile(r"[^\W_]+")


Found = Literal["exact", "prefix", "word", "part", "text"]
_FOUND: tuple[Found, ...] = ("exact", "prefix", "word", "part", "text")


class Hit(IntEnum):
    """Where a text was found; lower is better."""

    EXACT = 0
    PREFIX = 1
    WORD = 2
    PART = 3
    TEXT = 4

    @property
    def word(self) -> Found:
        """As the wire says it."""
        return _FOUND[self]


class Searchable(msgspec.Struct, Generic[T], gc=False):
    """A row as the filter sees it, folded once.

    Attributes:
        name: Case-folded name.
        text: Case-folded rest: descriptions, keywords, ids.
        late: True for what stands behind others of the same relevance (not installed, say).
    """

    item: T
    name: str
    text: str
    late: bool = False


def relevance(query: str, name: str, text: str) -> Hit | None:
    """How well a folded query fits a folded name, else a text; None when it does not."""
    if query in name:
        if query == name:
            return Hit.EXACT
        if name.startswith(query):
            return Hit.PREFIX
        return Hit.WORD if query in _WORDS.findall(name) else Hit.PART
    return Hit.TEXT if query in text else None


def search(query: str, rows: Iterable[Searchable[T]]) -> list[tuple[T, Hit]]:
    """Best first; equals keep their order, except that `late` ones come last."""
    wanted = query.casefold().strip()
    # Ten thousands of rows at each key: one list per place, no sorting.
    places: dict[tuple[Hit, bool], list[T]] = {(hit, late): [] for hit in Hit for late in _LATE}
    texts = places[Hit.TEXT, False], places[Hit.TEXT, True]
    for row in rows:
        if wanted in row.name:
            hit = relevance(wanted, row.name, "") or Hit.EXACT
            places[hit, row.late].append(row.item)
        elif wanted in row.text:
            texts[row.late].append(row.item)
    return [(item, hit) for (hit, _), items in places.items() for item in items]


def plugin_searchable(item: T, row: PluginRow) -> Searchable[T]:
    """A plugin as the filter sees it: also by id, description, keywords and what it brings."""
    brought = row.brings.names if row.brings is not None else ()
    words = (row.plugin_id, row.display_name, row.description, row.category, *row.keywords)
    text = " ".join((*words, *brought)).casefold()
    return Searchable(item, row.name.casefold(), text, not row.installed)


def nearest(query: str, names: Sequence[str]) -> str:
    """The name that shares most pairs of letters with the query, whole or by word, or ""."""
    wanted = _pairs(query.casefold())
    if not wanted:
        return ""
    best, score = "", 0.35
    for name in _likely(wanted, names):
        folded = name.casefold()
        for part in (folded, *_WORDS.findall(folded)):
            pairs = _pairs(part)
            shared = 2 * len(wanted & pairs) / (len(wanted) + len(pairs))
            if shared > score:
                best, score = name, shared
    return best


def _likely(wanted: set[str], names: Sequence[str]) -> list[str]:
    """The few names that have most of the pairs somewhere; cheap enough for all names."""

    def shared(name: str) -> int:
        folded = name.casefold()
        return sum(pair in folded for pair in wanted)

    return nlargest(LIKELY, names, key=shared)


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
