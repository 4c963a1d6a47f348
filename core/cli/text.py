"""Foreign text on its way to a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def safe(text: str) -> str:
    """The text with what a terminal would obey shown as escapes, on one line."""
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "backslashreplace").decode()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns side by side, two spaces between them; the last one is not padded."""
    lines = [head, *([safe(cell) for cell in row] for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head) - 1)]
    return "\n".join(
        "".join(f"{cell:{width}}  " for cell, width in zip(line[:-1], widths, strict=True))
        + line[-1]
        for line in lines
    )
