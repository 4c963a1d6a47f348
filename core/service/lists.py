"""What the command line lists, and the one change that nothing else makes.

jackfield/server/entries, jackfield/marketplace/considered, jackfield/entry/remove.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import anyio

from core.config.edit_plan import Edit
from core.config.server_entry import ServerEntry
from core.mcp.auth_status import AuthJudge
from core.mcp.effective import Reading
from core.mcp.masking import masked_arguments, masked_url
from core.mcp.spec import ServerSpec
from core.protocol.jackfield import Done, NameParams, NoParams
from core.protocol.jackfield_lists import (
    ConsideredResult,
    EntriesParams,
    EntriesResult,
    ServerEntryInfo,
)
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from pathlib import Path

    from core.mcp.effective import ServerSource
    from core.plugins.listing import PluginLists
    from core.service.config import ConfigService

MASK = "*****"
_HIDDEN = "<redacted>"


class ListService:
    """Lists start nothing and write nothing.

    Args:
        cwd: Whose project's servers count too.
    """

    def __init__(
        self,
        lists: PluginLists,
        source: ServerSource,
        judge: AuthJudge,
        config: ConfigService,
        cwd: Path,
    ) -> None:
        self._lists, self._source, self._judge = lists, source, judge
        self._config, self._cwd = config, cwd

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/server/entries": self.entries,
            "jackfield/marketplace/considered": self.considered,
            "jackfield/entry/remove": self.remove,
        }

    async def considered(self, params: NoParams, scope: RequestScope) -> ConsideredResult:
        """Marketplaces of the user's own configuration with their plugins, unusable ones too."""
        from core.plugins.considered import considered

        return await considered(self._lists)

    async def entries(self, params: EntriesParams, scope: RequestScope) -> EntriesResult:
        """Servers as the files have them, untrusted and invalid ones left out."""
        reading = await self._source.read(self._cwd, account=False)
        specs = {spec.name: spec for spec in reading.specs}
        wanted = {
            name: entry
            for name, entry in _entries(reading).items()
            if params.names is None or name in params.names
        }
        auth: dict[str, str] = {}
        if params.auth:
            async with anyio.create_task_group() as tasks:
                for name in wanted:
                    if name in specs:
                        tasks.start_soon(self._ask, specs[name], auth)
        tell = partial(_info, reading, specs, secrets=params.secrets)
        return EntriesResult(
            entries=tuple(
                tell(wanted[name], auth=auth.get(name, "unsupported") if params.auth else None)
                for name in sorted(wanted, key=str.encode)
            )
        )

    async def remove(self, params: NameParams, scope: RequestScope) -> Done:
        """Take a server's table out of the person's own file, whatever else is wrong there."""
        await self._config.write(
            [Edit.at("mcp_servers", params.name, value=None)], tolerant=True, reload=True
        )
        return Done()

    async def _ask(self, spec: ServerSpec, auth: dict[str, str]) -> None:
        auth[spec.name] = (await self._judge.state(spec)).status


def _entries(reading: Reading) -> dict[str, ServerEntry]:
    """Configured ones, those of a reserved name too, and those of plugins."""
    brought = {
        spec.name: spec.entry
        for spec in reading.specs
        if spec.plugin_id is not None and spec.entry is not None
    }
    return {**brought, **reading.loaded.servers}


def _info(
    reading: Reading,
    specs: Mapping[str, ServerSpec],
    entry: ServerEntry,
    *,
    secrets: bool,
    auth: str | None,
) -> ServerEntryInfo:
    spec = specs.get(entry.name)
    blocked = spec is not None and spec.standing == "blocked"
    enterprise = entry.auth == "ema_auth"
    # Without the feature the real one counts such a server as switched off.
    off = enterprise and not reading.loaded.feature("use_xaa")
    user = reading.loaded.user.value.get("mcp_servers")
    return ServerEntryInfo(
        name=entry.name,
        enabled=entry.enabled and not (blocked or off),
        disabled_reason=_blocked_by(spec) if spec is not None and blocked else None,
        transport=_transport(entry, _env_vars(reading, entry), secrets=secrets),
        enabled_tools=entry.enabled_tools,
        disabled_tools=entry.disabled_tools,
        startup_timeout_sec=entry.startup_timeout,
        tool_timeout_sec=entry.tool_timeout,
        default_tools_approval_mode=entry.default_tools_approval_mode,
        plugin_id=spec.plugin_id if spec is not None else None,
        own=isinstance(user, dict) and entry.name in user,
        enterprise=enterprise,
        origin=spec.origin
        if spec is not None
        else reading.loaded.origin("mcp_servers", entry.name),
        auth=auth,
    )


def _blocked_by(spec: ServerSpec) -> str:
    return f"requirements ({spec.enabled_at.file or 'managed'})"


def _env_vars(reading: Reading, entry: ServerEntry) -> list[Any]:
    """As they are written: a name, or a table with a name."""
    written = reading.loaded.get("mcp_servers", entry.name, "env_vars")
    if isinstance(written, list):
        return cast("list[Any]", written)
    return [variable.name for variable in entry.env_vars]


def _transport(entry: ServerEntry, env_vars: list[Any], *, secrets: bool) -> dict[str, Any]:
    def shown(values: Mapping[str, str] | None) -> dict[str, str] | None:
        if values is None:
            return None
        return dict(values) if secrets else dict.fromkeys(values, MASK)

    if entry.transport == "stdio":
        return {
            "type": "stdio",
            "command": entry.command,
            "args": list(entry.args if secrets else masked_arguments(entry.args)),
            "env": shown(entry.env),
            "env_vars": env_vars,
            "cwd": entry.cwd,
        }
    return {
        "type": "streamable_http",
        "url": entry.url if secrets else masked_url(entry.url),
        "bearer_token_env_var": entry.bearer_token_env_var,
        "http_headers": shown(entry.http_headers),
        "env_http_headers": None
        if entry.env_http_headers is None
        else dict(entry.env_http_headers),
        "http_headers_helper": None if entry.http_headers_helper is None else _HIDDEN,
    }
