"""Writes keys and values as TOML, in the style of Codex' own writer where it is lossless."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any, cast

from core.config.serde import temporal_text

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NEEDS_ESCAPE = re.compile(r'[\x00-\x08\x0a-\x1f\x7f"\\]')
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SHORT = {
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
    '"': '\\"',
    "\\": "\\\\",
}


class Unwritable(ValueError):
    """A value that TOML cannot hold."""


def render_key(key: str) -> str:
    """One segment of a key."""
    return key if _BARE.fullmatch(key) else _string(key, lines=False)


def render_keys(keys: Sequence[str]) -> str:
    """A dotted key."""
    return ".".join(render_key(key) for key in keys)


def render(value: Any, newline: str = "\n") -> str:
    """A value on the right of `=`; tables become inline tables. Raises Unwritable."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Unwritable("u64 value was too large")
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, str):
        return _string(value, newline=newline)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return temporal_text(value)
    if isinstance(value, dict):
        return _table(cast("dict[str, Any]", value))
    if isinstance(value, list):
        return "[" + ", ".join(_inner(item) for item in cast("list[Any]", value)) + "]"
    raise Unwritable("invalid type: null, expected any valid TOML value")


def _inner(value: Any) -> str:
    return _string(value, lines=False) if isinstance(value, str) else render(value)


def _table(value: dict[str, Any]) -> str:
    if not value:
        return "{}"
    pairs = (f"{render_key(key)} = {_inner(member)}" for key, member in value.items())
    return "{ " + ", ".join(pairs) + " }"


def _float(value: float) -> str:
    text = repr(value)
    return text if any(mark in text for mark in ".enf") else text + ".0"


def _string(value: str, *, lines: bool = True, newline: str = "\n") -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Unwritable("lone surrogate in a text") from None
    # In a CRLF file the line ends would become part of the text for some readers.
    if lines and "\n" in value and newline == "\n":
        return '"""\n' + "\n".join(_escaped(part) for part in value.split("\n")) + '"""'
    if not _NEEDS_ESCAPE.search(value):
        return f'"{value}"'
    if "'" not in value and not _CONTROL.search(value):
        return f"'{value}'"
    return f'"{_escaped(value)}"'


def _escaped(value: str) -> str:
    return _NEEDS_ESCAPE.sub(lambda match: _escape(match.group()), value)


def _escape(mark: str) -> str:
    return _SHORT.get(mark) or f"\\u{ord(mark):04X}"
