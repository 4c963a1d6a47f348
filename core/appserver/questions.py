"""Requests of ours to the client, and what comes back for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import msgspec

from core.appserver.outgoing import Outgoing
from core.errors import CoreError, InternalError, PeerError, Unavailable
from core.protocol.jsonrpc import Answer, Refusal


class _Question:
    def __init__(self, thread_id: str | None) -> None:
        self.thread_id = thread_id
        self.over = anyio.Event()
        self.result: Any = None
        self.error: CoreError | None = None


class Questions:
    """The client is told when a question of a thread is settled, whoever settled it.

    Attributes:
        when_asked: Called after each question.
    """

    def __init__(self, outgoing: Outgoing) -> None:
        self.when_asked: Callable[[], None] = _nothing
        self._outgoing = outgoing
        self._open: dict[int, _Question] = {}
        self._closed = False

    @property
    def pending(self) -> bool:
        """Something waits for the client."""
        return bool(self._open)

    async def ask(self, method: str, params: Any) -> Any:
        """Ask and wait, for as long as it takes; the answer as parsed JSON.

        Raises:
            PeerError: The client answered with an error.
            Unavailable: It has gone.
        """
        if self._closed:
            raise _gone()
        question = _Question(_thread_of(params))
        id = self._outgoing.ask(method, params)
        self._open[id] = question
        self.when_asked()
        try:
            await question.over.wait()
        finally:
            if self._open.pop(id, None) is not None:
                self._settled(id, question)
        if question.error is not None:
            raise question.error
        return question.result

    def answered(self, message: Answer | Refusal) -> None:
        """What the client sent; one that answers no open question is ignored."""
        question = self._open.pop(message.id, None) if isinstance(message.id, int) else None
        if question is None or not isinstance(message.id, int):
            return
        try:
            if isinstance(message, Answer):
                question.result = json.loads(message.result)
            else:
                question.error = _peer_error(message.error)
        except (ValueError, RecursionError):
            question.error = InternalError("the client's answer cannot be read")
        self._settled(message.id, question)
        question.over.set()

    def close(self) -> None:
        """The client has gone: nobody waits any longer."""
        self._closed = True
        for question in self._open.values():
            question.error = _gone()
            question.over.set()
        self._open.clear()

    def _settled(self, id: int, question: _Question) -> None:
        if question.thread_id is not None:
            self._outgoing.notify(
                "serverRequest/resolved", {"threadId": question.thread_id, "requestId": id}
            )


def _nothing() -> None:
    """Nobody wants to know."""


def _gone() -> Unavailable:
    return Unavailable("the client has gone")


def _thread_of(params: Any) -> str | None:
    if isinstance(params, dict):
        found: object = params.get("threadId")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- JSON of any shape
    else:
        found = getattr(params, "thread_id", None)
    return found if isinstance(found, str) else None


class _PeerError(msgspec.Struct):
    code: int = -32603
    message: str = ""
    data: Any = None


def _peer_error(text: bytes) -> PeerError:
    error = msgspec.json.decode(text, type=_PeerError)
    return PeerError(error.code, error.message, error.data)
