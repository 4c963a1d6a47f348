"""What Explain knows: rows of every layer, and for its target what no row tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from core.protocol.facts import Evidence, Problem
from core.protocol.jackfield_explain import Kind
from core.protocol.jackfield_install import Compatibility
from core.protocol.rows import (
    AccountRow,
    AppRow,
    InstalledRow,
    MarketplaceRow,
    PluginRow,
    ServerRow,
    ToolRow,
)


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A feature switch and where it is decided. `pinned`: by managed requirements."""

    on: bool
    at: Evidence
    pinned: bool = False


@dataclass(frozen=True, kw_only=True)
class ServerFacts:
    """A server beside its row.

    Attributes:
        resolved: Where its program was found; None when it is not on PATH, "" for none.
        command: Its program, as configured.
        cwd, cwd_there: Where it runs.
        start_fault: Why every start of it fails at once, or "".
        unset: Variables that its entry reads and that are not set.
        stored: What is stored for it: as `CredentialState.state`; "" when it was not looked up.
        bearer_variable: Where its token comes from, or "".
        enterprise: Its sign-in is the enterprise's.
        asked: Somebody has talked to it, or tried to.
        wire: What it, or its host, said last: HTTP status, challenge, the last line of stderr.
        standing: `usable`, or what keeps it from being started, as its entry has it.
        http_status: Of the answer with which a start or a connection ended, or None.
        timed_out: It did not answer in time.
    """

    standing: str = "usable"
    resolved: str | None = ""
    command: str = ""
    cwd: str = ""
    cwd_there: bool = True
    start_fault: str = ""
    unset: tuple[str, ...] = ()
    stored: str = ""
    stored_reason: str = ""
    store: str = ""
    until: float | None = None
    renews: bool = False
    enterprise: bool = False
    asked: bool = False
    wire: tuple[str, ...] = ()
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] = ()
    filter_at: Evidence = Evidence()
    http_status: int | None = None
    timed_out: bool = False
    bearer_variable: str = ""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Everything at one moment.

    Attributes:
        config_problems: Faults of configuration files, and of the managed requirements.
        closed: Why the policy cannot be read; then nothing is started.
        trusted: The word on the working directory, None = no word yet.
        servers: Rows by name, of servers that do not run too.
        facts: What is known beside the row, for the servers of the target.
        compat: What Codex makes of the plugins of the target, by plugin id.
        hooks: Of installed plugins, by plugin id: what runs when, and its standing in Codex.
        refresh_failures: Of lists that were just read anew, by domain.
        snapshot_at: When the committed snapshot was made, seconds since the epoch; 0 = none.
        now: Seconds since the epoch.
    """

    codex_home: str = ""
    config_file: str = ""
    project_root: str = ""
    trusted: bool | None = None
    features: Mapping[str, Feature] = field(default_factory=dict[str, Feature])
    config_problems: tuple[Problem, ...] = ()
    closed: Problem | None = None
    marketplaces: Mapping[str, MarketplaceRow] = field(default_factory=dict[str, MarketplaceRow])
    plugins: Mapping[str, PluginRow] = field(default_factory=dict[str, PluginRow])
    apps: Mapping[str, AppRow] = field(default_factory=dict[str, AppRow])
    installed: Mapping[str, InstalledRow] = field(default_factory=dict[str, InstalledRow])
    servers: Mapping[str, ServerRow] = field(default_factory=dict[str, ServerRow])
    tools: Mapping[str, ToolRow] = field(default_factory=dict[str, ToolRow])
    account: AccountRow | None = None
    facts: Mapping[str, ServerFacts] = field(default_factory=dict[str, ServerFacts])
    compat: Mapping[str, Compatibility] = field(default_factory=dict[str, Compatibility])
    hooks: Mapping[str, tuple[tuple[str, str], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, str], ...]]
    )
    refresh_failures: Mapping[str, str] = field(default_factory=dict[str, str])
    snapshot_at: float = 0.0
    again: bool = False
    now: float = 0.0

    def feature(self, name: str) -> Feature:
        """A switch; one that nobody has looked up is on."""
        return self.features.get(name) or Feature(on=True, at=Evidence(layer="default"))

    def server_facts(self, name: str) -> ServerFacts:
        """Of one server; nothing when it was not looked at."""
        return self.facts.get(name) or ServerFacts()

    def brings(self, plugin_id: str, kind: str) -> tuple[str, ...]:
        """Names of servers or apps that Codex uses of a plugin."""
        compat = self.compat.get(plugin_id)
        uses = compat.uses if compat is not None else ()
        return tuple(part.name for part in uses if part.kind == kind)


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is explained. `owner`: server or app of a tool."""

    kind: Kind
    id: str
    name: str
    owner: str = ""
    about: str = ""
