"""jackfield/search: the panel's filter over all marketplaces, for everybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import anyio

from core.protocol.jackfield_search import SearchHit, SearchParams, SearchResult
from core.protocol.rows import MarketplaceRow, PluginRow
from core.relevance import plugin_searchable, search
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.snapshot import SnapshotOwner

COUNTING = 10.0
"""Seconds that names of skills and servers are waited for; the rest is known without them."""


class Catalog(Protocol):
    """What the search asks of the plugin layer."""

    marketplaces: SnapshotOwner[MarketplaceRow]
    plugins: SnapshotOwner[PluginRow]

    async def refresh(self, *, forced: bool = False, refresh_id: str = "") -> None: ...

    async def counted(self) -> None: ...


class SearchService:
    """Searches the rows that are there; reads them first when nobody has yet."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/search": self.search}

    async def search(self, params: SearchParams, scope: RequestScope) -> SearchResult:
        """Plugins whose name, id, texts, keywords, skills or servers fit; an empty query: none."""
        catalog = self._catalog
        if catalog.plugins.current.phase != "final":
            await catalog.refresh()
        with anyio.move_on_after(COUNTING):
            await catalog.counted()
        rows = catalog.plugins.current.rows
        query = params.query.strip()
        found = search(query, [plugin_searchable(row, row) for row in rows.values()])
        hits = found if query else []
        if params.limit > 0:
            hits = hits[: params.limit]
        names = catalog.marketplaces.current.rows
        return SearchResult(
            query=query,
            total=len(rows),
            hits=tuple(
                SearchHit(found=hit.word, marketplace_name=_market(row, names), plugin=row)
                for row, hit in hits
            ),
        )


def _market(row: PluginRow, markets: Mapping[str, MarketplaceRow]) -> str:
    market = markets.get(row.marketplace)
    return market.name if market is not None else row.plugin_id.rpartition("@")[2]
