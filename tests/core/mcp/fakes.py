"""A scripted `Session`, and the maker that hands it out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio

from core.errors import CoreError, PeerError
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    Incoming,
    OnNotice,
    ServerHello,
    SessionClosed,
)
from core.mcp.spec import Endpoint, Program, ServerSpec

Reply = dict[str, Any] | CoreError | Callable[[dict[str, Any]], dict[str, Any]]


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


@dataclass
class Script:
    """What one server does.

    Attributes:
        replies: By method; a list is taken one by one, its last entry for good.
        gates: Methods (`initialize` too) that are not answered before their event is set.
        refuse: `open` fails with this.
        takes: Seconds that the end of a session takes.
    """

    tools: list[dict[str, Any]] = field(default_factory=lambda: [tool("t")])
    capabilities: dict[str, Any] = field(default_factory=lambda: {"tools": {}})
    server_info: dict[str, Any] = field(default_factory=lambda: {"name": "fake", "version": "1"})
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    gates: dict[str, anyio.Event] = field(default_factory=dict)
    refuse: list[CoreError] = field(default_factory=list)
    takes: float = 0.0
    tail: tuple[str, ...] = ()

    def gate(self, method: str) -> anyio.Event:
        return self.gates.setdefault(method, anyio.Event())


class FakeSession:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[tuple[str, dict[str, Any], dict[str, Any] | None]] = []
        self.answers: dict[int | str, Any] = {}
        self.pauses = 0
        self._closed = anyio.Event()
        self._reason = CloseReason()
        self._send, self._receive = anyio.create_memory_object_stream[Incoming](100)
        self._answered = anyio.Event()
        self.pid = 4711
        self.heard_at = 1.0
        self.closed_by_us = False

    @property
    def methods(self) -> list[str]:
        return [method for method, _, _ in self.asked]

    async def open(self, *, deadline: float) -> ServerHello:
        self.asked.append(("initialize", {}, None))
        if gate := self.script.gates.get("initialize"):
            with anyio.move_on_after(deadline) as scope:
                await gate.wait()
            if scope.cancelled_caught:
                raise DeadlinePassed("initialize", deadline)
        if self.script.refuse:
            error = self.script.refuse[0]
            if len(self.script.refuse) > 1:
                self.script.refuse.pop(0)
            raise error
        return ServerHello(
            protocol_version="2025-06-18",
            server_info=self.script.server_info,
            capabilities=self.script.capabilities,
        )

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: dict[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        if self._closed.is_set():
            raise SessionClosed(self._reason)
        self.asked.append((method, params or {}, meta))
        if gate := self.script.gates.get(method):
            with anyio.move_on_after(deadline) as scope:
                await gate.wait()
            if scope.cancelled_caught:
                raise DeadlinePassed(method, deadline or 0.0)
        await anyio.lowlevel.checkpoint()
        if self._closed.is_set():
            raise SessionClosed(self._reason)
        return self._reply(method, params or {})

    def _reply(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        planned = self.script.replies.get(method)
        if planned:
            reply = planned[0] if len(planned) == 1 else planned.pop(0)
            if isinstance(reply, CoreError):
                raise reply
            return reply(params) if callable(reply) else reply
        if method == "tools/list":
            return {"tools": self.script.tools}
        if method == "ping":
            return {}
        raise PeerError(-32601, "Method not found")

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self.asked.append((method, params or {}, None))

    async def respond(
        self, id: int | str, *, result: Any = None, error: dict[str, Any] | None = None
    ) -> None:
        self.answers[id] = {"error": error} if error else result
        self._answered.set()
        self._answered = anyio.Event()

    @property
    def incoming(self) -> AsyncIterator[Incoming]:
        return self._receive

    def pause_deadlines(self) -> None:
        self.pauses += 1

    def resume_deadlines(self) -> None:
        self.pauses -= 1

    async def closed(self) -> CloseReason:
        await self._closed.wait()
        return self._reason

    @property
    def tail(self) -> tuple[str, ...]:
        return self.script.tail

    async def aclose(self, grace: float = 0.5) -> None:
        self.closed_by_us = True
        self._end(CloseReason(text="closed by us"))

    # -- what a test does to it

    def die(self, reason: CloseReason) -> None:
        self._end(reason)

    async def say(self, method: str, params: dict[str, Any] | None = None) -> None:
        await self._send.send(Incoming(method=method, params=params or {}))

    async def ask(self, id: int, method: str, params: dict[str, Any]) -> Any:
        """Send a request of the server and wait for what it is answered."""
        await self._send.send(Incoming(method=method, params=params, id=id))
        while id not in self.answers:
            await self._answered.wait()
        return self.answers[id]

    def _end(self, reason: CloseReason) -> None:
        if not self._closed.is_set():
            self._reason = reason
            self._closed.set()
            self._send.close()


class FakeMaker:
    """Hands out sessions by server name; keeps them all, oldest first."""

    def __init__(self, **scripts: Script) -> None:
        self.scripts = scripts
        self.sessions: dict[str, list[FakeSession]] = {}
        self.stored = "none"
        self.threaded: list[bool] = []
        self.open_now = 0
        self.most_open = 0

    def make(self, script: Script) -> FakeSession:
        return FakeSession(script)

    def latest(self, name: str) -> FakeSession:
        return self.sessions[name][-1]

    @asynccontextmanager
    async def session(self, spec: ServerSpec, *, threaded: bool) -> AsyncGenerator[FakeSession]:
        script = self.scripts.setdefault(spec.name, Script())
        session = self.make(script)
        self.sessions.setdefault(spec.name, []).append(session)
        self.threaded.append(threaded)
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            yield session
        finally:
            with anyio.CancelScope(shield=True):
                await session.aclose()
                if script.takes:
                    await anyio.sleep(script.takes)
                self.open_now -= 1
                session._receive.close()

    async def credentials(self, spec: ServerSpec) -> str:
        return self.stored


def program(name: str, *argv: str, **facts: Any) -> ServerSpec:
    target = Program(argv=argv or (name,), cwd="/", env={})
    link = repr((target.argv, target.cwd))
    facts.setdefault("link", link)
    facts.setdefault("fingerprint", repr((link, sorted(facts.items(), key=str))))
    return ServerSpec(name=name, target=target, **facts)


def endpoint(name: str, url: str = "http://h.example/mcp", **facts: Any) -> ServerSpec:
    facts.setdefault("link", url)
    facts.setdefault("fingerprint", repr((url, sorted(facts.items(), key=str))))
    return ServerSpec(name=name, target=Endpoint(url=url), **facts)
