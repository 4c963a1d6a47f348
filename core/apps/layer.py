"""The app layer as one: its owners, wired to each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from core.apps.disk import DiskCache
from core.apps.hosted import HostedApps
from core.apps.installed import Installed
from core.apps.listing import AppList, Spawn
from core.apps.loading import Loader
from core.apps.metadata import AppMetadataReader
from core.apps.snapshots import ToolSnapshots
from core.apps.view import View, Views
from core.ports import Deps
from core.protocol.events import Event
from core.seams import Accounts, HostedTools, PluginApps

if TYPE_CHECKING:
    from core.config.model import Loaded

DEADLINE = 90.0
"""Seconds for directory and tools together, as in Codex."""


@dataclass(frozen=True, kw_only=True)
class AppLayer:
    """What others use of the app layer."""

    apps: AppList
    installed: Installed
    metadata: AppMetadataReader
    servers: HostedApps
    views: Views

    async def reconsider(self) -> None:
        """Configuration, plugins or account have changed: rows anew, from what is known."""
        await self.apps.reconsider()
        await self.installed.reconsider()


def build_app_layer(
    *,
    deps: Deps,
    codex_home: Path,
    load: Callable[[Path | None], Loaded],
    accounts: Accounts,
    hosted: HostedTools,
    plugins: PluginApps,
    emit: Callable[[Event], None],
    spawn: Spawn,
    deadline: float = DEADLINE,
) -> AppLayer:
    """Build it; nothing is read or asked yet.

    Args:
        codex_home: Codex's own cache of apps is below it; read, never written.
        load: The configuration of a directory; cheap, called in threads.
        spawn: For work that outlives a request.
        deadline: Seconds for each load.
    """
    views = Views(load, plugins)
    disk = DiskCache(deps.cache_dir / "apps", codex_home / "cache")
    snapshots = ToolSnapshots(disk, deps.clock)
    servers = HostedApps(accounts, views, deps.environ)
    loader = Loader(
        http=deps.http,
        clock=deps.clock,
        hosted=hosted,
        snapshots=snapshots,
        disk=disk,
        deadline=deadline,
    )

    async def panel_view() -> View:
        return await views.at(deps.cwd)

    apps = AppList(
        clock=deps.clock,
        panel_view=panel_view,
        accounts=accounts,
        hosted=servers,
        loader=loader,
        snapshots=snapshots,
        disk=disk,
        emit=emit,
        spawn=spawn,
    )
    installed = Installed(
        clock=deps.clock,
        panel_view=panel_view,
        accounts=accounts,
        hosted=servers,
        loader=loader,
        snapshots=snapshots,
        emit=emit,
    )
    snapshots.listen(lambda: spawn(installed.reconsider))
    return AppLayer(
        apps=apps,
        installed=installed,
        metadata=AppMetadataReader(http=deps.http, accounts=accounts),
        servers=servers,
        views=views,
    )
