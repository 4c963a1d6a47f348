"""Rows on stdout as they come: columns for people, JSON lines for scripts; progress on stderr."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from core.cli.text import cut, json_text, padded, safe, width

if TYPE_CHECKING:
    from core.client.contract import CoreClient


class Rows:
    """Prints rows one by one.

    Args:
        head: Column names.
        widths: Cells of each column but the last one, at least those of its name.
        as_json: Print values, one JSON object a line, in place of columns.
    """

    def __init__(self, head: Sequence[str], widths: Sequence[int], *, as_json: bool) -> None:
        self._head, self._as_json = head, as_json
        self._widths = [max(width(name), cells) for name, cells in zip(head, widths, strict=False)]
        self.count = 0

    def add(self, cells: Sequence[str], value: Any) -> None:
        """One row: its cells, and what it is as JSON."""
        if self._as_json:
            print(json_text(msgspec.to_builtins(value), indent=None), flush=True)
        else:
            if not self.count:
                print(self._line(self._head))
            print(self._line([safe(cell) for cell in cells]), flush=True)
        self.count += 1

    def _line(self, cells: Sequence[str]) -> str:
        *first, last = cells
        start = "".join(
            f"{padded(cell, room)}  " for cell, room in zip(first, self._widths, strict=True)
        )
        if sys.stdout.isatty():
            last = cut(last, max(12, shutil.get_terminal_size().columns - width(start)))
        return f"{start}{last}".rstrip()


def say(text: str) -> None:
    """A line for people on stderr; what is foreign in it is made safe."""
    print(safe(text), file=sys.stderr, flush=True)


@contextmanager
def ticking() -> Generator[None]:
    """A progress line on a terminal, wiped at the end."""
    try:
        yield
    finally:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def tick(text: str) -> None:
    """Show progress in place, when somebody is there to see it."""
    if sys.stderr.isatty():
        room = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{cut(safe(text), room)}", end="", file=sys.stderr, flush=True)


async def follow_progress(client: CoreClient) -> None:
    """Show how operations of this process go; a task, to be cancelled."""
    from core.protocol.events import OperationProgress

    async with client.subscribe() as events:
        async for event in events:
            if isinstance(event, OperationProgress) and event.state == "running":
                share = "" if event.share is None else f" {event.share:.0%}"
                tick(f"{event.verb} {event.subject}{share} {event.note}".rstrip())
