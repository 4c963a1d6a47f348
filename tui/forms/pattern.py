"""Regular expressions of strangers, matched in bounded time.

Python's own matcher backtracks: a pattern such as `(a+)+$` can keep it busy for ever, and nothing
can stop it. Here a pattern is only parsed by Python; matching follows all ways at once, as sets of
places in the text, and gives up after a fixed number of steps.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Any, cast

from re import _parser as _sre  # type: ignore[attr-defined]  # isort: skip

PATTERN_CHARS = 2_000
TEXT_CHARS = 10_000
STEPS = 200_000


class _GiveUp(Exception):
    """It cannot be said, or not in time."""


def matches(pattern: str, text: str) -> bool | None:
    """Whether `pattern` is found anywhere in `text`, as JSON Schema means it (ECMA 262).

    Returns:
        None when it cannot be told: the pattern is none of ours, too long, or takes too long.
    """
    if len(pattern) > PATTERN_CHARS or len(text) > TEXT_CHARS:
        return None
    try:
        tree = _parsed(pattern)
        return _Matcher(text).found(tree)
    except (_GiveUp, re.error, RecursionError, OverflowError, ValueError):
        return None


def _parsed(pattern: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about patterns that other languages read otherwise
        return cast("Any", _sre).parse(pattern)


class _Matcher:
    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = STEPS

    def found(self, tree: Any) -> bool:
        return bool(self._sequence(list(tree), set(range(len(self._text) + 1))))

    def _spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise _GiveUp

    def _sequence(self, nodes: list[Any], places: set[int]) -> set[int]:
        """Where a match of all nodes, one after the other, can end."""
        for node in nodes:
            if not places:
                break
            self._spend(len(places) + 1)
            places = self._node(str(node[0]), node[1], places)
        return places

    def _node(self, kind: str, value: Any, places: set[int]) -> set[int]:
        match kind:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._one(kind, value, places)
            case "BRANCH":
                ends = [self._sequence(list(branch), places) for branch in value[1]]
                return set[int]().union(*ends)
            case "SUBPATTERN":
                if value[1] or value[2]:
                    raise _GiveUp  # flags of its own
                return self._sequence(list(value[3]), places)
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(value[0], value[1], list(value[2]), places)
            case "AT":
                return {place for place in places if self._at(str(value), place)}
            case _:
                raise _GiveUp

    def _repeat(self, least: int, most: int, nodes: list[Any], places: set[int]) -> set[int]:
        for _ in range(least):
            self._spend(1)
            places = self._sequence(nodes, places)
            if not places:
                return places
        # What has been reached before leads nowhere new.
        reached, edge, more = set(places), places, int(most) - least
        while edge and more > 0:
            self._spend(1)
            edge = self._sequence(nodes, edge) - reached
            reached |= edge
            more -= 1
        return reached

    def _one(self, kind: str, value: Any, places: Iterable[int]) -> set[int]:
        text = self._text
        return {
            place + 1
            for place in places
            if place < len(text) and self._is(kind, value, ord(text[place]))
        }

    def _is(self, kind: str, value: Any, code: int) -> bool:
        match kind:
            case "LITERAL":
                return code == value
            case "NOT_LITERAL":
                return code != value
            case "ANY":
                return chr(code) not in "\n\r\u2028\u2029"
            case _:
                return self._in(cast("list[Any]", value), code)

    def _in(self, items: list[Any], code: int) -> bool:
        self._spend(len(items) // 8)
        negated = bool(items) and str(items[0][0]) == "NEGATE"
        return negated != any(_item(str(kind), value, code) for kind, value in items)

    def _at(self, where: str, place: int) -> bool:
        text = self._text
        match where:
            case "AT_BEGINNING" | "AT_BEGINNING_STRING":
                return place == 0
            case "AT_END" | "AT_END_STRING":
                return place == len(text)
            case "AT_BOUNDARY" | "AT_NON_BOUNDARY":
                before = place > 0 and _is_word(ord(text[place - 1]))
                after = place < len(text) and _is_word(ord(text[place]))
                return (before != after) == (where == "AT_BOUNDARY")
            case _:
                raise _GiveUp


def _item(kind: str, value: Any, code: int) -> bool:
    match kind:
        case "LITERAL":
            return code == value
        case "RANGE":
            return value[0] <= code <= value[1]
        case "CATEGORY":
            return _category(str(value), code)
        case "NEGATE":
            return False
        case _:
            raise _GiveUp


def _category(name: str, code: int) -> bool:
    inner = {
        "DIGIT": 48 <= code <= 57,
        "WORD": _is_word(code),
        "SPACE": chr(code).isspace() or code == 0xFEFF,
    }
    known = name.removeprefix("CATEGORY_")
    negated = known.startswith("NOT_")
    kind = known.removeprefix("NOT_")
    if kind not in inner:
        raise _GiveUp
    return inner[kind] != negated


def _is_word(code: int) -> bool:
    return code < 128 and (chr(code).isalnum() or code == 95)
