"""mcpServerStatus/list: which servers, in which order, and what each of them says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError, InvalidRequest
from core.mcp import shapes
from core.mcp.auth_status import AuthJudge
from core.mcp.client.session import ServerHello, Session
from core.mcp.connection import Connection
from core.mcp.elicitation import Approvals
from core.mcp.faults import StartFailed
from core.mcp.incoming import ServerSide
from core.mcp.inventory import RESOURCES, TEMPLATES, Kind, Listing, read_list
from core.mcp.opening import Opened, Opening
from core.mcp.runtime import McpRuntime
from core.mcp.spec import ServerSpec
from core.protocol.mcp import (
    McpServerInfo,
    McpServerStatus,
    McpServerStatusListParams,
    McpServerStatusListResult,
)

_INDEX = re.compile(r"\+?[0-9]+", re.ASCII)


@dataclass
class _Gathered:
    """What one server said, as far as it came."""

    hello: ServerHello | None = None
    tools: Listing | None = None
    resources: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    templates: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class StatusLister:
    """Answers one request.

    Attributes:
        opening: For connections of their own, which are closed afterwards.
        runtime: Of the thread that is asked about, or None.
        live: Servers of `runtime` are asked over the connections that they have, whatever their
            state; otherwise only where one is up and its entry is unchanged.
        approvals: What servers may ask while they are listed; nobody is there to be asked.
    """

    judge: AuthJudge
    opening: Opening
    runtime: McpRuntime | None = None
    live: bool = False
    approvals: Approvals = Approvals(ask=False)

    async def answer(
        self, params: McpServerStatusListParams, specs: Sequence[ServerSpec]
    ) -> McpServerStatusListResult:
        """A page of `specs`; only its servers are started, all of them side by side.

        Raises:
            InvalidRequest: A cursor that is none, or `environmentId` without the other two.
        """
        chosen = _chosen(params, specs)
        start, end = _page(params, len(chosen))
        page = chosen[start:end]
        rows: list[McpServerStatus | None] = [None] * len(page)

        async def fill(index: int, spec: ServerSpec) -> None:
            rows[index] = await self._row(spec, full=params.detail != "toolsAndAuthOnly")

        async with anyio.create_task_group() as tasks:
            for index, spec in enumerate(page):
                tasks.start_soon(fill, index, spec)
        return McpServerStatusListResult(
            data=[row for row in rows if row is not None],
            next_cursor=str(end) if end < len(chosen) else None,
        )

    async def _row(self, spec: ServerSpec, *, full: bool) -> McpServerStatus:
        gathered = _Gathered()
        auth: list[str] = []

        async def judge() -> None:
            auth.append((await self.judge.state(spec)).status)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(judge)
            await self._gather(spec, gathered, full)
        tools = gathered.tools or Listing()
        hello = gathered.hello
        # Everything has been checked where it came from, and tools may be thousands.
        return McpServerStatus.model_construct(
            name=spec.name,
            environment_id=spec.environment_id,
            runtime_status=self._runtime_status(spec),
            plugin_id=spec.plugin_id,
            http_origin=_origin(spec.url),
            server_info=_info(hello) if gathered.tools is not None else None,
            server_capabilities=_capabilities(hello),
            tool_list_meta=tools.meta,
            tools={
                name: _told(spec, tool) for name, tool in tools.items.items() if spec.allows(name)
            },
            tools_error=gathered.error,
            resources=gathered.resources,
            resource_templates=gathered.templates,
            auth_status=auth[0],
        )

    def _runtime_status(self, spec: ServerSpec) -> Any:
        """Of the thread; null while it runs something else than the files say."""
        if self.runtime is None:
            return None
        if not spec.usable and self.runtime.connection(spec.name) is not None:
            return None
        return self.runtime.runtime_status(spec.name)

    async def _gather(self, spec: ServerSpec, gathered: _Gathered, full: bool) -> None:
        connection = self._kept(spec)
        if connection is not None:
            await _from_live(connection, gathered, full)
        elif spec.usable or self._fails_visibly(spec):
            await self._from_fresh(spec, gathered, full)

    def _kept(self, spec: ServerSpec) -> Connection | None:
        """The thread's own connection, where it is used."""
        if self.runtime is None:
            return None
        if self.live:
            return self.runtime.current(spec.name)
        connection = self.runtime.connection(spec.name)
        if connection is None or connection.spec.fingerprint != spec.fingerprint:
            return None
        return self.runtime.current(spec.name) if connection.live else None

    def _fails_visibly(self, spec: ServerSpec) -> bool:
        """Without a thread, a server of an unknown environment is tried, and fails."""
        return spec.standing == "elsewhere" and self.runtime is None

    async def _from_fresh(self, spec: ServerSpec, gathered: _Gathered, full: bool) -> None:
        async def body(opened: Opened, tasks: TaskGroup) -> None:
            gathered.tools = opened.tools
            if full:
                await _resources(opened.session, spec, gathered)

        def greeted(hello: ServerHello) -> None:
            gathered.hello = hello

        side = ServerSide(
            name=spec.name, environment_id=spec.environment_id, approvals=self.approvals
        )
        try:
            await self.opening.run(spec, side, body, greeted=greeted)
        except StartFailed as failed:
            gathered.error = failed.message
        except CoreError as error:
            gathered.error = f"MCP startup failed: {error.message}"


async def _from_live(connection: Connection, gathered: _Gathered, full: bool) -> None:
    await connection.settled()
    gathered.hello = connection.hello
    gathered.tools = connection.listing("tools")
    if connection.failure is not None:
        gathered.error = connection.failure.message
    if full and connection.live and connection.session is not None:
        await _resources(connection.session, connection.spec, gathered, connection.barren)


async def _resources(
    session: Session, spec: ServerSpec, gathered: _Gathered, barren: set[str] | None = None
) -> None:
    """Both lists; what goes wrong with one of them makes it empty.

    Args:
        barren: Methods that are not asked again over a connection that is kept: what they were
            not promised to list, they did not.
    """
    promised = gathered.hello is not None and "resources" in gathered.hello.capabilities

    async def read(kind: Kind, into: list[dict[str, Any]]) -> None:
        try:
            listing = await read_list(
                session.request, kind, deadline=spec.tool_timeout, tolerant=False
            )
        except CoreError:
            listing = Listing()
        into.extend(listing.items.values())
        if barren is not None and not promised and not listing.items:
            barren.add(kind.method)

    lists = ((RESOURCES, gathered.resources), (TEMPLATES, gathered.templates))
    asked = [(kind, into) for kind, into in lists if kind.method not in (barren or ())]
    if not asked:
        return
    async with anyio.create_task_group() as tasks:
        for kind, into in asked:
            tasks.start_soon(read, kind, into)


def _chosen(params: McpServerStatusListParams, specs: Sequence[ServerSpec]) -> Sequence[ServerSpec]:
    if params.environment_id is not None and (
        params.server_name is None or params.thread_id is None
    ):
        raise InvalidRequest("environmentId requires serverName and threadId")
    chosen = [spec for spec in specs if spec.standing != "invalid"]
    if params.server_name is not None:
        chosen = [spec for spec in chosen if spec.name == params.server_name]
    if params.environment_id is not None:
        chosen = [spec for spec in chosen if spec.environment_id == params.environment_id]
    return chosen


def _page(params: McpServerStatusListParams, total: int) -> tuple[int, int]:
    start = 0
    if params.cursor is not None:
        if not _INDEX.fullmatch(params.cursor) or int(params.cursor) >= 1 << 64:
            raise InvalidRequest(f"invalid cursor: {params.cursor}")
        start = int(params.cursor)
    if start > total:
        raise InvalidRequest(f"cursor {start} exceeds total MCP servers {total}")
    size = total if params.limit is None else max(1, params.limit)
    return start, min(total, start + size)


def _told(spec: ServerSpec, tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as clients see it: one of a plugin's server says so in its description."""
    if not spec.plugin_name:
        return tool
    text = tool.get("description", "").strip()
    if text and text[-1] not in ".!?":
        text += "."
    sentence = f"This tool is part of plugin `{spec.plugin_name}`."
    return {**tool, "description": f"{text} {sentence}".strip()}


def _info(hello: ServerHello | None) -> McpServerInfo | None:
    if hello is None:
        return None
    try:
        return McpServerInfo.model_validate(shapes.server_info(hello.server_info))
    except shapes.Malformed:
        return None


def _capabilities(hello: ServerHello | None) -> dict[str, Any] | None:
    if hello is None:
        return None
    try:
        return shapes.capabilities(hello.capabilities)
    except shapes.Malformed:
        return None


def _origin(url: str) -> str | None:
    """`scheme://host[:port]`, without what else the URL holds."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if port in (None, default) else f":{port}")
