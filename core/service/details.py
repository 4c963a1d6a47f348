"""jackfield/plugin/detail, app/detail and tool/detail: everything known of one row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from core.errors import InvalidRequest
from core.protocol.jackfield import DetailResult, IdParams
from core.scope import RequestScope
from core.service.apps import AppsService
from core.service.dispatch import Handler
from core.threads.panel import Panel

PluginDetail = Callable[[str], Awaitable[dict[str, Any]]]


class DetailService:
    """Asks the owner of a row; nothing here starts or fetches anything."""

    def __init__(self, plugins: PluginDetail, apps: AppsService, panel: Panel) -> None:
        self._plugins, self._apps, self._panel = plugins, apps, panel

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/plugin/detail": self.plugin,
            "jackfield/app/detail": self.app,
            "jackfield/tool/detail": self.tool,
        }

    async def plugin(self, params: IdParams, scope: RequestScope) -> DetailResult:
        """Manifest, parts and places of a plugin."""
        return DetailResult(detail=await self._plugins(params.id))

    async def app(self, params: IdParams, scope: RequestScope) -> DetailResult:
        """Directory entry, snapshot and tools of an app."""
        return DetailResult(detail=await self._apps.detail(params.id))

    async def tool(self, params: IdParams, scope: RequestScope) -> DetailResult:
        """A tool of a server's inventory, or of the hosted snapshot. Raises InvalidRequest."""
        detail = self._panel.tool_detail(params.id)
        if detail is None:
            detail = self._apps.tool_detail(params.id)
        if detail is None:
            raise InvalidRequest(f"no tool {params.id!r} here")
        return DetailResult(detail=detail)
