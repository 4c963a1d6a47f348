"""An open core over a home with a marketplace, asked as the panel asks."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import Core, open_core
from core.methods import Method
from core.ports import Deps
from core.protocol.jackfield import IdParams, NoParams, RowsParams, UndoParams
from core.protocol.jackfield_plugins import (
    Orphan,
    PinParams,
    RollbackParams,
    RollbackResult,
    Update,
    UpdateOutcome,
    UpdateParams,
    UpdatesParams,
)
from core.protocol.plugin_params import PluginInstallParams
from core.protocol.rows import Domain, PluginRow
from tests.core.plugins.world import put_market, put_plugin

SKILL = "skills/s/SKILL.md"


@dataclass
class Life:
    """A core and the home of its plugins."""

    core: Core
    client: CoreClient
    home: Path

    async def ask(self, method: Method[Any, Any], params: Any) -> Any:
        return await self.client.call(method, params)

    def source(self, name: str = "p", content: str = "1", **manifest: Any) -> Path:
        """The source of a plugin of the marketplace at the home."""
        skill = f"---\nname: s\ndescription: d\n---\n{content}"
        return put_plugin(self.home / "plugins" / name, {SKILL: skill}, **manifest)

    async def install(self, *names: str, market: Path | None = None) -> None:
        path = market or self.home / ".agents/plugins/marketplace.json"
        for name in names:
            params = PluginInstallParams(marketplace_path=str(path), plugin_name=name)
            await self.ask(methods.PLUGIN_INSTALL, params)

    async def installed(self, *names: str, **manifest: Any) -> None:
        """A marketplace at the home with plugins that are installed."""
        manifest.setdefault("version", "1.0.0")
        put_market(self.home, *names)
        for name in names:
            self.source(name, **manifest)
        await self.install(*names)

    async def updates(self, *, fetch: bool = False) -> dict[str, Update]:
        result = await self.ask(methods.JACKFIELD_PLUGIN_UPDATES, UpdatesParams(fetch=fetch))
        return {update.id: update for update in result.updates}

    async def update(self, *ids: str, fetch: bool = False) -> dict[str, UpdateOutcome]:
        params = UpdateParams(ids=ids or None, fetch=fetch)
        result = await self.ask(methods.JACKFIELD_PLUGIN_UPDATE, params)
        return {outcome.id: outcome for outcome in result.outcomes}

    async def pin(self, plugin_id: str = "p@m", *, pinned: bool = True) -> Any:
        return await self.ask(methods.JACKFIELD_PLUGIN_PIN, PinParams(id=plugin_id, pinned=pinned))

    async def roll_back(self, plugin_id: str = "p@m", version: str | None = None) -> RollbackResult:
        params = RollbackParams(id=plugin_id, version=version)
        result: RollbackResult = await self.ask(methods.JACKFIELD_PLUGIN_ROLLBACK, params)
        return result

    async def orphans(self) -> dict[str, Orphan]:
        result = await self.ask(methods.JACKFIELD_ORPHANS, NoParams())
        return {orphan.id: orphan for orphan in result.orphans}

    async def clean(self, orphan_id: str) -> Any:
        return await self.ask(methods.JACKFIELD_ORPHAN_CLEAN, IdParams(id=orphan_id))

    async def undo(self, token: str) -> Any:
        return await self.ask(methods.JACKFIELD_UNDO, UndoParams(token=token))

    async def rows(self, domain: Domain = "plugins") -> dict[str, Any]:
        result = await self.ask(methods.JACKFIELD_ROWS, RowsParams(domain=domain))
        return {row.id: row for row in result.rows}

    async def row(self, plugin_id: str = "p@m") -> PluginRow:
        row: PluginRow = (await self.rows())[plugin_id]
        return row

    def versions(self, name: str = "p", market: str = "m") -> list[str]:
        folder = self.home / ".codex/plugins/cache" / market / name
        return sorted(os.listdir(folder)) if folder.exists() else []

    def content(self, name: str = "p", market: str = "m") -> str:
        (version,) = self.versions(name, market)
        cache = self.home / ".codex/plugins/cache"
        return (cache / market / name / version / SKILL).read_text().rpartition("\n")[2]

    def configure(self, text: str) -> None:
        """Add lines to the user's configuration."""
        path = self.home / ".codex/config.toml"
        path.parent.mkdir(exist_ok=True)
        before = path.read_text() if path.exists() else ""
        path.write_text(f"{before}{text}\n")

    def config(self) -> str:
        return (self.home / ".codex/config.toml").read_text()


def local_marketplace(name: str, root: Path) -> str:
    """Its table."""
    return f'[marketplaces.{name}]\nsource_type = "local"\nsource = {json.dumps(str(root))}'


@asynccontextmanager
async def life_of(deps: Deps, home: Path) -> AsyncGenerator[Life]:
    async with open_core(deps) as core:
        yield Life(core, core.client(), home)
