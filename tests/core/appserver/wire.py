"""An app-server on two pipes, with handlers that a test writes, and a client for it."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio

from core.appserver.greeting import Greeting
from core.appserver.loop import serve
from core.appserver.opening import Opening
from core.appserver.streams import lines, write
from core.scope import RequestScope

Handler = Callable[[Any, RequestScope], Awaitable[Any]]

HELLO = {"clientInfo": {"name": "test", "title": None, "version": "1"}}


class Handlers:
    """As `core.service.dispatch.Dispatcher`, from a plain dict."""

    def __init__(self, handlers: dict[str, Handler]) -> None:
        self._handlers = handlers

    @property
    def methods(self) -> frozenset[str]:
        return frozenset(self._handlers)

    async def handle(self, name: str, params: object, scope: RequestScope) -> Any:
        return await self._handlers[name](params, scope)


class OpenGate:
    """Any configuration will do; `told` is said after the handshake."""

    def __init__(self, *told: dict[str, Any]) -> None:
        self._told = told

    async def check(self, method: str, params: Any) -> None:
        pass

    async def warnings(self) -> list[dict[str, Any]]:
        return list(self._told)


class Client:
    """The other end of the pipes."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._lines = lines(read_fd)
        self._write_fd: int | None = write_fd
        self._read_fd: int | None = read_fd

    async def raw(self, data: bytes) -> None:
        assert self._write_fd is not None
        await write(self._write_fd, data)

    async def send(self, *messages: dict[str, Any]) -> None:
        await self.raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    async def receive(self) -> dict[str, Any]:
        return json.loads(await anext(self._lines))

    async def receive_all(self) -> list[dict[str, Any]]:
        return [json.loads(line) async for line in self._lines]

    async def call(self, method: str, params: Any = None, *, id: int | str = 1) -> dict[str, Any]:
        message = {"id": id, "method": method}
        await self.send(message if params is None else {**message, "params": params})
        return await self.receive()

    async def initialize(self, **capabilities: Any) -> dict[str, Any]:
        answer = await self.call("initialize", {**HELLO, "capabilities": capabilities}, id="hello")
        await self.send({"method": "initialized"})
        return answer

    def stop_reading(self) -> None:
        if self._read_fd is not None:
            os.close(self._read_fd)
            self._read_fd = None

    def hang_up(self) -> None:
        """No more input for the server."""
        if self._write_fd is not None:
            os.close(self._write_fd)
            self._write_fd = None


@asynccontextmanager
async def served(
    handlers: dict[str, Handler], gate: OpenGate | None = None, *, opening: Opening | None = None
) -> AsyncGenerator[Client]:
    """A server for the length of the block; its input is closed at the end, and it must end."""
    if opening is None:
        opening = Opening()
        opening.done(Handlers(handlers), gate or OpenGate())
    to_server, from_client = os.pipe()
    to_client, from_server = os.pipe()
    client = Client(to_client, from_client)

    async def run() -> None:
        try:
            await serve(
                opening,
                Greeting(version="1.2.3", codex_home="/home/dev/.codex"),
                now=lambda: 12.5,
                read_fd=to_server,
                write_fd=from_server,
            )
        finally:
            os.close(to_server)
            os.close(from_server)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            try:
                yield client
            finally:
                client.hang_up()
    client.stop_reading()
