"""What the command line lists: servers as they are configured, marketplaces as Codex sees them."""

from __future__ import annotations

from typing import Any

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message
from core.protocol.plugins import PluginSource


class EntriesParams(Message, frozen=True, kw_only=True):
    """Servers of the configuration and of enabled plugins; nothing is started.

    Attributes:
        names: None = all.
        auth: Find out how each is authorised; asks HTTP servers, for 5 s at most.
        secrets: Values of variables and headers in clear; else they are masked.
    """

    names: tuple[str, ...] | None = None
    auth: bool = False
    secrets: bool = False


class ServerEntryInfo(Message, frozen=True, kw_only=True):
    """One server as it is configured.

    Attributes:
        transport: `type` and the members that belong to it, as Codex's command line writes them.
        disabled_reason: Who else keeps it off, or None.
        startup_timeout_sec, tool_timeout_sec: None when not set.
        plugin_id: Of the plugin that brings it.
        own: The person's own file has it, so that it can be removed.
        enterprise: Its sign-in is the enterprise's.
        auth: As the wire's authStatus; None when it was not asked for.
    """

    name: str
    enabled: bool
    disabled_reason: str | None
    transport: dict[str, Any]
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] | None = None
    startup_timeout_sec: float | None = None
    tool_timeout_sec: float | None = None
    default_tools_approval_mode: str | None = None
    plugin_id: str | None = None
    own: bool = False
    enterprise: bool = False
    origin: Evidence = Evidence()
    auth: str | None = None


class EntriesResult(Message, frozen=True, kw_only=True):
    """In byte order of their names."""

    entries: tuple[ServerEntryInfo, ...]


class ConsideredPlugin(Message, frozen=True, kw_only=True):
    """A plugin that a marketplace lists.

    Attributes:
        version: Of the installed copy; else what the source says.
        root: Of the installed copy, or None.
    """

    id: str
    name: str
    source: PluginSource
    installed: bool
    enabled: bool
    version: str | None
    root: str | None
    install_policy: str
    auth_policy: str


class ConsideredMarketplace(Message, frozen=True, kw_only=True):
    """A marketplace that Codex considers.

    Attributes:
        key: Its name in the configuration; "" for one that is not configured.
        source_type, source, ref: As configured, else "" and None.
    """

    name: str
    path: str
    root: str
    key: str = ""
    source_type: str = ""
    source: str = ""
    ref: str | None = None
    plugins: tuple[ConsideredPlugin, ...] = ()


class UnusableMarketplace(Message, frozen=True, kw_only=True):
    """A configured marketplace that cannot be used.

    Attributes:
        place: Its root, or the file that is wrong.
        message: As Codex words it.
    """

    key: str
    place: str
    message: str
    evidence: Evidence = Evidence()


class ConsideredResult(Message, frozen=True, kw_only=True):
    """In Codex's order: the home directory's first, then by path."""

    marketplaces: tuple[ConsideredMarketplace, ...] = ()
    unusable: tuple[UnusableMarketplace, ...] = ()
