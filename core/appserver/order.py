"""Which requests wait for which: those on the same files in the order sent, all others never.

Observed in Codex 0.171.0: what writes the configuration or the plugin folders runs one after the
other; servers, threads and apps answer as they come. There, reads may overtake writes that were
sent before them; here they wait for them a moment, so that somebody who writes and then lists sees
what was written, while a clone that takes long holds up nobody.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

PATIENCE = 1.0
"""Seconds that a request is held back for the sake of order only."""

_FILES = frozenset(
    {
        "config/batchWrite",
        "config/read",
        "config/value/write",
        "configRequirements/read",
        "hooks/list",
        "jackfield/switch",
        "jackfield/undo",
    }
)
_FILE_AREAS = ("plugin/", "marketplace/", "skills/")
_READS = frozenset(
    {
        "config/read",
        "configRequirements/read",
        "hooks/list",
        "plugin/installed",
        "plugin/list",
        "plugin/read",
        "plugin/reconcile",
        "plugin/search",
        "skills/list",
    }
)


class _Place:
    """A request's place in its lane."""

    def __init__(self, writes: bool, before: list[_Place]) -> None:
        self.writes = writes
        self.before = before
        self.left = anyio.Event()


class Lanes:
    """Hands out places in the order of arrival."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._lanes: dict[str, list[_Place]] = {}

    def place(self, method: str) -> AbstractAsyncContextManager[None]:
        """The place of a request that has just arrived; entering it waits until it is its turn."""
        if method in _FILES or method.startswith(_FILE_AREAS):
            return self._turn(*self._line_up("files", writes=method not in _READS))
        if method.startswith("account/"):
            return self._turn(*self._line_up("account", writes=True))
        return _at_once()

    def _line_up(self, lane: str, *, writes: bool) -> tuple[list[_Place], _Place]:
        places = self._lanes.setdefault(lane, [])
        place = _Place(writes, list(places))
        places.append(place)
        return places, place

    @asynccontextmanager
    async def _turn(self, lane: list[_Place], place: _Place) -> AsyncGenerator[None]:
        try:
            with anyio.move_on_after(self._patience):
                for earlier in place.before:
                    await earlier.left.wait()
            for earlier in place.before:
                if place.writes and earlier.writes:
                    await earlier.left.wait()
            yield
        finally:
            place.before.clear()
            place.left.set()
            lane.remove(place)


@asynccontextmanager
async def _at_once() -> AsyncGenerator[None]:
    yield
