"""What servers say while they start, brought to their rows a few times a second."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from core.mcp.board import ServerBoard
from core.mcp.traffic_log import TrafficLog
from core.ports import Clock
from core.protocol.events import Event, ServerHappened
from core.threads.thread import Thread

TOLD_EVERY = 0.15
"""Seconds between two looks, however much is said."""


class Overhearing:
    """Follows a log of what is written beside the protocol.

    Emits: `ServerHappened` `stderr` with the last line of a server that is starting.
    """

    def __init__(
        self, board: ServerBoard, log: TrafficLog, clock: Clock, emit: Callable[[Event], None]
    ) -> None:
        self._board, self.log = board, log
        self._clock, self._emit = clock, emit
        self._spoken: set[str] = set()
        self._speaking = anyio.Event()
        log.stirred = self._overheard

    def _overheard(self, name: str) -> None:
        self._spoken.add(name)
        self._speaking.set()

    async def keep(self, thread: Thread) -> None:
        """A task, for as long as the thread lives."""
        while True:
            await self._speaking.wait()
            await self._clock.sleep(TOLD_EVERY)
            self._speaking = anyio.Event()
            names, self._spoken = self._spoken, set()
            connections = thread.runtime.connections
            for name in sorted(names & connections.keys()):
                if connections[name].status == "starting":
                    self._board.update(connections[name])
                    self._tell(thread, name)

    def _tell(self, thread: Thread, name: str) -> None:
        self._emit(
            ServerHappened(
                at=self._clock.now(),
                thread_id=thread.id,
                name=name,
                what="stderr",
                text=self.log.last_words(name),
            )
        )
