"""A client whose core is on the other end of a socket pair, both ends in this process."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from core.appserver.greeting import Greeting
from core.appserver.loop import serve
from core.appserver.opening import Handlers, Opening
from core.channels import EventHub
from core.client.remote import RemoteClient
from core.client.wires import SocketWire, Wire
from core.errors import CoreError
from core.method_table import METHODS
from core.scope import RequestScope
from tests.fakes.client import OURS, FakeClient
from tests.fakes.ports import FakeClock


class AnyConfig:
    """No configuration refuses anything."""

    async def check(self, method: str, params: Any) -> None:
        pass

    async def warnings(self) -> list[dict[str, Any]]:
        return []


class Faked:
    """The handlers of an app-server whose core is a `FakeClient`."""

    def __init__(self, client: FakeClient) -> None:
        self._client = client
        self.methods = OURS

    async def handle(self, name: str, params: object, scope: RequestScope) -> Any:
        return await self._client.call(METHODS[name], params)


class FarSide:
    """An app-server that can be called, killed and called again. Also the `Opener`.

    Attributes:
        refusal: Raised to whoever calls, unless None.
        calls: How often it was called.
    """

    what = "ssh devbox jackfield app-server"
    near = False

    def __init__(self, handlers: Handlers, hub: EventHub, tasks: TaskGroup) -> None:
        self.refusal: CoreError | None = None
        self.calls = 0
        self._tasks = tasks
        self._opening = Opening()
        self._opening.done(handlers, AnyConfig(), hub=hub)
        self._ends: list[socket.socket] = []

    async def open(self) -> Wire:
        self.calls += 1
        if self.refusal is not None:
            raise self.refusal
        near, far = socket.socketpair()
        for end in (near, far):
            end.setblocking(False)
        self._ends.append(far)
        self._tasks.start_soon(self._serve, far)
        return SocketWire(near)

    async def _serve(self, end: socket.socket) -> None:
        greeting = Greeting(version="0.9.0", codex_home="/home/dev/.codex")
        with end:
            fd = end.fileno()
            await serve(self._opening, greeting, now=lambda: 12.5, read_fd=fd, write_fd=fd)

    def kill(self) -> None:
        """Hang up on everybody."""
        while self._ends:
            end = self._ends.pop()
            if end.fileno() >= 0:
                end.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def far(handlers: Handlers, hub: EventHub) -> AsyncGenerator[tuple[RemoteClient, FarSide]]:
    """A client and its far side for the length of the block."""
    async with anyio.create_task_group() as tasks:
        side = FarSide(handlers, hub, tasks)
        yield RemoteClient(side, tasks, FakeClock()), side
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def wired(client: FakeClient) -> AsyncGenerator[RemoteClient]:
    """`client` over a wire."""
    async with far(Faked(client), client.hub) as (remote, _):
        yield remote
