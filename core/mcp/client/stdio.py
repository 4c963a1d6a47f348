"""MCP over the pipes of a process: one JSON message a line."""

from __future__ import annotations

import signal
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from core.errors import InternalError
from core.mcp.client import jsontext
from core.mcp.client.lines import LineSplitter, LineTooLong
from core.mcp.client.rpc import CANCEL_REASON, NEGOTIATION, Call, Rpc
from core.mcp.client.session import CloseReason, SessionClosed
from core.process import Process, Processes, SpawnFailed

MESSAGE_LIMIT = 64 << 20
_QUEUED_LIMIT = 64 << 20
# A process that closes a pipe is usually about to end; its exit code says more than the pipe.
_LAST_WORDS = 0.3


@dataclass(frozen=True, kw_only=True)
class StdioTarget:
    """What to start.

    Attributes:
        command, args: Looked up in `PATH` of `env`; arguments may hold secrets.
        env: All that the process gets; nothing is inherited.
        cwd: Absolute; None = ours.
        message_limit: Bytes of one message; a larger one ends the connection.
        overheard: Called with each line that is written beside the protocol.
    """

    command: str
    args: Sequence[str] = field(default=(), repr=False)
    env: Mapping[str, str] = field(repr=False)
    cwd: str | Path | None = None
    message_limit: int = MESSAGE_LIMIT
    overheard: Callable[[bytes], None] | None = field(default=None, repr=False)


@dataclass(eq=False)
class _Line:
    data: bytes
    call: Call | None = None


class StdioCarrier:
    """Carries messages to and from a process of ours, and notices its end."""

    def __init__(
        self, tasks: TaskGroup, rpc: Rpc, processes: Processes, target: StdioTarget
    ) -> None:
        self._tasks, self._rpc = tasks, rpc
        self._processes, self._target = processes, target
        self._process: Process | None = None
        self._queue: deque[_Line] = deque()
        self._queued = 0
        self._more = anyio.Event()
        self._output_ended = anyio.Event()
        self._stderr_ended = anyio.Event()
        self.heard_at = 0.0

    @property
    def pid(self) -> int | None:
        """Of the process, once started."""
        return self._process.pid if self._process else None

    @property
    def tail(self) -> tuple[str, ...]:
        """Of stderr and of what was no JSON on stdout."""
        return self._process.tail.lines() if self._process else ()

    async def start(self) -> None:
        """Start the process. Raises SessionClosed with an errno."""
        target = self._target
        try:
            process = await self._processes.spawn(
                [target.command, *target.args], env=target.env, cwd=target.cwd
            )
        except SpawnFailed as failure:
            raise SessionClosed(CloseReason(errno=failure.errno, text=failure.message)) from None
        self._process = process
        process.tail.listener = target.overheard
        if self._rpc.reason is not None:  # closed meanwhile
            await self._processes.end(process, 0)
            raise SessionClosed(self._rpc.reason)
        self.heard_at = time.monotonic()
        for task in (self._read, self._write, self._watch, self._drain):
            self._tasks.start_soon(task, process)

    def speaks(self, version: str, modern: bool) -> None:
        """Nothing depends on it here."""

    def opened(self) -> None:
        """Nothing to do."""

    def begin(self, call: Call) -> None:
        """Queue the request."""
        data = call.encoded()
        if self._queued + len(data) > _QUEUED_LIMIT:
            call.fail(InternalError("The server does not read what is sent to it"))
            return
        self._put(_Line(data, call))

    def abandon(self, call: Call) -> None:
        """Take the request back while it is queued, else tell the server."""
        for line in self._queue:
            if line.call is call:
                self._queue.remove(line)
                self._queued -= len(line.data)
                return
        if call.method not in NEGOTIATION and self._rpc.reason is None:
            params = {"requestId": call.id, "reason": CANCEL_REASON}
            self._put(_encoded("notifications/cancelled", params))

    async def send(self, message: dict[str, Any]) -> None:
        """Queue a notification or an answer."""
        self._put(_Line(jsontext.encode(message)))

    async def aclose(self, grace: float) -> None:
        """End the process: stdin closed, `grace`, TERM, 1 s, KILL."""
        if self._process is not None:
            await self._processes.end(self._process, grace)

    def _put(self, line: _Line) -> None:
        self._queue.append(line)
        self._queued += len(line.data)
        self._more.set()

    async def _write(self, process: Process) -> None:
        try:
            while True:
                while self._queue:
                    line = self._queue.popleft()
                    self._queued -= len(line.data)
                    await process.send(line.data + b"\n")
                self._more = anyio.Event()
                await self._more.wait()
        except anyio.BrokenResourceError:
            await self._ended_or("The server closed its standard input")

    async def _read(self, process: Process) -> None:
        lines = LineSplitter(self._target.message_limit)
        try:
            while data := await process.receive():
                self.heard_at = time.monotonic()
                for line in lines.feed(data):
                    self._received(process, line)
            if last := lines.rest():
                self._received(process, last)
        except LineTooLong:
            limit = self._target.message_limit
            self._break(f"The server sent a message of more than {limit} bytes")
            return
        self._output_ended.set()
        await self._ended_or("The server closed its standard output")

    def _received(self, process: Process, line: bytes) -> None:
        try:
            message = jsontext.parse(line)
        except jsontext.NotJson:
            message = None
        if isinstance(message, dict | list):
            self._rpc.received(message)
        else:
            process.tail.add(line)

    async def _drain(self, process: Process) -> None:
        await process.drain_stderr()
        self._stderr_ended.set()

    async def _watch(self, process: Process) -> None:
        code = await process.wait()
        # Its last words may still be in the pipes; a child may hold these open for ever.
        with anyio.move_on_after(_LAST_WORDS):
            await self._output_ended.wait()
            await self._stderr_ended.wait()
        self._rpc.close(CloseReason(exit_code=code, text=_ending(code), tail=self.tail))
        await self._processes.end(process, 0)

    async def _ended_or(self, broken: str) -> None:
        """A pipe is closed: the process has ended (`_watch` says how), or it is of no use."""
        process = self._process
        with anyio.move_on_after(_LAST_WORDS):
            await self._rpc.closed.wait()
            return
        if process is not None and process.exit_code is None:
            self._break(broken)

    def _break(self, text: str) -> None:
        self._rpc.close(CloseReason(broken=text, text=text, tail=self.tail))
        if self._process is not None:
            self._tasks.start_soon(self._processes.end, self._process, 0)


def _encoded(method: str, params: dict[str, Any]) -> _Line:
    return _Line(jsontext.encode({"jsonrpc": "2.0", "method": method, "params": params}))


def _ending(code: int) -> str:
    if code >= 0:
        return f"The server process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"The server process was ended by {name}"
