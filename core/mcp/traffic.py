"""A session that tells what passes through it, secrets masked, for the panel's activity."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import anyio
import msgspec

from core.errors import CoreError, PeerError
from core.mcp.client.session import CloseReason, Incoming, OnNotice, ServerHello, Session
from core.mcp.masking import MASK
from core.mcp.spec import ServerSpec
from core.ports import Clock
from core.protocol.events import Traffic

TEXT_CHARS = 2000
_WINDOW = 1 << 16  # masking makes text shorter; more than this is not looked at


class Recorded:
    """Wraps a `Session`; everything is passed on unchanged."""

    def __init__(
        self, session: Session, spec: ServerSpec, emit: Callable[[Traffic], None], clock: Clock
    ) -> None:
        self._session, self._spec, self._emit, self._clock = session, spec, emit, clock
        self._questions: set[int | str] = set()

    async def open(self, *, deadline: float) -> ServerHello:
        began = anyio.current_time()
        self._tell("out", "initialize", {})
        try:
            hello = await self._session.open(deadline=deadline)
        except CoreError as error:
            self._tell_error("initialize", error, began)
            raise
        self._tell("in", "initialize", hello.raw, _ms(began))
        return hello

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: dict[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        began = anyio.current_time()
        self._tell("out", method, {**(params or {}), "_meta": meta} if meta else params or {})
        try:
            result = await self._session.request(
                method, params, deadline=deadline, meta=meta, on_notice=on_notice
            )
        except CoreError as error:
            self._tell_error(method, error, began)
            raise
        self._tell("in", method, result, _ms(began))
        return result

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self._tell("out", method, params or {})
        await self._session.notify(method, params)

    async def respond(
        self, id: int | str, *, result: Any = None, error: dict[str, Any] | None = None
    ) -> None:
        told = self._untold(id, result)
        self._tell("out", "", {"id": id, **({"error": error} if error else {"result": told})})
        await self._session.respond(id, result=result, error=error)

    @property
    def incoming(self) -> AsyncIterator[Incoming]:
        return self._listened()

    async def _listened(self) -> AsyncIterator[Incoming]:
        async for message in self._session.incoming:
            self._tell("in", message.method, message.params)
            if message.method == "elicitation/create" and message.id is not None:
                self._questions.add(message.id)
            yield message

    def _untold(self, id: int | str, result: Any) -> Any:
        """The answer to a question without what the person filled in."""
        if id not in self._questions:
            return result
        self._questions.discard(id)
        if not isinstance(result, dict) or "content" not in result:
            return cast("Any", result)
        return {**cast("dict[str, Any]", result), "content": MASK}

    def pause_deadlines(self) -> None:
        self._session.pause_deadlines()

    def resume_deadlines(self) -> None:
        self._session.resume_deadlines()

    async def closed(self) -> CloseReason:
        return await self._session.closed()

    @property
    def pid(self) -> int | None:
        return self._session.pid

    @property
    def heard_at(self) -> float:
        return self._session.heard_at

    @property
    def tail(self) -> tuple[str, ...]:
        return self._session.tail

    async def aclose(self, grace: float = 0.5) -> None:
        await self._session.aclose(grace)

    def _tell_error(self, method: str, error: CoreError, began: float) -> None:
        code = error.code if isinstance(error, PeerError) else None
        told = {"error": {"code": code, "message": error.message}}
        self._tell("in", method, told, _ms(began))

    def _tell(self, direction: str, method: str, body: Any, ms: float | None = None) -> None:
        whole = msgspec.json.encode(body)
        text = whole[:_WINDOW].decode("utf-8", "ignore")
        self._emit(
            Traffic(
                at=self._clock.now(),
                name=self._spec.name,
                direction="in" if direction == "in" else "out",
                method=method,
                text=self._spec.secrets.mask(text)[:TEXT_CHARS],
                ms=ms,
                bytes=len(whole),
            )
        )


def _ms(began: float) -> float:
    return round((anyio.current_time() - began) * 1000, 1)
