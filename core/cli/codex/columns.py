"""Tables as the real one lays them out: every column padded, the last one too where it says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.cli.text import padded, safe_lines, width


def columns(head: Sequence[str], rows: Iterable[Sequence[str]], *, last: bool) -> str:
    """Two spaces between columns. `last`: the last one is padded."""
    lines = [list(head), *([safe_lines(cell) for cell in row] for row in rows)]
    widths = [max(width(line[at]) for line in lines) for at in range(len(head))]
    if not last:
        widths[-1] = 0
    return "\n".join(
        "  ".join(padded(cell, cells) for cell, cells in zip(line, widths, strict=True))
        for line in lines
    )
