"""The two channels: state, conflated and never lost; occurrences, bounded with a count of loss.

A slow subscriber never blocks the core. State events wait per subscriber and per domain: a newer
difference is folded into the waiting one. Occurrences wait in a ring; what falls out is counted
and told by one `Lagged` before the next that arrives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from core.errors import CoreError
from core.protocol.events import (
    CoreEvent,
    Event,
    Lagged,
    Occurrence,
    RefreshEvent,
    RefreshProgress,
    StateChanged,
)

OCCURRENCES_KEPT = 2048


def _fold(older: StateChanged, newer: StateChanged) -> StateChanged:
    """Both differences as one.

    What the older upserted and the newer removed is only removed. What left and came back stays
    among the removed as well, since it came back at the end: removals are applied first. Where
    anything leaves, the whole is final, for only final differences remove.
    """
    rows: dict[str, Any] = {row.id: row for row in older.upserted}
    gone = dict.fromkeys(older.removed)
    for key in newer.removed:
        rows.pop(key, None)
        gone[key] = None
    for row in newer.upserted:
        rows[row.id] = row
    order = newer.order
    if order is None and older.order is not None:
        kept = [key for key in older.order if key not in set(newer.removed)]
        known = set(kept)
        order = tuple(kept + [row.id for row in newer.upserted if row.id not in known])
    return msgspec.structs.replace(
        newer,
        phase="final" if gone else newer.phase,
        upserted=tuple(rows.values()),
        removed=tuple(gone),
        order=order,
    )


class Subscription:
    """One subscriber's view: iterate it for events, oldest first."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._steady: dict[object, Event] = {}  # state and refreshes, in order of first arrival
        self._occurred: deque[Occurrence] = deque()
        self._skipped = 0
        self._wake = anyio.Event()
        self._closed = False
        self._failure: CoreError | None = None

    def put(self, event: Event) -> None:
        """Called by the hub on the event loop; never blocks, never raises."""
        match event:
            case StateChanged():
                key = (event.domain,)
                waiting = self._steady.get(key)
                if isinstance(waiting, StateChanged):
                    event = _fold(waiting, event)
                self._steady[key] = event
            case RefreshProgress():
                self._steady[event.id, event.source, "progress"] = event
            case RefreshEvent():
                self._steady[event.id, type(event).__name__, getattr(event, "source", "")] = event
            case Occurrence():
                if len(self._occurred) >= self._capacity:
                    self._occurred.popleft()
                    self._skipped += 1
                self._occurred.append(event)
            case _:
                return
        self._wake.set()

    def close(self, failure: CoreError | None = None) -> None:
        """End the iteration after what is waiting; with `failure`, where it should not have."""
        self._closed, self._failure = True, failure
        self._wake.set()

    def take(self) -> list[CoreEvent]:
        """All that waits now, state first; empty when nothing does."""
        taken: list[Any] = list(self._steady.values())
        self._steady = {}
        if self._skipped:
            taken.append(Lagged(skipped=self._skipped))
            self._skipped = 0
        taken.extend(self._occurred)
        self._occurred.clear()
        return taken

    async def batches(self) -> AsyncGenerator[list[CoreEvent]]:
        """Whatever waits, as one list, each time something does.

        Raises:
            CoreError: What cut the subscription off; nothing more can be heard on it.
        """
        while True:
            if batch := self.take():
                yield batch
                continue
            if self._failure is not None:
                raise self._failure
            if self._closed:
                return
            self._wake = anyio.Event()
            await self._wake.wait()

    async def __aiter__(self) -> AsyncGenerator[CoreEvent]:
        """The events one by one."""
        async for batch in self.batches():
            for event in batch:
                yield event


class EventHub:
    """Fans events out to subscribers, and to plain listeners inside the core."""

    def __init__(self, capacity: int = OCCURRENCES_KEPT) -> None:
        self._capacity = capacity
        self._subscriptions: list[Subscription] = []
        self._listeners: list[Callable[[Event], None]] = []

    def emit(self, event: Event) -> None:
        """Tell everybody; on the event loop only."""
        for listener in self._listeners:
            listener(event)
        for subscription in self._subscriptions:
            subscription.put(event)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` for each event, at once and before subscribers; it must not block."""
        self._listeners.append(listener)

    @asynccontextmanager
    async def subscribe(self) -> AsyncGenerator[Subscription]:
        """A subscription for as long as the block lasts."""
        subscription = Subscription(self._capacity)
        self._subscriptions.append(subscription)
        try:
            yield subscription
        finally:
            self._subscriptions.remove(subscription)
            subscription.close()

    def close(self, failure: CoreError | None = None) -> None:
        """End all subscriptions, with `failure` where something cut them off."""
        for subscription in self._subscriptions:
            subscription.close(failure)
