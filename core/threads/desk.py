"""Questions of servers that wait for the person in front of the panel."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import anyio

from core.mcp.elicitation import Answer, Question
from core.ports import Clock
from core.protocol.events import ElicitationClosed, ElicitationRequested


class Desk:
    """Shows questions as occurrences and waits for `answer`; the `Asker` of the panel's thread.

    Emits: `ElicitationRequested`, and `ElicitationClosed` once nobody waits any more.
    """

    def __init__(
        self, emit: Callable[[ElicitationRequested | ElicitationClosed], None], clock: Clock
    ) -> None:
        self._emit, self._clock = emit, clock
        self._numbers = count(1)
        self._open: dict[str, _Open] = {}

    async def ask(self, server: str, environment_id: str | None, question: Question) -> Answer:
        """Wait for the answer, for as long as it takes."""
        key = f"question-{next(self._numbers)}"
        asked = ElicitationRequested(
            at=self._clock.now(),
            id=key,
            server=server,
            mode=question.mode,
            message=question.message,
            requested_schema=question.schema,
            url=question.url,
        )
        waiting = self._open[key] = _Open(asked)
        self._emit(asked)
        try:
            await waiting.settled.wait()
            return waiting.answer
        finally:
            del self._open[key]
            how = "answered" if waiting.settled.is_set() else "withdrawn"
            self._emit(ElicitationClosed(at=self._clock.now(), id=key, server=server, how=how))

    def questions(self) -> tuple[ElicitationRequested, ...]:
        """Those that wait for an answer, oldest first."""
        return tuple(one.asked for one in self._open.values() if not one.settled.is_set())

    def answer(self, key: str, answer: Answer) -> bool:
        """False when nobody waits for it (any more)."""
        waiting = self._open.get(key)
        if waiting is None or waiting.settled.is_set():
            return False
        waiting.answer = answer
        waiting.settled.set()
        return True


class _Open:
    def __init__(self, asked: ElicitationRequested) -> None:
        self.asked = asked
        self.settled = anyio.Event()
        self.answer = Answer(action="decline")
