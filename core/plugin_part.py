"""Configuration, account and the panel's plugin catalog, built together before the other owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.auth.account import Account
from core.channels import EventHub
from core.config.paths import Home
from core.config.store import ConfigStore
from core.plugins.catalog import PluginCatalog
from core.plugins.shelf import PluginShelf
from core.plugins.updates.memory import PluginMemory
from core.ports import Deps


class PluginPart:
    """What reads marketplaces and plugins."""

    def __init__(
        self,
        deps: Deps,
        home: Home,
        shelf: PluginShelf,
        hub: EventHub,
        overrides: Mapping[str, Any] | None,
    ) -> None:
        self.config = ConfigStore(home, deps, overrides)
        self.account = Account(
            deps=deps,
            load=self.config.load,
            auth_file=home.auth_file,
            codex_home=home.codex_home,
            emit=hub.emit,
        )
        self.memory = PluginMemory(deps.state_dir, home.codex_home, deps.clock.now)
        self.catalog = PluginCatalog(
            home,
            self.config,
            deps,
            hub.emit,
            self.account.kind,
            memory=self.memory,
            shelf=shelf,
        )
