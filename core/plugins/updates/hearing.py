"""Asks git servers which commit they are at; nothing is fetched and nothing is written."""

from __future__ import annotations

from collections.abc import Iterable

import anyio

from core.plugins.sources.git import Git, GitFailed
from core.plugins.updates.memory import PluginMemory

AT_ONCE = 4
Place = tuple[str, str]
"""URL and ref, "" = HEAD."""


class Hearing:
    """Remembers what the servers say until the core ends."""

    def __init__(self, git: Git, memory: PluginMemory) -> None:
        self._git = git
        self._memory = memory

    async def ask(self, places: Iterable[Place]) -> list[tuple[str, str]]:
        """Ask every server once; URLs that gave no answer, with why. Each has a deadline."""
        faults: list[tuple[str, str]] = []
        turns = anyio.CapacityLimiter(AT_ONCE)

        async def one(place: Place) -> None:
            url, ref = place
            async with turns:
                try:
                    self._memory.heard[place] = await self._git.commit(url, ref or None)
                except GitFailed as error:
                    faults.append((url, str(error)))

        async with anyio.create_task_group() as tasks:
            for place in dict.fromkeys(places):
                tasks.start_soon(one, place)
        return sorted(faults)
