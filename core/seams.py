"""What crosses between owners, as Protocols; owners import only these, `compose` wires them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from core.protocol.facts import Evidence, Problem
from core.protocol.rows import ToolRow
from core.threads.policy import ThreadPolicy

if TYPE_CHECKING:
    from core.config.model import Loaded


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
        display_name: Of the plugin, as its manifest has it, or "": its tools name it.
    """

    name: str
    plugin_id: str
    entry: Mapping[str, Any]
    root: Path
    origin: Evidence
    agent_plugins: bool = False
    display_name: str = ""


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
    """The MCP layer's answer to the app layer: the hosted tools, freshly listed."""

    async def list_hosted_tools(
        self, server: HostedServer, *, policy: ThreadPolicy, deadline: float
    ) -> Sequence[HostedTool]:
        """All pages of one tools/list on a connection of its own, within `deadline` seconds.

        Raises:
            CoreError: It cannot be reached, or fails; `message` says who said what.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class BackendAccount:
    """A ChatGPT sign-in as the backend's methods need it.

    Attributes:
        key: Members that tell caches of different accounts apart, in Codex's own order:
            `account_id`, `chatgpt_user_id`, `is_workspace_account`.
        base_url: Of the backend, without a final slash.
        account_id: Of the selected workspace; "" when the sign-in does not name one.
        workspace: Its plan has a directory of its own.
    """

    key: Mapping[str, Any]
    base_url: str
    account_id: str
    workspace: bool
    access_token: str = field(repr=False)

    @property
    def identity(self) -> str:
        """Whose data: a digest that differs when backend, workspace, user or kind of plan do."""
        members = repr((self.base_url, *self.key.values()))
        return sha256(members.encode()).hexdigest()[:32]


class Accounts(Protocol):
    """The sign-in layer's answer to: who is signed in at the ChatGPT backend?"""

    async def backend_account(self) -> BackendAccount | None:
        """None without a ChatGPT sign-in. Cheap: the file is read again only when changed.

        Raises:
            CoreError: Something is stored and cannot be read: nobody knows who it is.
        """
        ...


class ThreadConfigs(Protocol):
    """The threads' answer to: which configuration does this thread run with?"""

    def config_of(self, thread_id: str) -> Loaded:
        """Of the thread's start or last reload; its `cwd` is the thread's.

        Raises:
            InvalidRequest: Text that is no thread id, or of no loaded thread, in the wire's words.
        """
        ...


class InstalledTools(Protocol):
    """The app layer's rows for the tools tab: the committed snapshot only."""

    def snapshot_tools(self) -> tuple[ToolRow, ...]: ...


Redirects = Literal["same-origin", "same-origin-anonymous", "none"]


@dataclass(frozen=True, kw_only=True)
class SignInTarget:
    """A streamable HTTP server, as signing in to it needs to know it.

    Attributes:
        headers: Configured ones; they go to the server's own origin only.
        client_id, client_secret: Of a client that was registered beforehand.
        callback_url, callback_port: Of its entry, None where the entry does not say.
        scopes: Configured ones, None when the entry has none.
        resource: A second resource indicator (RFC 8707), or None.
        redirects: What is followed while talking to the server, discovery included: within the
            origin, within the origin while no configured header goes along, or nothing.
    """

    server: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    callback_url: str | None = None
    callback_port: int | None = None
    scopes: tuple[str, ...] | None = None
    resource: str | None = None
    redirects: Redirects = "same-origin"


class BearerSource(Protocol):
    """The sign-in layer's answer to: what authorises requests to this server?"""

    async def bearer(self, target: SignInTarget) -> str | None:
        """A usable access token, refreshed when due; None when nothing is stored.

        Raises:
            CoreError: The token has expired and there is no new one; in the wire's words.
        """
        ...

    async def status(self, target: SignInTarget) -> str:
        """`oAuth`, `notLoggedIn`, `none` (nothing stored) or `unknown` (store unreadable)."""
        ...

    async def rejected(self, target: SignInTarget, token: str) -> str | None:
        """The server answered 401 to `token`: one try to refresh; a new token or None."""
        ...

    async def why(self, target: SignInTarget) -> str:
        """Why `status` is what it is, for people; "" when there is nothing to say."""
        ...

    async def ends(self, target: SignInTarget) -> tuple[float | None, bool]:
        """When what is stored ends, seconds since the epoch, and whether it is refreshed then.

        None when nothing is stored, it does not say, or the store cannot be read.
        """
        ...

    async def insufficient(self, target: SignInTarget, scopes: Sequence[str]) -> None:
        """The server answered 403: what was granted lacks `scopes`; () where it names none."""
        ...


class AuthProbe(Protocol):
    """The sign-in layer's answer to: does this server offer OAuth? It only ever reads."""

    async def offers_oauth(self, target: SignInTarget) -> bool | None:
        """None when it could not be decided. Takes 5 s at most; never raises.

        Answers are remembered for a while, by URL.
        """
        ...

    def forget(self, url: str) -> None:
        """The next question about `url` is to be asked anew."""
        ...


class Invalidations(Protocol):
    """What a change in one layer makes stale in the others."""

    async def plugins_changed(self, cause: str) -> None: ...
    async def servers_changed(self, cause: str) -> None: ...
    async def account_changed(self, cause: str) -> None: ...
