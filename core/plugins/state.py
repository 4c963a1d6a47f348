"""What is enabled and what is installed: the configuration and the plugin cache together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from core.config.model import Loaded
from core.config.paths import Home
from core.plugins.names import greatest_version, is_version, split_id
from core.protocol.facts import Evidence

_STAGED = ("plugin-install-", "plugin-backup-")
"""Beginnings of the names of what is being installed, by us or by Codex."""


@dataclass(frozen=True)
class Switch:
    """A plugin's table in the configuration.

    Attributes:
        enabled: As merged over the directories that were asked for.
        place: Where that is decided.
        servers: `mcp_servers` of the table.
    """

    enabled: bool
    place: Evidence
    servers: Mapping[str, Any]


class PluginStates:
    """The `[plugins]` tables of one or several configurations, and the cache behind them.

    Enabled by one of several directories is enabled; otherwise disabled by one is disabled.
    """

    def __init__(self, home: Home, configurations: Sequence[Loaded]) -> None:
        self._cache = str(home.plugins_cache)
        self.switches: dict[str, Switch] = {}
        for loaded in configurations:
            for plugin_id, switch in _switches(loaded):
                known = self.switches.get(plugin_id)
                if known is None or (switch.enabled and not known.enabled):
                    self.switches[plugin_id] = switch
        self._roots: dict[str, str | None] = {}

    def enabled(self, plugin_id: str) -> bool:
        """As plugin/list answers it."""
        switch = self.switches.get(plugin_id)
        return switch is not None and switch.enabled

    def installed(self, plugin_id: str) -> bool:
        """As plugin/list answers it: a copy without a table does not count."""
        return plugin_id in self.switches and self.root(plugin_id) is not None

    def root(self, plugin_id: str) -> str | None:
        """Directory of the copy that Codex uses, or None when there is none."""
        if plugin_id not in self._roots:
            self._roots[plugin_id] = self._active(plugin_id)
        return self._roots[plugin_id]

    def _active(self, plugin_id: str) -> str | None:
        names = split_id(plugin_id)
        if names is None:
            return None
        plugin, marketplace = names
        return active_root(f"{self._cache}/{marketplace}/{plugin}")

    def enabled_ids(self) -> tuple[str, ...]:
        """Plugins whose parts count, by id."""
        return tuple(
            sorted(
                plugin_id
                for plugin_id, switch in self.switches.items()
                if switch.enabled and split_id(plugin_id) is not None
            )
        )

    def cached_ids(self) -> Iterator[tuple[str, str]]:
        """Every plugin with a copy, configured or not, and the copy."""
        for marketplace in _directories(self._cache):
            for plugin in _directories(f"{self._cache}/{marketplace}"):
                if plugin.startswith(_STAGED):
                    continue
                root = active_root(f"{self._cache}/{marketplace}/{plugin}")
                if root is not None:
                    yield f"{plugin}@{marketplace}", root


def _switches(loaded: Loaded) -> Iterable[tuple[str, Switch]]:
    tables: Any = loaded.get("plugins", default={})
    if not isinstance(tables, Mapping):
        return
    for plugin_id, table in cast("Mapping[str, Any]", tables).items():
        if not isinstance(table, Mapping):
            continue
        members = cast("Mapping[str, Any]", table)
        path = ("plugins", plugin_id, *(("enabled",) if "enabled" in members else ()))
        servers: Any = members.get("mcp_servers")
        yield (
            plugin_id,
            Switch(
                members.get("enabled") is not False,
                loaded.origin(*path),
                cast("Mapping[str, Any]", servers) if isinstance(servers, Mapping) else {},
            ),
        )


def active_root(plugin_directory: str) -> str | None:
    """The version directory that Codex uses below a plugin's cache directory, or None."""
    version = greatest_version(name for name in _directories(plugin_directory) if is_version(name))
    return f"{plugin_directory}/{version}" if version is not None else None


def _directories(path: str) -> list[str]:
    """Names of directories; links do not count."""
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
