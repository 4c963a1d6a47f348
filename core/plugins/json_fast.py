"""Reading JSON fast where that gives what Codex's reader would give, and saying when it does not.

`msgspec` refuses everything that the exact reader refuses but two things: members that stand twice
and deep nesting. Both are looked for here, and what only may have them is `SUSPECT`.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

DEEP = 40
_UNMATCHED = 100
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


def decode(data: bytes) -> Any:
    """The value, or `SUSPECT` when the exact reader has to look."""
    try:
        value = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return SUSPECT
    if _may_repeat(data, value) or _may_be_deep(data):
        return SUSPECT
    return value


def _may_repeat(data: bytes, value: Any) -> bool:
    """Whether a member may stand twice: writing the value anew would lose its colon then."""
    return b"\\u003" in data or msgspec.json.encode(value).count(b":") != data.count(b":")


def _may_be_deep(data: bytes) -> bool:
    """Whether the nesting may be deep: pairs of brackets are taken away from the inside."""
    if data.count(b"[") + data.count(b"{") <= DEEP:
        return False
    brackets = data.translate(None, _NO_BRACKETS)
    for _ in range(DEEP):
        fewer = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(fewer) == len(brackets):
            # What is left stands in strings, or around something that does.
            return len(fewer) > _UNMATCHED
        brackets = fewer
    return bool(brackets)


def member(value: Any, name: str) -> Any:
    """A member of an object; None when there is none, or no object."""
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


class _Suspect:
    """The one value that no JSON text has."""

    def __repr__(self) -> str:
        return "SUSPECT"


SUSPECT = _Suspect()
