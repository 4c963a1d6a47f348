"""How many HTTP handshakes may be young at the same time."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

SLOTS = 20
HELD = 1.0


class HandshakeSlots:
    """At most `slots` handshakes at once; one that lasts longer gives its slot back meanwhile.

    So a flood of servers behind one gateway is no stampede, and servers that hang hold up nobody
    for longer than `held` seconds.
    """

    def __init__(self, slots: int = SLOTS, held: float = HELD) -> None:
        self._slots, self._held = slots, held
        self._young: dict[object, float] = {}
        self._freed = anyio.Event()
        self._turn = anyio.Lock()

    @asynccontextmanager
    async def taken(self) -> AsyncGenerator[None]:
        """Wait for a slot, in order of arrival, and hold it for the block."""
        token = object()
        async with self._turn:
            while (wait := self._wait()) > 0:
                self._freed = anyio.Event()
                with anyio.move_on_after(wait):
                    await self._freed.wait()
            self._young[token] = anyio.current_time()
        try:
            yield
        finally:
            self._young.pop(token, None)
            self._freed.set()

    def _wait(self) -> float:
        """Seconds until a slot is free by age alone; 0 when one is free now."""
        now = anyio.current_time()
        ages = [self._held - (now - began) for began in self._young.values()]
        young = sorted(left for left in ages if left > 0)
        return young[0] if len(young) >= self._slots else 0.0
