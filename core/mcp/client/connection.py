"""The `Session` of every transport: RPC above a carrier, with one beginning and one end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, Protocol

import anyio

from core.errors import CoreError
from core.mcp.client.eras import Introduction, begin
from core.mcp.client.rpc import Carrier, Rpc
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    HttpFailed,
    Incoming,
    OnNotice,
    ServerHello,
    SessionClosed,
)


class Transport(Carrier, Protocol):
    """A carrier with a life."""

    async def start(self) -> None:
        """Start or connect. Raises SessionClosed, HttpFailed."""
        ...

    def speaks(self, version: str, modern: bool) -> None:
        """The version to speak from now on; "" while it is being agreed."""
        ...

    def opened(self) -> None:
        """The connection has begun."""
        ...

    async def aclose(self, grace: float) -> None:
        """End it; never raises, may be called again."""
        ...

    @property
    def pid(self) -> int | None: ...

    @property
    def heard_at(self) -> float: ...

    @property
    def tail(self) -> tuple[str, ...]: ...


Fallback = Callable[[HttpFailed], bool]


class Connection:
    """One connection to one server; see `Session`.

    Several transports are tried in order, a later one only when `fallback` says so of how the
    one before failed.
    """

    def __init__(
        self,
        rpc: Rpc,
        transports: Sequence[Transport],
        introduction: Introduction,
        *,
        fallback: Fallback = lambda failed: False,
    ) -> None:
        self._rpc = rpc
        self._transports = transports
        self._transport = transports[0]
        self._introduction = introduction
        self._fallback = fallback

    async def open(self, *, deadline: float) -> ServerHello:
        """See `Session.open`. A failed connection is closed, and cannot be opened again."""
        try:
            with self._rpc.deadlines.limit(deadline):
                hello = await self._open()
                self._transport.opened()
                return hello
        except (SessionClosed, HttpFailed) as failed:
            self._rpc.close(failed.reason)
            raise
        except CoreError as failed:
            self._rpc.close(CloseReason(text=failed.message, tail=self.tail))
            raise
        passed = DeadlinePassed("initialize", deadline)
        self._rpc.close(CloseReason(text=passed.message, tail=self.tail))
        raise passed

    async def _open(self) -> ServerHello:
        if self._rpc.reason is not None:
            raise SessionClosed(self._rpc.reason)
        first: HttpFailed | None = None
        for transport in self._transports:
            self._transport = transport
            try:
                await transport.start()
                self._rpc.carrier = transport
                return await begin(self._rpc, self._introduction, transport.speaks)
            except HttpFailed as failed:
                first = first or failed
                if transport is self._transports[-1] or not self._fallback(failed):
                    raise first from None
                await transport.aclose(0)
            except SessionClosed:
                if first is not None:
                    raise first from None  # the fallback was a guess; the refusal is the news
                raise
        raise AssertionError("no transport")

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: dict[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        """See `Session.request`."""
        return await self._rpc.request(
            method, params, deadline=deadline, meta=meta, on_notice=on_notice
        )

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """See `Session.notify`."""
        await self._rpc.notify(method, params)

    async def respond(
        self, id: int | str, *, result: Any = None, error: dict[str, Any] | None = None
    ) -> None:
        """See `Session.respond`."""
        await self._rpc.respond(id, result=result, error=error)

    @property
    def incoming(self) -> AsyncIterator[Incoming]:
        """See `Session.incoming`."""
        return self._rpc.incoming()

    def pause_deadlines(self) -> None:
        """See `Session.request`; pauses nest."""
        self._rpc.deadlines.pause()

    def resume_deadlines(self) -> None:
        """See `Session.request`."""
        self._rpc.deadlines.resume()

    async def closed(self) -> CloseReason:
        """See `Session.closed`."""
        await self._rpc.closed.wait()
        return self._rpc.reason or CloseReason()

    @property
    def pid(self) -> int | None:
        """Of a process that we started."""
        return self._transport.pid

    @property
    def heard_at(self) -> float:
        """See `Session.heard_at`; 0 before the first byte."""
        return self._transport.heard_at

    @property
    def tail(self) -> tuple[str, ...]:
        """See `Session.tail`."""
        return self._transport.tail

    async def aclose(self, grace: float = 0.5) -> None:
        """See `Session.aclose`. Cannot be cancelled; takes `grace` + 3 s at the very most."""
        self._rpc.close(CloseReason(text="The session was closed"))
        with anyio.CancelScope(shield=True):
            for transport in self._transports:
                await transport.aclose(grace)
