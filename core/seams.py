"""What crosses between owners, as Protocols; owners import only these, `compose` wires them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from core.protocol.facts import Evidence, Problem
from core.protocol.rows import ToolRow


@dataclass(frozen=True, kw_only=True)
class DeclaredServer:
    """An MCP server that an enabled plugin brings (PLUGINS.md §7.3, MCP.md §13).

    Attributes:
        name: As the plugin calls it.
        plugin_id: `PLUGIN@MARKETPLACE`.
        entry: Members as in `[mcp_servers.NAME]`, unknown ones dropped; Agent-Plugins variables
            already substituted.
        root: Directory of the installed copy; base of a relative `cwd`.
        origin: File (and line, when known) that declares it.
        agent_plugins: Comes from an Agent-Plugins `mcp.json` (stricter redirects, §7.3).
    """

    name: str
    plugin_id: str
    entry: Mapping[str, Any]
    root: Path
    origin: Evidence
    agent_plugins: bool = False


@dataclass(frozen=True, kw_only=True)
class DeclaredServers:
    """All servers of enabled plugins, by plugin id then name, and what was wrong with others."""

    servers: tuple[DeclaredServer, ...] = ()
    problems: tuple[Problem, ...] = ()


class ServerDeclarations(Protocol):
    """The plugin layer's answer to: which MCP servers do enabled plugins bring?"""

    def declared_servers(self, cwd: Path | None) -> DeclaredServers:
        """For a thread's directory, or for requests without one. Reads disk; call in a thread."""
        ...


@dataclass(frozen=True, kw_only=True)
class NamedApp:
    """An app that an enabled plugin names in its `.app.json`."""

    app_id: str
    plugin_id: str
    plugin_display_name: str
    category: str | None = None


class PluginApps(Protocol):
    """The plugin layer's answer to: which apps do enabled plugins name?"""

    def named_apps(self, cwd: Path | None) -> tuple[NamedApp, ...]:
        """In plugin order. Reads disk; call in a thread."""
        ...


@dataclass(frozen=True, kw_only=True)
class HostedTool:
    """A tool of the hosted server `codex_apps`, raw, as its tools/list gave it."""

    raw: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class HostedServer:
    """How to reach the hosted apps server; None from the seam where apps cannot be used."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    bearer_token: str | None = field(default=None, repr=False)


class HostedServers(Protocol):
    """The account's answer to: is there a hosted apps server for this configuration?"""

    async def hosted_server(self, cwd: Path | None) -> HostedServer | None: ...


class HostedTools(Protocol):
    """The MCP layer's answer to the app layer: the hosted tools, freshly listed or kept."""

    async def list_hosted_tools(
        self, *, force: bool, cwd: Path | None, deadline: float
    ) -> Sequence[HostedTool] | None:
        """None when the server is not ready (unforced only). Raises CoreError when it fails."""
        ...


class InstalledTools(Protocol):
    """The app layer's rows for the tools tab: the committed snapshot only."""

    def snapshot_tools(self) -> tuple[ToolRow, ...]: ...


class BearerSource(Protocol):
    """The sign-in layer's answer to: what authorises requests to this server?"""

    async def bearer(self, server: str, url: str) -> str | None:
        """A usable access token, refreshed when due; None when nothing is stored."""
        ...

    async def status(self, server: str, url: str) -> str:
        """`oAuth`, `notLoggedIn`, `none` (nothing stored) or `unknown` (store unreadable)."""
        ...

    async def rejected(self, server: str, url: str, token: str) -> str | None:
        """The server answered 401 to `token`: one try to refresh; a new token or None."""
        ...


class Invalidations(Protocol):
    """What a change in one layer makes stale in the others."""

    async def plugins_changed(self, cause: str) -> None: ...
    async def servers_changed(self, cause: str) -> None: ...
    async def account_changed(self, cause: str) -> None: ...
