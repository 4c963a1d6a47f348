"""The filter: by relevance, over all rows of a tab at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")

_WORDS = re.compile(r"[^\W_]+")


class Hit(IntEnum):
    """Where a text was found; lower is better."""

    EXACT = 0
    PREFIX = 1
    WORD = 2
    PART = 3
    TEXT = 4


@dataclass(slots=True)
class Searchable(Generic[T]):
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
    found: list[tuple[Hit, bool, int, T]] = []
    for at, row in enumerate(rows):
        hit = relevance(wanted, row.name, row.text)
        if hit is not None:
            found.append((hit, row.late, at, row.item))
    found.sort(key=lambda entry: entry[:3])
    return [(item, hit) for hit, _, _, item in found]


def nearest(query: str, names: Sequence[str]) -> str:
    """The name that shares most pairs of letters with the query, whole or by word, or ""."""
    wanted = _pairs(query.casefold())
    if not wanted:
        return ""
    best, score = "", 0.35
    for name in names:
        folded = name.casefold()
        for part in (folded, *_WORDS.findall(folded)):
            pairs = _pairs(part)
            shared = 2 * len(wanted & pairs) / (len(wanted) + len(pairs))
            if shared > score:
                best, score = name, shared
    return best


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}
