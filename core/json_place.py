"""Where in a JSON text a member or an item stands; for messages only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

_BLANKS = " \t\n\r"
_decoder: Any = json.decoder
_scan = _decoder.JSONDecoder().scan_once
_string = _decoder.scanstring


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def offset_of(text: str, path: Sequence[str | int]) -> int | None:
    """Index of the value at `path`, or None when there is none or the text breaks before it."""
    at = _skip(text, 0)
    try:
        for step in path:
            inner = _member(text, at, step) if isinstance(step, str) else _item(text, at, step)
            if inner is None:
                return None
            at = inner
    except (StopIteration, ValueError, IndexError):
        return None
    return at


def _member(text: str, at: int, wanted: str) -> int | None:
    if text[at] != "{":
        return None
    at = _skip(text, at + 1)
    while text[at] == '"':
        key, at = _string(text, at + 1, False)
        at = _skip(text, _skip(text, at) + 1)
        if key == wanted:
            return at
        at = _skip(text, _scan(text, at)[1])
        if text[at] != ",":
            return None
        at = _skip(text, at + 1)
    return None


def _item(text: str, at: int, wanted: int) -> int | None:
    if text[at] != "[":
        return None
    at = _skip(text, at + 1)
    for _ in range(wanted):
        at = _skip(text, _scan(text, at)[1])
        if text[at] != ",":
            return None
        at = _skip(text, at + 1)
    return at if text[at] != "]" else None


def items_of(text: str, path: Sequence[str | int], wanted: Iterable[int]) -> dict[int, int]:
    """Indices of some items of the list at `path`; one pass, whatever breaks later."""
    found: dict[int, int] = {}
    missing = set(wanted)
    at = offset_of(text, path)
    try:
        if at is None or text[at] != "[":
            return found
        at = _skip(text, at + 1)
        index = 0
        while missing:
            if index in missing:
                found[index] = at
                missing.discard(index)
            at = _skip(text, _scan(text, at)[1])
            if text[at] != ",":
                break
            at = _skip(text, at + 1)
            index += 1
    except (StopIteration, ValueError, IndexError):
        pass
    return found


def line_of(text: str, offset: int) -> int:
    """1-based line of an index."""
    return text.count("\n", 0, offset) + 1


def column_of(text: str, offset: int) -> int:
    """1-based column of an index, in characters."""
    return offset - text.rfind("\n", 0, offset)
