"""Requests to an app-server elsewhere, and what it answers and tells."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable
from typing import Any

import anyio
import msgspec

from core.appserver.outgoing import Outgoing
from core.client.wires import Wire
from core.errors import CoreError, InvalidRequest, PeerError, Unavailable
from core.protocol.jackfield_wire import ErrorMore
from core.protocol.jsonrpc import Answer, Notification, Refusal, Request, parse_line

log = logging.getLogger(__name__)

LINE_LIMIT = 64 << 20
"""Bytes; of a longer line nothing is kept."""
SILENCE = 30.0
"""Seconds without a word, while an answer is awaited, after which the other side is asked whether
it is there; after as many again it counts as gone."""
_AHEAD = 8 << 20  # bytes of requests that may wait before more callers have to
_ODD = 3  # lines that are no messages and are kept
_HEAD = 200  # bytes of a line that is not kept
_WHOSE = re.compile(rb'\s*\{\s*"id"\s*:\s*(\d{1,18})\s*,\s*"result"')
_PROBE = "jackfield/status"


class Peer:
    """One connection. `run` it; until it ends, `ask`.

    Args:
        told: Called with each notification: method and parameters as JSON text.
        missed: Called when something was told that was too long to be heard.
        now: Seconds since the epoch.
    """

    def __init__(
        self,
        wire: Wire,
        told: Callable[[str, bytes], None],
        missed: Callable[[], None],
        now: Callable[[], float],
    ) -> None:
        self._wire, self._told, self._missed = wire, told, missed
        self._outgoing = Outgoing(wire.send, now, high_water=_AHEAD)
        self._waiting: dict[int, _Call] = {}
        self._heard = 0.0
        self._odd: list[bytes] = []
        self._understood = False
        self._over = ""
        self._scope = anyio.CancelScope()

    @property
    def over(self) -> str:
        """Why nothing can be asked any more, or ""."""
        return self._over

    async def ask(self, method: str, params: Any) -> bytes:
        """The result as JSON text.

        Raises:
            CoreError: The other side's refusal; `Unavailable` when the connection ends first.
        """
        await self._outgoing.room()
        if self._over:
            raise Unavailable(self._over)
        call = _Call(method)
        if not self._waiting:
            self._heard = anyio.current_time()
        id = self._outgoing.ask(method, params)
        self._waiting[id] = call
        try:
            await call.over.wait()
        finally:
            self._waiting.pop(id, None)
        if call.error is not None:
            raise call.error
        return call.result

    def tell(self, method: str, params: Any) -> None:
        """A notification."""
        self._outgoing.notify(method, params)

    def hang_up(self) -> None:
        """Let `run` end."""
        self._scope.cancel()

    async def run(self) -> str:
        """Talk until the connection ends; why it did, or "" when we hung up."""
        self._heard = anyio.current_time()
        why = ""
        try:
            with self._scope:
                why = await self._talk()
        finally:
            self._end(why or "the session has ended")
            await self._wire.end()
        return why

    async def _talk(self) -> str:
        why = ""
        silent = anyio.Event()
        async with anyio.create_task_group() as tasks:
            for task in (self._outgoing.run, self._wire.run):
                tasks.start_soon(task)
            tasks.start_soon(self._watch, silent, tasks.cancel_scope)
            async for line in self._lines():
                self._take(line)
            why = self._why(await self._wire.last_words())
            tasks.cancel_scope.cancel()
        return f"no word from it for {2 * SILENCE:g}s" if silent.is_set() else why

    def _end(self, why: str) -> None:
        self._over = why
        self._outgoing.finish()
        for call in self._waiting.values():
            call.fail(Unavailable(f"{call.method}: no answer, the connection is lost: {why}"))

    def _why(self, said: str) -> str:
        if self._odd and not self._understood:
            odd = self._odd[0][:60].decode("utf-8", "replace")
            return f"it does not speak the app-server protocol; it said {odd!r}"
        return said or "it has hung up"

    async def _watch(self, silent: anyio.Event, scope: anyio.CancelScope) -> None:
        """End a connection on which nothing comes although something is awaited."""
        probed = False
        while True:
            await anyio.sleep(SILENCE)
            quiet = anyio.current_time() - self._heard >= SILENCE
            if not self._waiting or not quiet:
                probed = False
            elif not probed:
                probed = True
                self._outgoing.ask(_PROBE, {})
            else:
                silent.set()
                scope.cancel()

    async def _lines(self) -> AsyncGenerator[bytes]:
        parts, size = list[bytes](), 0
        while data := await self._wire.receive():
            self._heard = anyio.current_time()
            *whole, rest = data.split(b"\n")
            for piece in whole:
                parts.append(piece)
                if size + len(piece) <= LINE_LIMIT:
                    yield b"".join(parts)
                else:
                    self._skip(b"".join(parts[:1]))
                parts, size = [], 0
            size += len(rest)
            parts.append(rest)
            if size > LINE_LIMIT:  # only its beginning is of use: it may say whose answer it is
                parts = [b"".join(parts)[:_HEAD]]

    def _skip(self, head: bytes) -> None:
        """A line was too long: whoever waits for it must not wait for ever."""
        log.warning("a line of more than %d bytes was thrown away", LINE_LIMIT)
        found = _WHOSE.match(head)
        call = self._waiting.get(int(found[1])) if found else None
        if call is not None:
            call.fail(Unavailable(f"{call.method}: the answer is too long ({LINE_LIMIT} bytes)"))
        elif found is None:
            self._missed()

    def _take(self, line: bytes) -> None:
        message = parse_line(line)
        self._understood = self._understood or message is not None
        match message:
            case Answer(int() as id, result):
                if (call := self._waiting.get(id)) is not None:
                    call.answer(result)
            case Refusal(int() as id, error):
                if (call := self._waiting.get(id)) is not None:
                    call.fail(_refusal(error))
            case Notification(method, params):
                self._told(method, params)
            case Request(id, method):
                self._outgoing.refuse(id, InvalidRequest(f"{method} is not answered here"))
            case None if line.strip() and len(self._odd) < _ODD:
                log.warning("no message: %r", line[:_HEAD])
                self._odd.append(line[:_HEAD])
            case _:
                pass


class _Call:
    """A request that waits for its answer."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.over = anyio.Event()
        self.result = b""
        self.error: CoreError | None = None

    def answer(self, result: bytes) -> None:
        self.result = result
        self.over.set()

    def fail(self, error: CoreError) -> None:
        self.error = error
        self.over.set()


class _Error(msgspec.Struct):
    code: int = -32603
    message: str = "it failed and does not say why"
    data: msgspec.Raw = msgspec.Raw(b"")


def _refusal(text: bytes) -> CoreError:
    """The other side's error, with what only a panel is told where it told us."""
    try:
        error = msgspec.json.decode(text, type=_Error)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return PeerError(-32603, "it failed and does not say why in words that can be read")
    data = bytes(error.data)
    if not data:
        return PeerError(error.code, error.message)
    try:
        more = msgspec.json.decode(data, type=ErrorMore)
    except (msgspec.MsgspecError, RecursionError):
        return PeerError(error.code, error.message, _value(data))
    known = CoreError(
        error.message,
        code=error.code,
        data=None if more.data is msgspec.UNSET else more.data,
        evidence=more.evidence,
        hint=more.hint,
    )
    known.words = more.words or known.message
    return known


def _value(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
