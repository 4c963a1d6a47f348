"""Dotted key paths, as config writes spell them: `plugins."p@m".enabled`."""

from __future__ import annotations

import re
from collections.abc import Sequence


class KeyPathError(ValueError):
    """A key path that cannot be read; the text is the real one's."""


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_key_path(text: str) -> tuple[str, ...]:
    """The segments of a path.

    Dots split, except inside quotes; a segment that begins with `"` is quoted, a backslash there
    takes the next character as it is. Unquoted segments may hold anything else.

    Raises:
        KeyPathError: Empty path or segment, quote without an end or in the wrong place.
    """
    if not text.strip():
        raise KeyPathError("keyPath must not be empty")
    segments: list[str] = []
    segment: list[str] = []
    quoted = False
    marks = iter(text)
    for mark in marks:
        if mark == '"' and (quoted or not segment):
            quoted = not quoted
        elif mark == '"':
            raise KeyPathError("invalid quoted keyPath segment")
        elif mark == "\\" and quoted:
            escaped = next(marks, None)
            if escaped is None:
                raise KeyPathError("unterminated escape in keyPath")
            segment.append(escaped)
        elif mark == "." and not quoted:
            segments.append(_segment(segment))
            segment = []
        else:
            segment.append(mark)
    if quoted:
        raise KeyPathError("unterminated quoted keyPath segment")
    segments.append(_segment(segment))
    return tuple(segments)


def _segment(marks: list[str]) -> str:
    if not marks:
        raise KeyPathError("keyPath segments must not be empty")
    return "".join(marks)


def format_key_path(segments: Sequence[str]) -> str:
    """The path of segments; reads back as them."""
    return ".".join(
        segment if _BARE.fullmatch(segment) else _quoted(segment) for segment in segments
    )


def _quoted(segment: str) -> str:
    return '"' + segment.replace("\\", "\\\\").replace('"', '\\"') + '"'
