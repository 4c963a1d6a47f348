"""A Codex home with marketplaces and plugins of the test's own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from core.config.paths import Home
from core.config.store import ConfigStore
from core.plugins.listing import PluginLists
from core.plugins.manifest import Manifest, read_manifest
from core.ports import Deps
from core.protocol.plugins import PluginListResult
from core.scope import Caller, RequestScope
from core.service.plugins import PluginService
from core.threads.policy import CODEX

CODEX_PLACE = ".agents/plugins/marketplace.json"
API_PLACE = ".agents/plugins/api_marketplace.json"
CLAUDE_PLACE = ".claude-plugin/marketplace.json"
SCOPE = RequestScope(caller=Caller(policy=CODEX))


def put(path: Path, content: str | bytes | Mapping[str, Any] | list[Any]) -> Path:
    """Write a file with the directories around it; what is no text becomes JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def put_market(
    root: Path, *entries: Any, name: str = "m", place: str = CODEX_PLACE, **others: Any
) -> Path:
    """A marketplace file below `root`; a plain name is an entry for `./plugins/NAME`."""
    plugins = [
        {"name": entry, "source": f"./plugins/{entry}"} if isinstance(entry, str) else entry
        for entry in entries
    ]
    return put(root / place, {"name": name, "plugins": plugins, **others})


def put_plugin(
    root: Path,
    files: Mapping[str, Any] | None = None,
    place: str = ".codex-plugin/plugin.json",
    **manifest: Any,
) -> Path:
    """A plugin's directory; `files` by path below it."""
    put(root / place, {"name": root.name, **manifest})
    for path, content in (files or {}).items():
        put(root / path, content)
    return root


def manifest_at(root: Path) -> Manifest:
    """The manifest of a plugin that is known to be good."""
    manifest = read_manifest(str(root))
    assert isinstance(manifest, Manifest), manifest
    return manifest


class World:
    """A Codex home, and what is built over it.

    Attributes:
        account: Who is signed in.
    """

    def __init__(self, deps: Deps) -> None:
        self.deps = deps
        self.home = Home.of(deps)
        self.configs = ConfigStore(self.home, deps)
        self.account = "none"
        self.lists = PluginLists(self.home, self.configs, lambda: self.account, deps.cache_dir)
        self.service = PluginService(self.lists, self.configs, deps.cwd)

    @property
    def user(self) -> Path:
        """The person's home directory, a marketplace root too."""
        return self.home.home

    def configure(self, text: str) -> None:
        """Add lines to the user's config.toml."""
        path = self.home.config_file
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}{text}\n")

    def add_market(self, root: Path, key: str) -> None:
        """Configure a local marketplace."""
        source = json.dumps(str(root))
        self.configure(f'[marketplaces.{key}]\nsource_type = "local"\nsource = {source}')

    def switch(self, plugin_id: str, enabled: bool = True) -> None:
        """Write a plugin's table."""
        self.configure(f'[plugins."{plugin_id}"]\nenabled = {json.dumps(enabled)}')

    def install(
        self,
        plugin_id: str,
        files: Mapping[str, Any] | None = None,
        copy: str = "local",
        **more: Any,
    ) -> Path:
        """Put a copy into the cache."""
        name, _, marketplace = plugin_id.partition("@")
        root = self.home.plugins_cache / marketplace / name / copy
        return put_plugin(root, files, **{"name": name, **more})

    async def listed(self, *cwds: Path) -> PluginListResult:
        """plugin/list, decoded from the bytes that go out."""
        from core.protocol.plugin_params import PluginListParams

        params = PluginListParams(cwds=[str(cwd) for cwd in cwds] or None)
        answer = await self.service.list(params, SCOPE)
        return msgspec.json.decode(answer.body, type=PluginListResult)


def ids(result: PluginListResult) -> list[str]:
    """Plugin ids in listing order."""
    return [plugin.id for market in result.marketplaces for plugin in market.plugins]
