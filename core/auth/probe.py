"""Does a server offer OAuth? Asked without signing in, and without changing anything.

What counts as undecided was observed in Codex 0.171.0.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from core.auth.discovery import offers_oauth
from core.auth.outgoing import Outgoing
from core.auth.sender import server_url
from core.errors import CoreError
from core.ports import Clock
from core.seams import SignInTarget

LIMIT = 5.0
"""Seconds for all requests of one probe together."""
KEPT, KEPT_UNDECIDED = 600.0, 30.0


@dataclass
class _Known:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    answer: bool | None = None
    until: float = 0.0


class MetadataProbe:
    """The `AuthProbe` of a core.

    Args:
        opens: Makes what sends requests on behalf of a server; a generator of one.
    """

    def __init__(
        self, opens: Callable[[SignInTarget], AsyncGenerator[Outgoing]], clock: Clock
    ) -> None:
        self._opens, self._clock = asynccontextmanager(opens), clock
        self._known: dict[str, _Known] = {}

    async def offers_oauth(self, target: SignInTarget) -> bool | None:
        """See `core.seams.AuthProbe`."""
        known = self._known.setdefault(target.url, _Known())
        async with known.lock:
            if known.until <= self._clock.monotonic():
                known.answer = await self._decide(target)
                kept = KEPT_UNDECIDED if known.answer is None else KEPT
                known.until = self._clock.monotonic() + kept
            return known.answer

    def forget(self, url: str) -> None:
        """See `core.seams.AuthProbe`."""
        if known := self._known.get(url):
            known.until = 0.0

    async def _decide(self, target: SignInTarget) -> bool | None:
        answer: bool | None = None
        try:
            with anyio.fail_after(LIMIT):
                async with self._opens(target) as out:
                    answer = await offers_oauth(out, server_url(target))
        except (CoreError, TimeoutError):
            return None
        return answer
