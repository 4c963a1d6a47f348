"""A load's steps as `app/list/updated`, by the rules observed in Codex 0.171.0."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import anyio.to_thread

from core.apps.directory import Directory
from core.apps.entries import DirectoryPage, merge
from core.apps.hosted_tools import Connector
from core.apps.rows import switched
from core.apps.snapshots import Committed
from core.apps.view import View
from core.errors import CoreError
from core.protocol.app_info import AppInfo

Updated = Callable[[tuple[AppInfo, ...]], None]


class Telling:
    """Sends the full list at once when what is cached holds a linked app, whenever directory or
    tools have come and the list then holds one, and in any case when both have; never twice the
    same. While a forced load runs, the cached list stands for what has not come yet.
    """

    def __init__(
        self,
        view: View,
        updated: Updated,
        *,
        directory: Directory | None,
        tools: Committed | None,
        forced: bool,
    ) -> None:
        self._view, self._updated, self._forced = view, updated, forced
        self._cached_directory = self._directory = directory.entries if directory else None
        self._cached_connectors = self._connectors = tools.connectors if tools else None
        self._directory_done = self._tools_done = False
        self._told: tuple[AppInfo, ...] | None = None
        self._lock = anyio.Lock()

    async def begin(self, *, directory_done: bool, tools_done: bool) -> None:
        """Tell what is cached; sources that need no load count as finished afterwards."""
        async with self._lock:
            if self._directory is not None or self._connectors is not None:
                await self._tell()
            self._directory_done, self._tools_done = directory_done, tools_done
            if directory_done and tools_done:
                await self._tell()

    async def page(self, source: str, page: DirectoryPage, done: int) -> None:
        """Single pages are not told."""

    async def directory(self, directory: Directory) -> None:
        async with self._lock:
            self._directory, self._directory_done = directory.entries, True
            await self._tell()

    async def tools(self, committed: Committed) -> None:
        async with self._lock:
            self._connectors, self._tools_done = committed.connectors, True
            await self._tell()

    async def failed(self, source: str, failure: CoreError) -> None:
        if source != "tools":
            return
        # Tools that cannot be listed are no error: those of before go on counting.
        async with self._lock:
            self._tools_done = True
            await self._tell()

    async def whole(self) -> tuple[AppInfo, ...]:
        """The list as it is now known; what has just been told where nothing has changed."""
        return await self._list(self._directory, self._connectors)

    async def _tell(self) -> None:
        done = self._directory_done and self._tools_done
        directory, connectors = self._directory, self._connectors
        if self._forced and not done:
            directory = directory if self._cached_directory is None else self._cached_directory
            connectors = connectors if self._cached_connectors is None else self._cached_connectors
        apps = await self._list(directory, connectors)
        if (done or any(app.is_accessible for app in apps)) and apps != self._told:
            self._told = apps
            self._updated(apps)

    async def _list(
        self, directory: tuple[AppInfo, ...] | None, connectors: dict[str, Connector] | None
    ) -> tuple[AppInfo, ...]:
        def build() -> tuple[AppInfo, ...]:
            merged = merge(directory, connectors or {}, self._view.named)
            return switched(merged, self._view.policy)

        return await anyio.to_thread.run_sync(build)
