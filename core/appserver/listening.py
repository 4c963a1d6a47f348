"""The app-server for many clients at once, on a socket in the file system."""

from __future__ import annotations

import errno
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from core.appserver.greeting import Greeting
from core.appserver.loop import serve
from core.appserver.opening import Opening
from core.appserver.sockets import listening, peer_uid

log = logging.getLogger(__name__)

CLIENTS = 64
"""Served at the same time; more wait to be accepted."""
_PAUSE = 0.1  # seconds before the next try when there is no descriptor left
_SHORT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


async def serve_socket(
    opening: Opening,
    greeting: Greeting,
    path: Path,
    *,
    now: Callable[[], float],
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Serve whoever connects, until cancelled; each client has a session of its own.

    Raises:
        CoreError: As `sockets.listening`.
    """
    with listening(path) as listener:
        task_status.started()
        numbers, room = count(1), anyio.Semaphore(CLIENTS)
        client = _Client(opening, greeting, now)
        async with anyio.create_task_group() as clients:
            while True:
                await room.acquire()
                connection = await _accepted(listener)
                clients.start_soon(client.talk, connection, next(numbers), room)


@dataclass(frozen=True)
class _Client:
    """How one connection is served."""

    opening: Opening
    greeting: Greeting
    now: Callable[[], float]

    async def talk(self, connection: socket.socket, number: int, room: anyio.Semaphore) -> None:
        try:
            with connection:
                fd = connection.fileno()
                await serve(
                    self.opening,
                    self.greeting,
                    now=self.now,
                    read_fd=fd,
                    write_fd=fd,
                    connection=number,
                )
        except Exception:
            # The boundary between clients: a fault in one session must not end the others.
            log.exception("client %d: its session failed", number)
        finally:
            self.opening.gone(number)
            room.release()


async def _accepted(listener: socket.socket) -> socket.socket:
    """The next connection of this user; those of others are closed unheard."""
    while True:
        try:
            connection, _ = listener.accept()
        except BlockingIOError:
            await anyio.wait_readable(listener)
            continue
        except OSError as error:
            if error.errno in _SHORT_OF:
                log.warning("no client can be accepted: %s", error.strerror)
                await anyio.sleep(_PAUSE)
            continue
        connection.setblocking(False)
        if peer_uid(connection) == os.geteuid():
            return connection
        log.warning("a client of another user was turned away")
        connection.close()
