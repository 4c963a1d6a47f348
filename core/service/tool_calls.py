"""Calls of tools that a person makes by hand: running ones, their ends, and what was called."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import msgspec

from core.errors import CoreError, InternalError, InvalidRequest, PeerError
from core.mcp.client.session import Incoming
from core.mcp.followers import connection_of
from core.mcp.masking import Secrets
from core.mcp.showing import (
    META_BYTES,
    STRUCTURED_BYTES,
    masked,
    shown_blocks,
    shown_value,
    size_of,
)
from core.ports import Clock
from core.protocol.events import Event, OperationProgress
from core.protocol.jackfield_tools import CallOutcome, PastCall, ToolCallParams, ToolCallResult

if TYPE_CHECKING:
    from core.protocol.mcp import McpServerToolCallResult
    from core.threads.thread import Thread

HISTORY = 100
SAID_CHARS = 200
KEPT_BYTES = 256 << 10
"""Arguments above this are not kept for another call."""
MOST_RUNNING = 32
TOLD_EVERY = 0.1
"""Seconds between two progress events of one call, however many notifications there are."""


@dataclass(eq=False)
class _Running:
    """A call under way."""

    call_id: str
    id: str
    arguments: dict[str, Any] | None
    secrets: Secrets
    at: float
    began: float
    scope: anyio.CancelScope
    told_at: float = 0.0


@dataclass(frozen=True)
class _Past:
    call: PastCall
    arguments: dict[str, Any] | None


class ToolCalls:
    """Keeps the running calls and the last ones that have ended; in memory only.

    Emits: `OperationProgress` per call: `running` with its progress, then `done`, `failed` or
    `cancelled`.
    """

    def __init__(
        self, thread: Callable[[], Thread], clock: Clock, emit: Callable[[Event], None]
    ) -> None:
        self._thread, self._clock, self._emit = thread, clock, emit
        self._running: dict[str, _Running] = {}
        self._past: deque[_Past] = deque(maxlen=HISTORY)
        self._numbers = count(1)

    async def call(self, params: ToolCallParams) -> ToolCallResult:
        """Call and wait for the end.

        Raises:
            InvalidRequest: It cannot be called at all; nothing was sent.
        """
        one = self._begin(params)
        outcome: CallOutcome = "cancelled"
        result = ToolCallResult(call_id=one.call_id, id=one.id, outcome=outcome)
        try:
            with one.scope:
                result = await self._ask(one)
            if one.scope.cancelled_caught:
                result = msgspec.structs.replace(result, duration_ms=_ms(one))
            return result
        finally:
            del self._running[one.call_id]
            self._ended(one, result)

    def cancel(self, call_id: str) -> bool:
        """End a call; the server is told. False when it does not run."""
        one = self._running.get(call_id)
        if one is not None:
            one.scope.cancel()
        return one is not None

    def history(self, tool_id: str = "") -> tuple[PastCall, ...]:
        """What was called, newest first."""
        calls = (past.call for past in reversed(self._past))
        return tuple(call for call in calls if not tool_id or call.id == tool_id)

    def _begin(self, params: ToolCallParams) -> _Running:
        server, slash, tool = params.id.partition("/")
        if not slash or not tool:
            raise InvalidRequest(f"{params.id!r} is not SERVER/TOOL")
        connection = connection_of(self._thread().runtime, server)
        call_id = params.call_id or f"call-{next(self._numbers)}"
        if call_id in self._running:
            raise InvalidRequest(f"call {call_id!r} is running already")
        if len(self._running) >= MOST_RUNNING:
            raise InvalidRequest(f"at most {MOST_RUNNING} calls run at once")
        arguments = self._arguments_of(params.again) if params.again else params.arguments
        one = self._running[call_id] = _Running(
            call_id=call_id,
            id=params.id,
            arguments=arguments,
            secrets=connection.spec.secrets,
            at=self._clock.now(),
            began=anyio.current_time(),
            scope=anyio.CancelScope(),
        )
        self._tell(one)
        return one

    def _arguments_of(self, call_id: str) -> dict[str, Any] | None:
        for past in reversed(self._past):
            if past.call.call_id == call_id:
                if past.arguments is None and past.call.arguments is not None:
                    raise InvalidRequest("the arguments of that call were too long to be kept")
                return past.arguments
        raise InvalidRequest(f"call {call_id!r} is not in the history")

    # -- asking

    async def _ask(self, one: _Running) -> ToolCallResult:
        # The wire's models take a while to load, and the screen must go on.
        await anyio.to_thread.run_sync(import_module, "core.mcp.calls")
        from core.mcp.calls import call_tool
        from core.protocol.mcp import McpServerToolCallParams

        one.began = anyio.current_time()
        thread = self._thread()
        server, _, tool = one.id.partition("/")
        params = McpServerToolCallParams(
            thread_id=thread.id, server=server, tool=tool, arguments=one.arguments
        )
        try:
            answer = await call_tool(
                params, thread.id, thread.runtime, on_notice=partial(self._heard, one)
            )
        except CoreError as error:
            return self._failed(one, error)
        return await anyio.to_thread.run_sync(self._answered, one, answer, _ms(one))

    def _failed(self, one: _Running, error: CoreError) -> ToolCallResult:
        reason = error.message
        if isinstance(error, PeerError):
            reason = f"{error.message} (error {error.code} to tools/call)"
        elif isinstance(error, InternalError) and error.evidence and error.evidence.wire:
            reason = error.evidence.wire
        return ToolCallResult(
            call_id=one.call_id,
            id=one.id,
            outcome="failed",
            reason=one.secrets.mask(reason),
            hint=error.hint,
            duration_ms=_ms(one),
        )

    @staticmethod
    def _answered(one: _Running, answer: McpServerToolCallResult, ms: float) -> ToolCallResult:
        shown = shown_blocks(answer.content, one.secrets)
        structured = "structured_content" in answer.model_fields_set
        content: Any = None
        if structured:
            content = shown_value(
                answer.structured_content,
                one.secrets,
                limit=STRUCTURED_BYTES,
                what="structured content",
                shown=shown,
            )
            structured = content is not None or answer.structured_content is None
        meta = shown_value(answer.meta, one.secrets, limit=META_BYTES, what="_meta", shown=shown)
        return ToolCallResult(
            call_id=one.call_id,
            id=one.id,
            outcome="answered",
            content=tuple(shown.blocks),
            structured=structured,
            structured_content=content,
            is_error=bool(answer.is_error),
            meta=meta,
            duration_ms=ms,
            bytes=shown.bytes,
            cut=shown.cut,
        )

    # -- telling

    def _heard(self, one: _Running, notice: Incoming) -> None:
        if notice.method != "notifications/progress":
            return
        now = anyio.current_time()
        if now - one.told_at < TOLD_EVERY:
            return
        one.told_at = now
        done, total = _number(notice.params.get("progress")), _number(notice.params.get("total"))
        share = min(1.0, max(0.0, done / total)) if done is not None and total else None
        said = notice.params.get("message")
        note = one.secrets.mask(said[:SAID_CHARS]) if isinstance(said, str) else ""
        if not note and share is None and done is not None:
            note = f"{done:g}"
        self._tell(one, share=share, note=note)

    def _tell(
        self, one: _Running, state: str = "running", share: float | None = None, note: str = ""
    ) -> None:
        self._emit(
            OperationProgress(
                at=self._clock.now(),
                id=one.call_id,
                subject=one.id,
                verb="calling",
                state=state,
                share=share,
                note=note,
            )
        )

    def _ended(self, one: _Running, result: ToolCallResult) -> None:
        known = size_of(one.arguments) <= KEPT_BYTES
        told: dict[str, Any] | None = masked(one.arguments, one.secrets) if known else {}
        outcome = "toolError" if result.is_error else result.outcome
        call = PastCall(
            call_id=one.call_id,
            id=one.id,
            arguments=told,
            masked=told != one.arguments,
            at=one.at,
            duration_ms=result.duration_ms or _ms(one),
            outcome=outcome,
            said=_said(result),
            bytes=result.bytes,
        )
        self._past.append(_Past(call, one.arguments if known else None))
        states = {"answered": "done", "toolError": "done"}
        # What a tool says may be anything, an answer of the person's too: it is no news.
        note = "the tool says that it failed" if outcome == "toolError" else result.reason
        self._tell(one, states.get(outcome, outcome), note=note[:SAID_CHARS])


def _said(result: ToolCallResult) -> str:
    if result.reason:
        return result.reason[:SAID_CHARS]
    texts = (block.get("text") for block in result.content)
    text = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return text.strip().split("\n", 1)[0][:SAID_CHARS]


def _ms(one: _Running) -> float:
    return round((anyio.current_time() - one.began) * 1000, 1)


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if known else None
