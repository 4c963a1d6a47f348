"""What the server says on its own account, until somebody takes it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator

import anyio

from core.mcp.client.session import Incoming

CAPACITY = 1024
REQUESTS_KEPT = 32
_CHANGES = frozenset(
    f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")
)


class Inbox:
    """Notifications and server requests in order, bounded.

    A flood never holds up the answers behind it. Of `…/list_changed` one waits at most, and it is
    never dropped; of other notifications the oldest give way. Requests that find no room are the
    caller's to refuse.
    """

    def __init__(self, capacity: int = CAPACITY, requests: int = REQUESTS_KEPT) -> None:
        self._capacity, self._most_requests = capacity, requests
        self._waiting: deque[Incoming] = deque()
        self._requests: dict[int | str, anyio.Event] = {}
        self._changes: set[str] = set()
        self._news = anyio.Event()
        self._closed = False
        self.dropped = 0

    def put(self, message: Incoming) -> None:
        """A notification."""
        if message.method in _CHANGES:
            if message.method in self._changes:
                return
            self._changes.add(message.method)
        elif len(self._waiting) >= self._capacity and not self._make_room():
            self.dropped += 1
            return
        self._waiting.append(message)
        self._news.set()

    def put_request(self, message: Incoming) -> anyio.Event | None:
        """A request of the server; the event is set when somebody takes it. None = no room."""
        if message.id is None or self._closed or len(self._requests) >= self._most_requests:
            return None
        taken = self._requests[message.id] = anyio.Event()
        self._waiting.append(message)
        self._news.set()
        return taken

    def withdraw(self, request_id: int | str) -> None:
        """Take a request back that nobody took in time."""
        if self._requests.pop(request_id, None) is not None:
            kept = [message for message in self._waiting if message.id != request_id]
            self._waiting = deque(kept)

    def close(self) -> None:
        """Whoever iterates gets what waits, then the end."""
        self._closed = True
        self._news.set()

    async def stream(self) -> AsyncGenerator[Incoming]:
        """The messages as they come; for one consumer."""
        while True:
            while self._waiting:
                yield self._take()
            if self._closed:
                return
            self._news = anyio.Event()
            await self._news.wait()

    def _take(self) -> Incoming:
        message = self._waiting.popleft()
        self._changes.discard(message.method)
        if message.id is not None and (taken := self._requests.pop(message.id, None)):
            taken.set()
        return message

    def _make_room(self) -> bool:
        for index, message in enumerate(self._waiting):
            if message.id is None and message.method not in self._changes:
                del self._waiting[index]
                self.dropped += 1
                return True
        return False
