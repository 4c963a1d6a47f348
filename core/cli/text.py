"""Foreign text on its way to a terminal or a pipe."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import combining, east_asian_width

_WIDE = frozenset("WF")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e\n]")


def safe(text: str) -> str:
    """The text with what a terminal would obey shown as escapes, on one line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def safe_lines(text: str) -> str:
    """The same with line breaks left as they are."""
    return "\n".join(map(safe, text.split("\n")))


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode()


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON that a terminal shows and does not obey; what it says is not changed."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return _UNPRINTABLE.sub(_json_escape, text)


def _json_escape(found: re.Match[str]) -> str:
    char = found[0]
    if char.isprintable():
        return char
    return json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def width(text: str) -> int:
    """Terminal cells that the text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 1 + (east_asian_width(char) in _WIDE) for char in text)


def padded(text: str, cells: int) -> str:
    """The text with spaces after it, `cells` wide at least."""
    return text + " " * max(0, cells - width(text))


def cut(text: str, cells: int) -> str:
    """The text, ended by `…` where it does not fit."""
    if width(text) <= cells:
        return text
    kept = ""
    for char in text:
        if width(kept) + width(char) + 1 > cells:
            break
        kept += char
    return f"{kept}…"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns side by side, two spaces between them; the last one is not padded."""
    lines = [head, *([safe(cell) for cell in row] for row in rows)]
    widths = [max(width(line[at]) for line in lines) for at in range(len(head) - 1)]
    return "\n".join(
        "".join(f"{padded(cell, cells)}  " for cell, cells in zip(line[:-1], widths, strict=True))
        + line[-1]
        for line in lines
    )
