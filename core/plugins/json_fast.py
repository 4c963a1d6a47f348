"""Reading JSON fast where that gives what Codex's reader would give, and saying when it does not.

`msgspec` refuses everything that the exact reader refuses but two things: members that stand twice
and deep nesting. Both are looked for here.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

DEEP = 100
_NESTED: tuple[type, ...] = (dict, list)
_SPACED = (b" :", b"\t:", b"\n:", b"\r:")


def decode(data: bytes) -> Any:
    """The value, or `SUSPECT` when the exact reader has to look."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return SUSPECT
    members, depth = _count(value)
    if depth > DEEP or members != data.count(b'":'):
        return SUSPECT
    for spaced in _SPACED:
        if spaced in data:
            return SUSPECT
    return value


def _count(value: Any) -> tuple[int, int]:
    """Members of all objects together, and how deep the nesting goes."""
    members = depth = 0
    level: list[Any] = [value]
    while level:
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                table = cast("dict[str, Any]", item)
                members += len(table)
                inner += table.values()
            elif isinstance(item, list):
                inner += cast("list[Any]", item)
        level = [item for item in inner if type(item) in _NESTED]
        depth += 1
    return members, depth


def member(value: Any, name: str) -> Any:
    """A member of an object; None when there is none, or no object."""
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


class _Suspect:
    """The one value that no JSON text has."""

    def __repr__(self) -> str:
        return "SUSPECT"


SUSPECT = _Suspect()
