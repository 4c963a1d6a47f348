"""The two ways to a core elsewhere: a command's stdin and stdout, and a socket."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import anyio
import anyio.to_thread

from core.appserver.sockets import SCHEME, connect_socket
from core.appserver.streams import read, write
from core.client.target import check_target
from core.errors import CoreError, Unavailable
from core.process import Process, Processes

GRACE = 2.0
"""Seconds that a command has to end by itself; ssh says goodbye to the other machine."""
_LAST_WORDS = 0.3  # seconds for what a command says on stderr as it ends


class Wire(Protocol):
    """Bytes to and from the other side."""

    async def receive(self) -> bytes:
        """Some bytes; empty at the end."""
        ...

    async def send(self, data: bytes) -> None:
        """All of it; `anyio.BrokenResourceError` when nobody reads any more."""
        ...

    async def run(self) -> None:
        """What has to go on beside; returns at the end of it."""
        ...

    async def last_words(self) -> str:
        """Why it ended, as far as it says so, or ""."""
        ...

    async def end(self) -> None:
        """Hang up; cannot be cancelled."""
        ...


class Opener(Protocol):
    """Where the other side is.

    Attributes:
        what: For people: the command or the socket.
        near: It runs on this machine, so its files are ours.
    """

    what: str
    near: bool

    async def open(self) -> Wire:
        """A new way to it. Raises CoreError."""
        ...


class CommandOpener:
    """Starts a command that speaks the protocol: `ssh devbox jackfield app-server`.

    It gets no terminal: one that wants to ask for a passphrase fails and says so.
    """

    near = False

    def __init__(
        self, argv: Sequence[str], processes: Processes, environ: Mapping[str, str]
    ) -> None:
        self.what = shlex.join(argv)
        self._argv, self._processes, self._environ = tuple(argv), processes, environ

    async def open(self) -> Wire:
        process = await self._processes.spawn(self._argv, env=self._environ)
        return _CommandWire(process, self._processes)


class _CommandWire:
    def __init__(self, process: Process, processes: Processes) -> None:
        self._process, self._processes = process, processes
        self._drained = anyio.Event()

    async def receive(self) -> bytes:
        return await self._process.receive()

    async def send(self, data: bytes) -> None:
        await self._process.send(data)

    async def run(self) -> None:
        try:
            await self._process.drain_stderr()
        finally:
            self._drained.set()

    async def last_words(self) -> str:
        with anyio.move_on_after(_LAST_WORDS):
            await self._process.wait()
            await self._drained.wait()
        said = next((line for line in reversed(self._process.tail.lines()) if line.strip()), "")
        match self._process.exit_code:
            case None:
                ended = ""
            case code if code < 0:
                ended = f"it was ended by signal {-code}"
            case code:
                ended = f"it ended with status {code}"
        return f"{ended}: {said}" if ended and said else ended or said

    async def end(self) -> None:
        await self._processes.end(self._process, GRACE)


class SocketOpener:
    """Calls an app-server of this user that listens on a socket."""

    near = True

    def __init__(self, path: Path) -> None:
        self.what = f"{SCHEME}{path}"
        self._path = path

    async def open(self) -> Wire:
        try:
            return SocketWire(await anyio.to_thread.run_sync(connect_socket, self._path))
        except CoreError as error:
            raise Unavailable(error.message) from None


class SocketWire:
    """A connected socket that does not block."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    async def receive(self) -> bytes:
        if (fd := self._connection.fileno()) < 0:
            return b""
        with suppress(anyio.ClosedResourceError):
            return await read(fd)
        return b""

    async def send(self, data: bytes) -> None:
        if (fd := self._connection.fileno()) < 0:
            raise anyio.BrokenResourceError
        await write(fd, data)

    async def run(self) -> None:
        """Nothing is said beside."""

    async def last_words(self) -> str:
        return "it has hung up"

    async def end(self) -> None:
        if self._connection.fileno() >= 0:
            anyio.notify_closing(self._connection)
            self._connection.close()


def opener(target: str, processes: Processes, environ: Mapping[str, str]) -> Opener:
    """The way to what `--connect` names. Raises ValueError as `target.check_target`."""
    named = check_target(target)
    if isinstance(named, Path):
        return SocketOpener(named)
    return CommandOpener(named, processes, environ)
