"""Lines in and bytes out over file descriptors that may be pipes, sockets, terminals or files.

The descriptors stay in blocking mode, since others may share them (a terminal, `2>&1`). So nothing
is read or written that `poll` did not allow, and no more at once than a pipe surely has room for.
"""

from __future__ import annotations

import itertools
import os
import select
from collections.abc import AsyncGenerator

import anyio
import anyio.lowlevel

LINE_LIMIT = 64 << 20
"""Bytes; a longer line is thrown away, as a bad one."""
_CHUNK = 1 << 16
_PIECE = select.PIPE_BUF
_BURST = 64  # pieces between two looks at other tasks


async def lines(fd: int, limit: int = LINE_LIMIT) -> AsyncGenerator[bytes]:
    """The lines that arrive, without their ends, the last unended one too, until there are none."""
    parts: list[bytes] = []
    size = 0
    while data := await read(fd):
        *whole, rest = data.split(b"\n")
        for piece in whole:
            if size + len(piece) <= limit:
                yield b"".join((*parts, piece))
            parts, size = [], 0
        size += len(rest)
        if size <= limit:
            parts.append(rest)
        else:
            parts.clear()
    if 0 < size <= limit:
        yield b"".join(parts)


async def read(fd: int) -> bytes:
    """Some bytes; empty at the end, or once the terminal or peer is gone."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while True:
        if poll.poll(0):
            await anyio.lowlevel.checkpoint()
        else:
            await anyio.wait_readable(fd)
        try:
            return os.read(fd, _CHUNK)
        except BlockingIOError:
            continue
        except OSError:
            return b""


async def write(fd: int, data: bytes) -> None:
    """Write all of it.

    Raises:
        anyio.BrokenResourceError: Nobody reads any more.
    """
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    view = memoryview(data)
    for piece in itertools.count():
        if not view:
            return
        if not poll.poll(0):
            await anyio.wait_writable(fd)
        elif piece % _BURST == 0:
            await anyio.lowlevel.checkpoint()
        try:
            view = view[os.write(fd, view[:_PIECE]) :]
        except BlockingIOError:
            continue
        except OSError as error:
            raise anyio.BrokenResourceError from error
