"""JSON-RPC as MCP uses it, above any transport: ids, answers, deadlines, cancelling."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Any, Protocol, cast

import anyio
from anyio.abc import TaskGroup

from core.errors import INTERNAL, CoreError, PeerError
from core.mcp.client import jsontext
from core.mcp.client.deadlines import Deadlines
from core.mcp.client.inbox import Inbox
from core.mcp.client.inputs import Waiting, completed
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    HttpFailed,
    Incoming,
    OnNotice,
    SessionClosed,
)

METHOD_NOT_FOUND = -32601
CANCEL_REASON = "MCP request cancelled by caller"
NEGOTIATION = frozenset({"initialize", "server/discover"})
"""Requests that begin a connection: without a progress token, and never cancelled."""
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
UNCLAIMED_AFTER = 5.0
"""Seconds after which a server request that nobody takes is refused."""


class Call:
    """One request on its way."""

    def __init__(
        self,
        number: int,
        method: str,
        params: dict[str, Any] | None,
        on_notice: OnNotice | None,
    ) -> None:
        self.id = number
        self.method = method
        self.params = params
        self.on_notice = on_notice
        self.token: int | None = None
        self.resumed = False
        """Its own stream was resumed: an answer on it is this call's, whatever its id."""
        self.settled = anyio.Event()
        self._result: dict[str, Any] = {}
        self._error: Exception | None = None

    def encoded(self) -> bytes:
        """The request as it goes over the wire."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self.id, "method": self.method}
        if self.params is not None:
            message["params"] = self.params
        return jsontext.encode(message)

    def succeed(self, result: dict[str, Any]) -> None:
        """The first outcome counts."""
        if not self.settled.is_set():
            self._result = result
            self.settled.set()

    def fail(self, error: Exception) -> None:
        """The first outcome counts."""
        if not self.settled.is_set():
            self._error = error
            self.settled.set()

    def outcome(self) -> dict[str, Any]:
        """The result, or the error raised; only once settled."""
        if self._error is not None:
            raise self._error
        return self._result


class Carrier(Protocol):
    """A transport, as the RPC layer sees it."""

    def begin(self, call: Call) -> None:
        """Send the request and see to it that the call is settled; never blocks."""
        ...

    def abandon(self, call: Call) -> None:
        """Nobody waits for the answer any more: tell the server, let go; never blocks."""
        ...

    async def send(self, message: dict[str, Any]) -> None:
        """Send a notification or an answer. Raises SessionClosed, HttpFailed."""
        ...


class Rpc:
    """One side of a JSON-RPC connection. The carrier hands it what arrives."""

    def __init__(self, tasks: TaskGroup) -> None:
        self.carrier: Carrier | None = None
        self.deadlines = Deadlines()
        self.stamp: Mapping[str, Any] = {}
        """Members of `_meta` in each request, as 2026-07-28 asks for."""
        self.reason: CloseReason | None = None
        self.closed = anyio.Event()
        self._tasks = tasks
        self._inbox = Inbox()
        self._ids = count()
        self._tokens = count()
        self._calls: dict[int, Call] = {}
        self._unanswered: set[int | str] = set()
        self._inputs: dict[int | str, Waiting] = {}

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: Mapping[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        """See `Session.request`."""
        if not self.stamp or method in NEGOTIATION:
            return await self._request(
                method, params, deadline=deadline, meta=meta, on_notice=on_notice
            )

        async def ask(more: dict[str, Any]) -> dict[str, Any]:
            return await self._request(
                method, {**(params or {}), **more}, deadline=None, meta=meta, on_notice=on_notice
            )

        with self.deadlines.limit(deadline):
            return await completed(await ask({}), ask, self._put)
        raise DeadlinePassed(method, deadline or 0.0)

    async def _request(
        self,
        method: str,
        params: dict[str, Any] | None,
        *,
        deadline: float | None,
        meta: Mapping[str, Any] | None,
        on_notice: OnNotice | None,
    ) -> dict[str, Any]:
        carrier = self._open_carrier()
        call = Call(next(self._ids), method, params, on_notice)
        self._put_meta(call, meta or {})
        self._calls[call.id] = call
        try:
            with self.deadlines.limit(deadline):
                carrier.begin(call)
                await call.settled.wait()
        finally:
            del self._calls[call.id]
            if not call.settled.is_set():
                carrier.abandon(call)
        if not call.settled.is_set():
            raise DeadlinePassed(method, deadline or 0.0)
        return call.outcome()

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        """See `Session.notify`."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        await self._open_carrier().send(message)

    async def respond(
        self, id: int | str, *, result: Any = None, error: dict[str, Any] | None = None
    ) -> None:
        """See `Session.respond`. An id that is not open (any more) is passed over."""
        if id not in self._unanswered:
            return
        self._unanswered.discard(id)
        answer: dict[str, Any] = {"error": error} if error else {"result": result}
        if (waiting := self._inputs.get(id)) is not None:
            waiting.answer(answer)
            return
        await self._open_carrier().send({"jsonrpc": "2.0", "id": id, **answer})

    def incoming(self) -> AsyncIterator[Incoming]:
        """See `Session.incoming`."""
        return self._inbox.stream()

    def received(self, message: Any, *, own: Call | None = None) -> None:
        """A parsed message of the server.

        Args:
            message: Any JSON value; what is no message is passed over.
            own: The call whose own HTTP answer this came in; an error without id is its.
        """
        if isinstance(message, list):  # a batch, as until 2025-03-26
            for each in cast(list[Any], message):
                if not isinstance(each, list):
                    self.received(each, own=own)
            return
        if not isinstance(message, dict):
            return
        body = cast(dict[str, Any], message)
        method, params = body.get("method"), body.get("params")
        if isinstance(method, str):
            self._asked(method, _object(params), body.get("id"))
        elif "result" in body or "error" in body:
            self._answered(body, own)

    def restart_tokens(self, call: Call) -> None:
        """A new session counts progress tokens from 0; `call` is sent again in it."""
        self._tokens = count()
        if call.token is not None:
            call.token = next(self._tokens)
            call.params = {**(call.params or {})}
            call.params["_meta"] = {**call.params["_meta"], "progressToken": call.token}

    def close(self, reason: CloseReason) -> None:
        """The connection has ended; the first reason counts. All calls fail."""
        if self.reason is not None:
            return
        self.reason = reason
        for call in list(self._calls.values()):
            call.fail(SessionClosed(reason))
        for waiting in self._inputs.values():
            waiting.fail(SessionClosed(reason))
        self._inbox.close()
        self.closed.set()

    def _open_carrier(self) -> Carrier:
        if self.reason is not None:
            raise SessionClosed(self.reason)
        if self.carrier is None:
            raise SessionClosed(CloseReason(text="The session is not open"))
        return self.carrier

    def _put_meta(self, call: Call, meta: Mapping[str, Any]) -> None:
        own: dict[str, Any] = {**_object((call.params or {}).get("_meta")), **meta, **self.stamp}
        if call.method not in NEGOTIATION:
            call.token = own["progressToken"] = next(self._tokens)
        if own:
            call.params = {"_meta": own} | {
                key: value for key, value in (call.params or {}).items() if key != "_meta"
            }

    def _answered(self, body: dict[str, Any], own: Call | None) -> None:
        number = body.get("id")
        known = isinstance(number, int | float) and not isinstance(number, bool)
        call = self._calls.get(cast(int, number)) if known else None
        if call is None and own is not None and (own.resumed or number is None):
            call = own
        if call is None:
            return  # late, twice, or nobody's
        error = body.get("error")
        if error is not None:
            call.fail(_peer_error(error))
        elif body.get("result") is None:
            call.succeed({})
        elif isinstance(body["result"], dict):
            call.succeed(cast(dict[str, Any], body["result"]))
        else:
            call.fail(PeerError(INTERNAL, "Unexpected response type"))

    def _asked(self, method: str, params: dict[str, Any], number: Any) -> None:
        if number is None:
            if method == "notifications/cancelled":
                self._forget(params.get("requestId"))
            self._noticed(Incoming(method=method, params=params))
            return
        if not isinstance(number, int | str) or isinstance(number, bool):
            return  # no valid id, so nothing to answer to
        if method == "ping":
            self._answer_soon(number, {"result": {}})
            return
        self._offer(number, method, params)

    def _offer(self, number: int | str, method: str, params: dict[str, Any]) -> None:
        """To whoever takes requests of the server; refused when nobody does."""
        taken = self._inbox.put_request(Incoming(method=method, params=params, id=number))
        if taken is None:
            self._refuse(number)
            return
        self._unanswered.add(number)
        self._tasks.start_soon(self._refuse_unclaimed, number, taken)

    async def _put(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Have a question in a result answered as a request of the server would be."""
        number = f"input:{next(self._ids)}"
        waiting = self._inputs[number] = Waiting()
        try:
            self._offer(number, method, params)
            return await waiting.outcome()
        finally:
            del self._inputs[number]
            if number in self._unanswered:  # nobody waits any more: whoever is asked may stop
                self._forget(number)
                params = {"requestId": number}
                self._inbox.put(Incoming(method="notifications/cancelled", params=params))

    def _forget(self, number: Any) -> None:
        """The server no longer wants an answer to its request."""
        if isinstance(number, int | str) and number in self._unanswered:
            self._unanswered.discard(number)
            self._inbox.withdraw(number)

    def _noticed(self, notice: Incoming) -> None:
        listener = self._listener(notice.params)
        if listener is not None:
            listener(notice)
        else:
            self._inbox.put(notice)

    def _listener(self, params: dict[str, Any]) -> OnNotice | None:
        """Of the call that a notification names as its own."""
        token = params.get("progressToken")
        number = _object(params.get("_meta")).get(SUBSCRIPTION_ID)
        for call in self._calls.values():
            mine = (token is not None and call.token == token) or call.id == number
            if mine and call.on_notice is not None and not call.settled.is_set():
                return call.on_notice
        return None

    async def _refuse_unclaimed(self, number: int | str, taken: anyio.Event) -> None:
        with anyio.move_on_after(UNCLAIMED_AFTER):
            await taken.wait()
            return
        self._inbox.withdraw(number)
        self._unanswered.discard(number)
        self._refuse(number)

    def _refuse(self, number: int | str) -> None:
        error = {"code": METHOD_NOT_FOUND, "message": "Method not found"}
        if (waiting := self._inputs.get(number)) is not None:
            waiting.answer({"error": error})
            return
        self._answer_soon(number, {"error": error})

    def _answer_soon(self, number: int | str, answer: dict[str, Any]) -> None:
        async def answer_it() -> None:
            try:
                await self._open_carrier().send({"jsonrpc": "2.0", "id": number, **answer})
            except (SessionClosed, HttpFailed):
                return

        if self.reason is None:
            self._tasks.start_soon(answer_it)


def _object(value: Any) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _peer_error(error: Any) -> CoreError:
    members = _object(error)
    code = members.get("code")
    message = members.get("message")
    return PeerError(
        code if isinstance(code, int) else INTERNAL,
        message if isinstance(message, str) else str(error)[:200],
        members.get("data"),
    )
