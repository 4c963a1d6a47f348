"""The older HTTP transport: one event stream down, POSTs up (MCP 2024-11-05, "HTTP with SSE")."""

from __future__ import annotations

import time
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError
from core.mcp.client import jsontext
from core.mcp.client.rpc import CANCEL_REASON, NEGOTIATION, Call, Rpc
from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.mcp.client.streams import EVENT_STREAM, content_type, events_of
from core.mcp.client.wire import HttpTarget, Wire, origin
from core.ports import HttpFactory

if TYPE_CHECKING:
    import httpx

_CANCEL_DEADLINE = 5.0
_CLOSE_DEADLINE = 1.0
_ADDRESS_WITHIN = 2.0
"""Seconds: servers of this transport name their address at once; others may stream for ever."""


class LegacySse:
    """Carries messages by POST to an address that the server's stream names; answers come there."""

    def __init__(
        self, tasks: TaskGroup, rpc: Rpc, http: HttpFactory, target: HttpTarget, user_agent: str
    ) -> None:
        self._tasks, self._rpc, self._http, self._target = tasks, rpc, http, target
        self._user_agent = user_agent
        self._client: httpx.AsyncClient | None = None
        self._wire: Wire | None = None
        self._endpoint: httpx.URL | None = None
        self._version = ""
        self._refused: HttpFailed | None = None
        self._begun = anyio.Event()
        self._stream = anyio.CancelScope()
        self._exchanges: dict[int, anyio.CancelScope] = {}
        self.heard_at = 0.0

    pid = None
    tail: tuple[str, ...] = ()

    async def start(self) -> None:
        """Open the stream and wait for the address. Raises HttpFailed, SessionClosed."""
        self._client = await self._http.client()
        self._wire = Wire(self._client, self._target, self._user_agent)
        self._tasks.start_soon(self._listen, self._wire)
        with anyio.move_on_after(_ADDRESS_WITHIN):
            await self._begun.wait()
        if not self._begun.is_set():
            raise HttpFailed(self._wire.broken("names no address for messages in its stream"))
        if self._refused is not None:
            raise self._refused

    def speaks(self, version: str, modern: bool) -> None:
        """Sent as `MCP-Protocol-Version`."""
        self._version = version

    def opened(self) -> None:
        """The stream is open already."""

    def begin(self, call: Call) -> None:
        """POST the request; its answer comes by the stream."""
        scope = self._exchanges[call.id] = anyio.CancelScope()
        self._tasks.start_soon(self._exchange, call, scope)

    def abandon(self, call: Call) -> None:
        """Tell the server."""
        if scope := self._exchanges.get(call.id):
            scope.cancel()
        if call.method not in NEGOTIATION and self._rpc.reason is None:
            params = {"requestId": call.id, "reason": CANCEL_REASON}
            self._tasks.start_soon(self._mention, "notifications/cancelled", params)

    async def send(self, message: dict[str, Any]) -> None:
        """POST a notification or an answer."""
        await self._post(jsontext.encode(message), replay=True)

    async def aclose(self, grace: float) -> None:
        """Close the stream, which ends the session."""
        for scope in (self._stream, *self._exchanges.values()):
            scope.cancel()
        client, self._client = self._client, None
        if client is not None:
            with anyio.move_on_after(_CLOSE_DEADLINE):
                await client.aclose()

    async def _post(self, body: bytes, *, replay: bool) -> None:
        if self._wire is None or self._endpoint is None:
            raise SessionClosed(CloseReason(text="The session is not open"))
        headers = {"accept": "application/json", "content-type": "application/json"}
        headers |= self._version_header()
        async with self._wire.send("POST", headers, body, url=self._endpoint, replay=replay):
            self.heard_at = time.monotonic()

    def _version_header(self) -> dict[str, str]:
        return {"mcp-protocol-version": self._version} if self._version else {}

    async def _mention(self, method: str, params: dict[str, Any]) -> None:
        with anyio.move_on_after(_CANCEL_DEADLINE), suppress(CoreError):
            await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _exchange(self, call: Call, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                await self._post(call.encoded(), replay=call.method != "tools/call")
            except CoreError as failed:
                call.fail(failed)
        self._exchanges.pop(call.id, None)

    async def _listen(self, wire: Wire) -> None:
        with self._stream:
            try:
                async with wire.send("GET", {"accept": EVENT_STREAM}) as response:
                    if content_type(response) != EVENT_STREAM:
                        raise HttpFailed(wire.broken("answered without an event stream"))
                    await self._read(wire, response)
                reason = wire.broken("ended its event stream")
            except HttpFailed as failed:
                reason = failed.reason
            except CoreError as failed:
                reason = CloseReason(text=failed.message)
            if not self._begun.is_set():
                self._refused = HttpFailed(reason)
                self._begun.set()
            else:
                self._rpc.close(reason)

    async def _read(self, wire: Wire, response: httpx.Response) -> None:
        limit = self._target.message_limit
        async with aclosing(events_of(response, wire, limit, self._heard)) as events:
            async for event in events:
                if event.type == "endpoint" and self._endpoint is None:
                    self._endpoint = self._address(wire, event.data)
                    self._begun.set()
                elif event.type == "message" and event.data:
                    with suppress(jsontext.NotJson):
                        self._rpc.received(jsontext.parse(event.data))

    def _address(self, wire: Wire, data: bytes) -> httpx.URL:
        address = wire.url.join(data.decode("utf-8", "replace").strip())
        if origin(address) != origin(wire.url):
            raise HttpFailed(wire.broken("names an address of another origin for its messages"))
        return address

    def _heard(self) -> None:
        self.heard_at = time.monotonic()
