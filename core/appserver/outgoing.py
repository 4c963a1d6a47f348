"""Everything that goes to one client: one queue, in order, nothing lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio

from core.errors import CoreError
from core.protocol.jsonrpc import (
    RequestId,
    answer_line,
    encode_value,
    notification_line,
    refusal_line,
    request_line,
)

HIGH_WATER = 8 << 20
"""Bytes that may wait before `room` makes the reader wait."""


class Outgoing:
    """Takes messages at any time and writes them one after the other.

    Putting never blocks and never fails, since a thread's notification must neither wait nor get
    lost. What bounds the queue is that nothing new is read from a client that does not read.
    """

    def __init__(
        self,
        write: Callable[[bytes], Awaitable[None]],
        now: Callable[[], float],
        *,
        high_water: int = HIGH_WATER,
    ) -> None:
        self._write = write
        self._now = now
        self._high_water = high_water
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._asked = 0
        self._closed = False
        self._filled = anyio.Event()
        self._drained = anyio.Event()

    def answer(self, id: RequestId, result: bytes) -> None:
        """The result of a request, as JSON text."""
        self._put(answer_line(id, result))

    def refuse(self, id: RequestId, error: CoreError) -> None:
        """The error of a request."""
        self._put(refusal_line(id, error.code, error.message, error.data))

    def notify(self, method: str, params: Any) -> None:
        """A notification, stamped with the time at which it is put."""
        self._put(notification_line(method, encode_value(params), int(self._now() * 1000)))

    def ask(self, method: str, params: Any) -> int:
        """A request to the client; its id, from 0 up, is our own count."""
        id = self._asked
        self._asked += 1
        self._put(request_line(id, method, encode_value(params)))
        return id

    async def room(self) -> None:
        """Wait until the client has read enough of what waits for it."""
        while self._size > self._high_water and not self._closed:
            self._drained = anyio.Event()
            await self._drained.wait()

    def finish(self) -> None:
        """Nothing more comes: `run` ends after what waits; later messages are dropped."""
        self._closed = True
        self._filled.set()
        self._drained.set()

    async def run(self) -> None:
        """Write until `finish`, or until nobody reads any more."""
        try:
            while self._waiting or not self._closed:
                if not self._waiting:
                    self._filled = anyio.Event()
                    await self._filled.wait()
                    continue
                batch = b"".join(self._waiting)
                self._waiting.clear()
                await self._write(batch)
                self._size = sum(map(len, self._waiting))
                self._drained.set()
        except anyio.BrokenResourceError:
            self._waiting.clear()
        finally:
            self.finish()

    def _put(self, line: bytes) -> None:
        if not self._closed:
            self._waiting.append(line)
            self._size += len(line)
            self._filled.set()
