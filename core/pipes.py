"""Pipes to and from processes, on the event loop, and what is kept of a noisy one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import IO

import anyio
import anyio.lowlevel

TAIL_LINES = 100
TAIL_LINE_CHARS = 2000
CHUNK = 1 << 16


class Tail:
    """The last lines of a stream, bounded in number and length; made for speed when it floods."""

    def __init__(self, lines: int = TAIL_LINES, chars: int = TAIL_LINE_CHARS) -> None:
        self._lines: deque[bytes] = deque(maxlen=lines)
        self._chars = chars
        self._open = b""
        self.listener: Callable[[bytes], None] | None = None
        """Called with each line, however many there are."""

    def feed(self, data: bytes) -> None:
        """More of the stream, in any pieces."""
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self.add(self._open + piece)
            self._open = b""
        if len(self._open) < self._chars:
            self._open += rest[: self._chars]

    def add(self, line: bytes) -> None:
        """One whole line that came from elsewhere."""
        if line := line[: self._chars].rstrip():
            self._lines.append(line)
            if self.listener is not None:
                self.listener(line)

    def lines(self) -> tuple[str, ...]:
        """Oldest first; what is no UTF-8 is replaced, an unfinished line counts."""
        kept = [*self._lines, self._open.rstrip()] if self._open.strip() else [*self._lines]
        return tuple(line.decode("utf-8", "replace") for line in kept)


async def receive(pipe: IO[bytes] | None) -> bytes:
    """Some bytes of a non-blocking pipe; empty at its end, or when we have closed it."""
    while True:
        await anyio.lowlevel.checkpoint()
        if pipe is None or pipe.closed:
            return b""
        try:
            return os.read(pipe.fileno(), CHUNK)
        except BlockingIOError:
            with suppress(anyio.ClosedResourceError):
                await anyio.wait_readable(pipe.fileno())
        except OSError:
            return b""


async def write_all(pipe: IO[bytes] | None, data: bytes) -> None:
    """Write to a non-blocking pipe; `anyio.BrokenResourceError` when nobody reads it."""
    view = memoryview(data)
    while view:
        await anyio.lowlevel.checkpoint()
        if pipe is None or pipe.closed:
            raise anyio.BrokenResourceError
        try:
            view = view[os.write(pipe.fileno(), view[: 4 * CHUNK]) :]
        except BlockingIOError:
            with suppress(anyio.ClosedResourceError):
                await anyio.wait_writable(pipe.fileno())
        except OSError as error:
            raise anyio.BrokenResourceError from error


def close(pipe: IO[bytes] | None) -> None:
    """Close our end; whoever waits for it is woken."""
    if pipe is None or pipe.closed:
        return
    with suppress(RuntimeError, LookupError):  # outside an event loop nobody waits
        anyio.notify_closing(pipe.fileno())
    with suppress(OSError):
        pipe.close()
