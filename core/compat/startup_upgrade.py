"""The real app-server upgrades every configured git marketplace when it starts.

Observed in Codex 0.171.0: whatever `auto_update` says; missing checkouts are cloned, and the
plugins that are installed from an upgraded marketplace are copied anew.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio.to_thread

from core.config.store import ConfigStore
from core.config.strict import refusal
from core.errors import CoreError
from core.plugins.marketplaces.upgrading import MarketplaceUpgrader
from core.scope import Caller, RequestScope
from core.threads.policy import CODEX

log = logging.getLogger(__name__)


class StartupUpgrade:
    """What is done once when the app-server face opens.

    Args:
        changed: Told when a marketplace has new content.
    """

    def __init__(
        self,
        configs: ConfigStore,
        upgrader: MarketplaceUpgrader,
        changed: Callable[[str, RequestScope], Awaitable[None]],
    ) -> None:
        self._configs = configs
        self._upgrader = upgrader
        self._changed = changed

    async def run(self) -> None:
        """Upgrade all; whatever fails is left as it is. Nothing with a refused configuration."""
        loaded = await anyio.to_thread.run_sync(self._configs.load, None)
        if refusal(loaded) is not None or not loaded.feature("plugins"):
            return
        try:
            upgraded = await self._upgrader.upgrade(None)
        except CoreError as error:
            log.warning("marketplaces stay as they are: %s", error)
            return
        for name, message in upgraded.errors:
            log.warning("marketplace %s stays as it is: %s", name, message)
        if upgraded.roots:
            await self._changed("startup", RequestScope(caller=Caller(policy=CODEX)))
