"""What changes of the installed plugins are made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import InvalidRequest

if TYPE_CHECKING:
    from core.config.store import ConfigStore
    from core.plugins.catalog import PluginCatalog
    from core.plugins.marketplaces.upgrading import MarketplaceUpgrader
    from core.plugins.updates.hearing import Hearing
    from core.plugins.updates.updating import Updater
    from core.ports import Deps
    from core.service.config import ConfigService
    from core.service.operations import Operations
    from core.service.plugin_changes import PluginSet


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """What updates are made with."""

    deps: Deps
    configs: ConfigStore
    config: ConfigService
    catalog: PluginCatalog
    updater: Updater
    upgrader: MarketplaceUpgrader
    hearing: Hearing
    plugin_set: PluginSet
    operations: Operations

    def may_write(self) -> None:
        """Raises InvalidRequest where nothing may be written."""
        if self.deps.read_only:
            raise InvalidRequest("Jackfield runs read-only")
