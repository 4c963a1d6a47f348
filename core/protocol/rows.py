"""Rows of the panel, one type per layer; no row carries facts of two layers.

`msgspec.Struct`s, because lists hold tens of thousands of them. Names, descriptions and reasons
are foreign text: they reach a screen only through `tui/text.py`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from core.protocol.facts import Evidence, Problem

Domain = Literal[
    "marketplaces",
    "plugins",
    "apps",
    "installed",
    "servers",
    "inventory",
    "threads",
    "account",
    "problems",
    "config",
]
DOMAINS: tuple[Domain, ...] = (
    "marketplaces",
    "plugins",
    "apps",
    "installed",
    "servers",
    "inventory",
    "threads",
    "account",
    "problems",
    "config",
)


class Row(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False):
    """What every row has. Values without cycles, so the garbage collector is spared them.

    Attributes:
        id: Unique in its domain and stable over refreshes; the cursor is kept by it.
        cached: True while it comes from a cache and no source has confirmed it yet.
    """

    id: str
    cached: bool = False


class MarketplaceRow(Row, frozen=True, kw_only=True):
    """A marketplace that was found or is configured. Layer: plugins.

    Attributes:
        id: Path of the marketplace file; for a configured one without a readable file
            `config:NAME`.
        name: As its file says, else the configured key.
        root: Directory whose plugins it lists.
        format: `codex`, `codex-api`, `claude`, `cursor`, `remote`, or "" when unreadable.
        source: `local`, `git`, `home`, `workspace`, `curated`, `remote`.
        origin: URL or path that it was added from.
        listed: What plugin/list answers for it: `listed`, `empty`, `reserved`, `unreadable`,
            `missing`, `off`; `leftOver` for a checkout that nothing configures.
        total: Entries in the file, dropped ones included.
        checked_at: When it was last read, seconds since the epoch.
        commit: Of a git checkout, full id, or "".
        offered_commit: What its server has named at the last forced refetch, or "".
        pinned: Its `ref` is a full commit id that `jackfield/marketplace/pin` has written.
    """

    name: str
    display_name: str = ""
    path: str | None = None
    root: str = ""
    format: str = ""
    source: str = "local"
    origin: str = ""
    ref: str | None = None
    listed: str = "listed"
    total: int = 0
    checked_at: float = 0.0
    commit: str = ""
    offered_commit: str = ""
    pinned: bool = False
    evidence: Evidence = Evidence()
    problems: tuple[Problem, ...] = ()


class Brings(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False
):
    """What a plugin contributes in Codex, counted; None in the row while not looked at.

    Attributes:
        names: Of its skills and servers, for the search.
    """

    skills: int = 0
    hooks: int = 0
    servers: int = 0
    apps: int = 0
    ignored: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


PluginState = Literal[
    "enabled",
    "disabled",
    "available",
    "notInstalled",
    "update",
    "skipped",
    "empty",
    "broken",
    "blocked",
    "notOffered",
    "leftOver",
]


class PluginRow(Row, frozen=True, kw_only=True):
    """A plugin entry, or what is left of one. Layer: plugins.

    Attributes:
        id: `NAME@MARKETPLACE` when unique in the list, else with `#N` after it.
        plugin_id: `NAME@MARKETPLACE`, as the configuration spells it.
        marketplace: Id of its `MarketplaceRow`.
        state: One word of `PluginState`. `notInstalled` = enabled in the configuration without
            an installed copy; `update` = installed, another version is offered; `skipped` = the
            real server leaves the entry out; `leftOver` = configured or cached, offered nowhere.
        reason: Why the state is not plain, ≤ 60 cells, or "".
        source: What its source says, for people, e.g. `./plugins/a` or a URL.
        source_kind: `local`, `git`, `npm`, `remote`, `unsupported`.
        configured: A `[plugins."ID"]` table exists.
        installed, enabled: As plugin/list answers them.
        enabled_at: Where `enabled` is decided.
        version: Installed version, None when not installed.
        offered: Version that the source offers, when known.
        root: Directory of the installed copy, else of the local source, else "".
        newer: Installed, and another version, commit or source is offered.
        changed: Installed, and the source has other content under the same version.
        commit, offered_commit: Of a git source: installed and offered, full ids, or "".
        pinned: The version that it is to stay at, `local` for one without; None = not pinned.
        before: The newest former version that is kept, None when none is.
        codex: What Codex does next with a pinned copy, or "".
        left_over: Why it is left over: `unconfigured` (cached only), `notOffered`,
            `marketplaceGone`, `moved` (`moved_to` offers its name now), `badKey`, `unreadable`
            (its marketplace cannot be read: nothing to clean up); or "".
        moved_to: Id of the plugin of this name in another marketplace, or "".
    """

    plugin_id: str
    name: str
    marketplace: str
    display_name: str = ""
    description: str = ""
    category: str = ""
    keywords: tuple[str, ...] = ()
    state: PluginState = "available"
    reason: str = ""
    source: str = ""
    source_kind: str = "local"
    configured: bool = False
    installed: bool = False
    enabled: bool = False
    enabled_at: Evidence = Evidence()
    version: str | None = None
    offered: str | None = None
    install_policy: str = "AVAILABLE"
    auth_policy: str = "ON_INSTALL"
    brings: Brings | None = None
    root: str = ""
    newer: bool = False
    changed: bool = False
    commit: str = ""
    offered_commit: str = ""
    pinned: str | None = None
    before: str | None = None
    codex: str = ""
    left_over: str = ""
    moved_to: str = ""
    evidence: Evidence = Evidence()
    problems: tuple[Problem, ...] = ()


class AppRow(Row, frozen=True, kw_only=True):
    """An app as app/list tells it. Layer: app metadata; says nothing about callable.

    Attributes:
        accessible: Linked to this account: its connector is among the hosted tools.
        enabled: Effective switch; `enabled_at` says where it is decided.
        brought_by: Display names of the plugins that name it.
    """

    name: str
    description: str = ""
    category: str = ""
    accessible: bool = False
    enabled: bool = True
    enabled_at: Evidence = Evidence()
    brought_by: tuple[str, ...] = ()
    install_url: str = ""
    labels: tuple[str, ...] = ()


class InstalledRow(Row, frozen=True, kw_only=True):
    """An app of the committed runtime snapshot, as app/installed tells it.

    Layer: installed snapshot. `tools` counts its tools, `callable_tools` those that the model
    may call now.
    """

    name: str
    enabled: bool = True
    callable: bool = False
    reason: str = ""
    tools: int = 0
    callable_tools: int = 0
    committed_at: float = 0.0


ServerStatus = Literal[
    "notStarted",
    "starting",
    "connected",
    "authenticationRequired",
    "failed",
    "cancelled",
    "disabled",
    "waiting",
    "untrusted",
    "review",
    "blocked",
    "invalid",
]


class ServerRow(Row, frozen=True, kw_only=True):
    """An MCP server of the panel's thread. Layer: MCP status.

    Attributes:
        status: The seven words of the wire, plus ours: `waiting` (between two tries),
            `untrusted` (project folder not trusted), `review` (consent asked for), `blocked`
            (managed requirements), `invalid` (its table cannot be used).
        reason: What was said, by whom, what next; ≤ 60 cells: `exited 3 — boom: missing API
            key`, `HTTP 503 from search.example`, `No such file or directory: nope-server`.
        since: When this status began, seconds since the epoch.
        limit: Seconds that a start may take, for `starting` and `waiting`.
        transport: `stdio`, `http` or "" when invalid.
        target: Command line or URL with secrets masked.
        target_problem: Why `target` is shown masked or cut, or "".
        origin: Where the entry stands; `plugin_id` when a plugin brings it.
        auth: As the wire's authStatus: `unsupported`, `notLoggedIn`, `bearerToken`, `oAuth`,
            `unknown`.
        auth_until: When the stored access token ends, seconds since the epoch; None when nobody
            knows. `auth_renews`: it is refreshed by itself before that.
        tools, tools_total: Tools after and before enabled_tools/disabled_tools; None before the
            inventory has come back.
        heard_at: When the server was last heard, seconds since the epoch.
        latency_ms: Duration of its last answer.
        configured: False for one that still runs but is no longer in any file.
    """

    name: str
    status: ServerStatus = "notStarted"
    reason: str = ""
    since: float = 0.0
    limit: float | None = None
    enabled: bool = True
    enabled_at: Evidence = Evidence()
    transport: str = "stdio"
    target: str = ""
    target_problem: str = ""
    origin: Evidence = Evidence()
    plugin_id: str | None = None
    auth: str = "unsupported"
    auth_reason: str = ""
    auth_until: float | None = None
    auth_renews: bool = False
    tools: int | None = None
    tools_total: int | None = None
    resources: int | None = None
    templates: int | None = None
    heard_at: float | None = None
    latency_ms: float | None = None
    protocol: str = ""
    server_version: str = ""
    pid: int | None = None
    configured: bool = True
    required: bool = False
    stderr_tail: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


class ToolRow(Row, frozen=True, kw_only=True):
    """A tool of a server's live inventory, or of the hosted apps' snapshot. Layer: inventory.

    Attributes:
        id: `SERVER/TOOL`.
        kind: `tool`, `resource`, `template`, `prompt`.
        source: `server` (the thread's live inventory) or `app` (the committed snapshot).
        owner: Server name, or app id for `app`.
        effect: `reads`, `writes`, `destroys` or "" when it does not say.
        visible: `_meta.ui.visibility` is absent or contains `model`.
        filtered: Left out by enabled_tools or disabled_tools.
        callable: The model may call it now; `reason` says why not.
        tokens: Estimated cost of its declaration, bytes / 4.
    """

    name: str
    owner: str
    title: str = ""
    description: str = ""
    kind: str = "tool"
    source: str = "server"
    effect: str = ""
    visible: bool = True
    filtered: bool = False
    callable: bool = False
    reason: str = ""
    tokens: int = 0
    seen_at: float = 0.0


class ThreadRow(Row, frozen=True, kw_only=True):
    """A loaded thread: its working directory and what the folder is trusted for."""

    cwd: str
    trusted: bool | None = None
    project_root: str | None = None
    mine: bool = False


class AccountRow(Row, frozen=True, kw_only=True):
    """Who is signed in. `kind`: `none`, `apiKey`, `chatgpt`, `unknown`."""

    kind: str = "none"
    email: str = ""
    plan: str = ""
    workspace: str = ""
    store: str = ""
    reason: str = ""


class ProblemRow(Row, frozen=True, kw_only=True):
    """A `Problem` as a row of its own."""

    problem: Problem


class ConfigRow(Row, frozen=True, kw_only=True):
    """A configuration layer: which file, whether it is there, whether it can be used.

    Attributes:
        id: The file's path, or the layer's name where it has no file.
        state: `used`, `absent`, `untrusted`, `broken`, `partly` (one bad table left out).
    """

    layer: str
    file: str | None = None
    state: str = "used"
    problems: tuple[Problem, ...] = ()


ROW_TYPES: dict[Domain, type[Row]] = {
    "marketplaces": MarketplaceRow,
    "plugins": PluginRow,
    "apps": AppRow,
    "installed": InstalledRow,
    "servers": ServerRow,
    "inventory": ToolRow,
    "threads": ThreadRow,
    "account": AccountRow,
    "problems": ProblemRow,
    "config": ConfigRow,
}


_MEASURED = ("checked_at", "seen_at", "heard_at", "committed_at", "latency_ms")


def timeless(row: Row) -> Row:
    """The row without what every look at its source changes: when that was, and how long it took.

    Two rows that are equal without it tell a person the same.
    """
    held = row.__struct_fields__
    bare: dict[str, Any] = {name: None for name in _MEASURED if name in held}
    return msgspec.structs.replace(row, cached=False, **bare)


def detail_of(row: Row) -> dict[str, Any]:
    """The row as plain JSON values in wire spelling, for copying and for the command line."""
    value: dict[str, Any] = msgspec.to_builtins(row)
    return value
