"""A list that can be waited on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio

T = TypeVar("T")
PATIENCE = 5.0


class Seen(list[T]):
    """What has happened so far; `until` waits for more of it."""

    def __init__(self) -> None:
        super().__init__()
        self._more = anyio.Event()

    def append(self, item: T, /) -> None:
        super().append(item)
        self._more.set()
        self._more = anyio.Event()

    async def until(self, enough: Callable[[], object], seconds: float = PATIENCE) -> None:
        """Wait for appends until `enough` is true; fails after that many seconds."""
        with anyio.fail_after(seconds):
            while not enough():
                await self._more.wait()
