"""A forced refetch of the plugin lists also hears what git servers have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from core.protocol.rows import Domain

if TYPE_CHECKING:
    from core.plugins.catalog import PluginCatalog


class ForcedHearing:
    """The plugin lists as the panel's session refreshes them: a forced one asks the servers too.

    Args:
        spawn: Starts background work: nobody waits for servers.
    """

    def __init__(
        self, catalog: PluginCatalog, hear: Callable[[], Awaitable[Any]], spawn: Callable[..., Any]
    ) -> None:
        self._catalog, self._hear, self._spawn = catalog, hear, spawn

    async def refresh(
        self, *, forced: bool, refresh_id: str = "", domain: Domain = "plugins"
    ) -> None:
        """Read the lists; then, when forced, hear what the servers have."""
        await self._catalog.refresh(forced=forced, refresh_id=refresh_id, domain=domain)
        if forced:
            self._spawn(self._hear)

    def watched_paths(self) -> Sequence[Any]:
        """As the catalog says."""
        return self._catalog.watched_paths()
