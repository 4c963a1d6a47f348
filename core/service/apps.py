"""app/list, app/read and app/installed; what the panel asks of a single app."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from core.apps.layer import AppLayer
from core.apps.listing import Asked
from core.apps.metadata import check_count
from core.apps.view import View
from core.errors import InvalidRequest
from core.protocol.app_info import (
    AppInfo,
    AppInstalledResult,
    AppListResult,
    AppListUpdated,
    AppReadResult,
)
from core.scope import RequestScope
from core.seams import ThreadConfigs
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.protocol.apps import AppInstalledParams, AppListParams, AppReadParams

_CURSOR = re.compile(r"\+?[0-9]{1,19}")


class AppsService:
    """The app methods of every face."""

    def __init__(self, layer: AppLayer, threads: ThreadConfigs) -> None:
        self._apps, self._installed = layer.apps, layer.installed
        self._metadata, self._views = layer.metadata, layer.views
        self._threads = threads

    def handlers(self) -> dict[str, Handler]:
        return {
            "app/list": self.list,
            "app/read": self.read,
            "app/installed": self.installed,
        }

    async def list(self, params: AppListParams, scope: RequestScope) -> AppListResult:
        """A page of the list; `app/list/updated` with the whole list comes before it."""
        view = await self._view(params.thread_id)

        def updated(apps: tuple[AppInfo, ...]) -> None:
            scope.notify("app/list/updated", AppListUpdated(data=apps))

        asked = Asked(
            view=view,
            policy=scope.caller.policy,
            originator=scope.caller.name,
            updated=updated,
            forced=params.force_refetch,
        )
        apps = await self._apps.list(asked)
        if apps is None:
            return AppListResult(data=())
        return _page(apps, params.cursor, params.limit)

    async def read(self, params: AppReadParams, scope: RequestScope) -> AppReadResult:
        """Metadata of single apps."""
        check_count(params.app_ids)
        view = await self._view(params.thread_id)
        return await self._metadata.read(
            params.app_ids,
            include_tools=params.include_tools,
            view=view,
            originator=scope.caller.name,
        )

    async def installed(
        self, params: AppInstalledParams, scope: RequestScope
    ) -> AppInstalledResult:
        """The committed runtime snapshot."""
        view = await self._view(params.thread_id)
        apps = await self._installed.read(
            view, forced=params.force_refresh, policy=scope.caller.policy
        )
        return AppInstalledResult(apps=apps)

    async def detail(self, app_id: str) -> dict[str, Any]:
        """Everything that is known of an app, for its details page; asks nobody."""
        info = await self._apps.info(app_id)
        tools = [tool for tool in self._installed.snapshot_tools() if tool.owner == app_id]
        installed = self._installed.owner.current.rows.get(app_id)
        row = self._apps.owner.current.rows.get(app_id)
        return {
            "app": msgspec.to_builtins(row) if row else None,
            "directory": msgspec.to_builtins(info) if info else None,
            "installed": msgspec.to_builtins(installed) if installed else None,
            "tools": msgspec.to_builtins(tools),
            "snapshotRead": msgspec.to_builtins(self._installed.last_read),
        }

    def tool_detail(self, tool_id: str) -> dict[str, Any] | None:
        """A tool of the committed snapshot, its declaration included; None when it has none."""
        row = next((row for row in self._installed.snapshot_tools() if row.id == tool_id), None)
        tool = self._installed.declaration(tool_id)
        if row is None or tool is None:
            return None
        return {
            "tool": msgspec.to_builtins(row),
            "app": tool.app_name or tool.app_id,
            "declaration": dict(tool.raw),
        }

    async def _view(self, thread_id: str | None) -> View:
        if thread_id is None:
            return await self._views.at(None)
        return await self._views.of(self._threads.config_of(thread_id))


def _page(apps: tuple[AppInfo, ...], cursor: str | None, limit: int | None) -> AppListResult:
    """Index cursors, checked only after the list has been loaded (Codex 0.171.0)."""
    start = 0
    if cursor is not None:
        if not _CURSOR.fullmatch(cursor):
            raise InvalidRequest(f"invalid cursor: {cursor}")
        start = int(cursor)
    if start > len(apps):
        raise InvalidRequest(f"cursor {start} exceeds total apps {len(apps)}")
    end = len(apps) if limit is None else min(len(apps), start + max(1, limit))
    return AppListResult(data=apps[start:end], next_cursor=str(end) if end < len(apps) else None)
