"""MCP over streamable HTTP (MCP 2025-06-18 and 2026-07-28, "Transports")."""

from __future__ import annotations

import errno as errors
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError, InternalError
from core.mcp.client import jsontext
from core.mcp.client.rpc import CANCEL_REASON, NEGOTIATION, Call, Rpc
from core.mcp.client.session import CloseReason, HttpFailed, ServerHello, SessionClosed
from core.mcp.client.streams import (
    EVENT_STREAM,
    Cursor,
    content_type,
    events_of,
    keep_listening,
)
from core.mcp.client.wire import HttpTarget, Wire, mirrored_headers
from core.net.body import EXCERPT_CHARS, BodyUnreadable, excerpt, read_capped
from core.ports import HttpFactory

if TYPE_CHECKING:
    import httpx

logger = logging.getLogger(__name__)

ACCEPT = "text/event-stream, application/json"
_AFTERWARDS = 0.5  # a server ends a stream right after its answer; the connection is then kept
_STREAM_OPENS_WITHIN = 5.0
_NOTICE_DEADLINE = 30.0
_CANCEL_DEADLINE = 5.0
_DELETE_DEADLINE = 1.0
_RESUME_AFTER = 1.0
_MOST_RESUMES = 5
_FORGOTTEN = (400, 404, 405, 410)  # answers to a second `initialize` after which all is lost


class StreamableHttp:
    """Carries each message by a POST of its own, and listens to the server's own stream."""

    def __init__(
        self,
        tasks: TaskGroup,
        rpc: Rpc,
        http: HttpFactory,
        target: HttpTarget,
        user_agent: str,
        handshake: Callable[[StreamableHttp], Awaitable[ServerHello]],
    ) -> None:
        self._tasks, self._rpc, self._http, self._target = tasks, rpc, http, target
        self._user_agent, self._handshake = user_agent, handshake
        self._client: httpx.AsyncClient | None = None
        self._wire: Wire | None = None
        self._session: str | None = None
        self._version, self._modern = "", False
        self._is_open = False
        self._renewing = anyio.Lock()
        self._exchanges: dict[int, anyio.CancelScope] = {}
        self._listener: anyio.CancelScope | None = None
        self._listening = False
        self._listener_settled = anyio.Event()  # its stream is open, or there is none
        self.heard_at = 0.0

    pid = None
    tail: tuple[str, ...] = ()

    async def start(self) -> None:
        """Make a client; nothing is sent yet. Raises HttpFailed for an invalid URL or header."""
        self._client = await self._http.client()
        self._wire = Wire(self._client, self._target, self._user_agent)

    def speaks(self, version: str, modern: bool) -> None:
        """Sent as `MCP-Protocol-Version`; "" while it is being agreed."""
        self._version, self._modern = version, modern
        if self._wire is not None:
            self._wire.redirects = "none" if modern else self._target.redirects

    def opened(self) -> None:
        """Listen to the server's own stream, where there is a session."""
        self._is_open = True
        self._listen()

    def begin(self, call: Call) -> None:
        """Start an exchange for the request."""
        scope = self._exchanges[call.id] = anyio.CancelScope()
        self._tasks.start_soon(self._exchange, call, scope)

    def abandon(self, call: Call) -> None:
        """Drop the exchange and tell the server; in the modern era dropping it tells all."""
        if scope := self._exchanges.get(call.id):
            scope.cancel()
        if call.method not in NEGOTIATION and not self._modern and self._rpc.reason is None:
            params = {"requestId": call.id, "reason": CANCEL_REASON}
            self._tasks.start_soon(self._mention, "notifications/cancelled", params)

    async def send(self, message: dict[str, Any]) -> None:
        """POST a notification or an answer."""
        if self._modern:
            return  # 2026-07-28 has neither over HTTP
        with anyio.move_on_after(_NOTICE_DEADLINE) as scope:
            async with self._must_wire().send("POST", self._headers(), jsontext.encode(message)):
                return
        if scope.cancelled_caught:
            host = self._must_wire().host
            text = f"{host}: {message.get('method', 'answer')} was not taken"
            raise HttpFailed(CloseReason(errno=errors.ETIMEDOUT, text=text, host=host))

    async def aclose(self, grace: float) -> None:
        """End all exchanges and the session (DELETE, 1 s at most)."""
        for scope in [*self._exchanges.values(), *filter(None, [self._listener])]:
            scope.cancel()
        client, self._client = self._client, None
        if client is None:
            return
        if self._session and self._wire is not None:
            with anyio.move_on_after(_DELETE_DEADLINE), suppress(CoreError):
                headers = self._headers() | {"accept": "*/*"}
                del headers["content-type"]
                async with self._wire.send("DELETE", headers):
                    pass
        with anyio.move_on_after(_DELETE_DEADLINE):
            await client.aclose()

    def _must_wire(self) -> Wire:
        if self._wire is None:
            raise SessionClosed(CloseReason(text="The session is not open"))
        return self._wire

    def _headers(self, method: str = "") -> dict[str, str]:
        headers = {"accept": ACCEPT, "content-type": "application/json"}
        if self._version:
            headers["mcp-protocol-version"] = self._version
        if self._session and method != "initialize":
            headers["mcp-session-id"] = self._session
        return headers

    async def _mention(self, method: str, params: dict[str, Any]) -> None:
        with anyio.move_on_after(_CANCEL_DEADLINE), suppress(CoreError):
            await self.send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _exchange(self, call: Call, scope: anyio.CancelScope) -> None:
        with scope:
            try:
                if call.method in NEGOTIATION:
                    await self._negotiate(call)
                else:
                    await self._carry(call)
            except HttpFailed as failed:
                self._failed(call, failed)
            except CoreError as failed:
                call.fail(failed)
            except Exception as unforeseen:
                logger.exception("Sending %s failed", call.method)
                call.fail(InternalError(f"{type(unforeseen).__name__} while sending"))
            finally:
                self._exchanges.pop(call.id, None)

    def _failed(self, call: Call, failed: HttpFailed) -> None:
        """A refused connection means that the server is gone; else only the call has failed."""
        if failed.reason.errno is None:
            call.fail(failed)
            return
        if not self._is_open:
            call.fail(SessionClosed(failed.reason))
        elif failed.reason.errno == errors.ECONNREFUSED:
            self._rpc.close(failed.reason)
        call.fail(failed)

    async def _negotiate(self, call: Call) -> None:
        """The first request is tried again after what may be a server that is still starting."""
        for delay in self._target.retry_delays:
            try:
                return await self._post(call)
            except HttpFailed as failed:
                status = failed.reason.http_status
                if failed.reason.errno is None and (status is None or status < 500):
                    raise
            await anyio.sleep(delay)
        await self._post(call)

    async def _carry(self, call: Call) -> None:
        if self._renewing.locked():
            async with self._renewing:
                pass
        session = self._session
        try:
            await self._post(call)
        except HttpFailed as failed:
            if failed.reason.http_status != 404 or session is None:
                raise
            await self._renew(session)
            self._rpc.restart_tokens(call)
            await self._post(call)

    async def _renew(self, lost: str) -> None:
        """The server has forgotten the session: begin another, once for all who notice."""
        async with self._renewing:
            if self._session != lost:
                return
            try:
                await self._handshake(self)
            except HttpFailed as failed:
                if failed.reason.http_status in _FORGOTTEN:
                    self._rpc.close(failed.reason)
                raise
            self._listen()

    async def _post(self, call: Call) -> None:
        wire, headers = self._must_wire(), self._headers(call.method)
        if self._modern:
            headers |= mirrored_headers(call.method, call.params)
        replay = call.method != "tools/call"
        async with wire.send("POST", headers, call.encoded(), replay=replay) as response:
            self._heard()
            if call.method == "initialize":
                self._session = response.headers.get("mcp-session-id")
            await self._take_answer(call, response)

    async def _take_answer(self, call: Call, response: httpx.Response) -> None:
        wire = self._must_wire()
        kind = content_type(response)
        if response.status_code in (202, 204):
            await self._answered_elsewhere(call, response.status_code)
        elif kind == EVENT_STREAM:
            await self._take_stream(call, response)
        elif kind == "application/json":
            body = await self._body(response)
            proper = self._receive(body, call)
            if not call.settled.is_set():
                what = "something else" if proper else "what is no JSON"
                raise HttpFailed(wire.broken(f"answered {call.method} with {what}", _start(body)))
        else:
            text = f"answered with {kind[:80] or 'no content type'} instead of JSON"
            raise HttpFailed(wire.broken(text, await excerpt(response)))

    async def _body(self, response: httpx.Response) -> bytes:
        try:
            return await read_capped(response, self._target.message_limit)
        except BodyUnreadable as error:
            raise HttpFailed(self._must_wire().broken(f"failed: {error.message}")) from None

    async def _answered_elsewhere(self, call: Call, status: int) -> None:
        """202 to a request: the answer can only come on the server's own stream."""
        if self._listener is not None:
            with anyio.move_on_after(_STREAM_OPENS_WITHIN):
                await self._listener_settled.wait()
        if not self._listening:
            wire = self._must_wire()
            text = f"{wire.host} answered {call.method} with {status} and nothing else"
            raise HttpFailed(CloseReason(http_status=status, text=text, host=wire.host))
        await call.settled.wait()

    async def _take_stream(self, call: Call, response: httpx.Response) -> None:
        cursor = Cursor()
        try:
            await self._read_stream(response, cursor, call)
        except HttpFailed as failed:
            if cursor.last_id is None or failed.reason.errno is None:
                raise
        for _ in range(_MOST_RESUMES):
            if call.settled.is_set() or cursor.last_id is None:
                break
            await anyio.sleep(_RESUME_AFTER if cursor.retry is None else cursor.retry)
            call.resumed = True
            try:
                await self._resume(call, cursor)
            except HttpFailed as failed:
                if failed.reason.errno in (None, errors.ECONNREFUSED):
                    raise  # it cannot be resumed, or the server is gone
        if not call.settled.is_set():
            wire = self._must_wire()
            raise HttpFailed(wire.broken(f"ended its stream before answering {call.method}"))

    async def _resume(self, call: Call, cursor: Cursor) -> None:
        headers = self._headers() | {"last-event-id": cursor.last_id or ""}
        del headers["content-type"]
        async with self._must_wire().send("GET", headers) as response:
            await self._read_stream(response, cursor, call)

    async def _read_stream(
        self, response: httpx.Response, cursor: Cursor, call: Call | None
    ) -> None:
        """Until the end of the stream, or shortly after the call's answer."""
        with anyio.CancelScope() as scope:
            limit, wire = self._target.message_limit, self._must_wire()
            async with aclosing(events_of(response, wire, limit, self._heard)) as events:
                async for event in events:
                    cursor.saw(event)
                    if event.type == "message" and event.data:
                        self._receive(event.data, call)
                    if call is not None and call.settled.is_set():
                        scope.deadline = min(scope.deadline, anyio.current_time() + _AFTERWARDS)

    def _heard(self) -> None:
        self.heard_at = time.monotonic()

    def _receive(self, data: bytes, call: Call | None) -> bool:
        try:
            message = jsontext.parse(data)
        except jsontext.NotJson:
            return False
        self._rpc.received(message, own=call)
        return True

    def _listen(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
        if self._is_open and self._session and not self._modern:
            self._listener, self._listener_settled = anyio.CancelScope(), anyio.Event()
            self._tasks.start_soon(self._run_listener, self._listener, self._listener_settled)

    async def _run_listener(self, scope: anyio.CancelScope, settled: anyio.Event) -> None:
        await keep_listening(self._hear, self._rpc.close, scope)
        settled.set()

    async def _hear(self, cursor: Cursor) -> bool:
        """One connection of the stream, to its end; False when the server has none."""
        headers = self._headers()
        del headers["content-type"]
        if cursor.last_id:
            headers["last-event-id"] = cursor.last_id
        async with self._must_wire().send("GET", headers) as response:
            if content_type(response) != EVENT_STREAM:
                return False
            self._listening = True
            self._listener_settled.set()
            try:
                await self._read_stream(response, cursor, None)
            finally:
                self._listening = False
        return True


def _start(body: bytes) -> str:
    return body[: 4 * EXCERPT_CHARS].decode("utf-8", "replace")[:EXCERPT_CHARS]
