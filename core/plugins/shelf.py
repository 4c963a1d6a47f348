"""The snapshots of marketplaces and plugins, and what stood in them the last time.

Light: it is open, with the rows of the last time on it, before the rest of the layer is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
from msgspec.structs import replace

from core.plugins.rows_cache import Group, RowsCache
from core.plugins.workers import Turns, back, in_thread
from core.protocol.rows import MarketplaceRow, PluginRow
from core.snapshot import SnapshotOwner

if TYPE_CHECKING:
    from core.ports import Deps
    from core.protocol.events import StateChanged

DEADLINE = 10.0


class PluginShelf:
    """Where the plugin layer publishes its lists.

    Emits: The state events of the two owners.
    """

    def __init__(self, deps: Deps, codex_home: Path, emit: Callable[[StateChanged], None]) -> None:
        self.marketplaces: SnapshotOwner[MarketplaceRow] = SnapshotOwner("marketplaces", emit)
        self.plugins: SnapshotOwner[PluginRow] = SnapshotOwner("plugins", emit)
        self._cache = RowsCache(deps.cache_dir, codex_home, deps.cwd)
        self._shown = False

    async def show_last(self) -> None:
        """Publish the rows of the last time where no better ones are; once.

        Raises:
            TimeoutError: The disk does not answer.
        """
        if self._shown or self.plugins.current.revision:
            return
        self._shown = True
        tickets = self.marketplaces.begin(), self.plugins.begin()
        token = anyio.lowlevel.current_token()

        def work() -> None:
            with Turns(resting=True).turn() as tick:
                for group in self._cache.read(tick):
                    back(partial(publish, group), token)

        def publish(group: Group) -> None:
            market = group.market
            if market is not None and market.id not in self.marketplaces.current.rows:
                cached = replace(market, cached=True)
                self.marketplaces.publish(tickets[0], [cached], phase="cached")
            there = self.plugins.current.rows
            rows = [replace(row, cached=True) for row in group.plugins if row.id not in there]
            self.plugins.publish(tickets[1], rows, phase="cached")

        await in_thread(work, deadline=DEADLINE)

    def keep(self, tick: Callable[[], None]) -> None:
        """Keep what stands here now for the next time. Blocks."""
        grouped: dict[str, list[PluginRow]] = {}
        for row in list(self.plugins.current.rows.values()):
            grouped.setdefault(row.marketplace, []).append(row)
        markets = self.marketplaces.current.rows
        groups = [
            Group(market=markets.get(key), plugins=tuple(rows)) for key, rows in grouped.items()
        ]
        self._cache.write(groups, tick)
