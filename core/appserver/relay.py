"""Stdin and stdout as the client of an app-server that listens on a socket.

So that what can only run a command (ssh, an editor) reaches one that many share.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from core.appserver.sockets import connect_socket
from core.appserver.streams import read, write


async def relay(path: Path, *, read_fd: int = 0, write_fd: int = 1) -> None:
    """Pass everything on, until the server hangs up or nobody reads any more.

    Raises:
        CoreError: As `sockets.connect_socket`.
    """
    connection = await anyio.to_thread.run_sync(connect_socket, path)
    with connection:
        async with anyio.create_task_group() as both:
            both.start_soon(_ask, read_fd, connection)
            with suppress(anyio.BrokenResourceError):
                while data := await read(connection.fileno()):
                    await write(write_fd, data)
            both.cancel_scope.cancel()


async def _ask(read_fd: int, connection: socket.socket) -> None:
    with suppress(anyio.BrokenResourceError):
        while data := await read(read_fd):
            await write(connection.fileno(), data)
    # The server answers what it was asked, then hangs up.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
