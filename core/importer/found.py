"""What was found in another agent's files, before it is written the way Codex has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.importer.references import Text
from core.protocol.facts import Evidence


@dataclass(frozen=True, kw_only=True)
class FoundServer:
    """An MCP server of another agent.

    Attributes:
        transport: `stdio`, `http`, `sse`, or what the file says where it is none of these.
        known: Members of Codex's own record that could be told at once: tool lists, timeouts.
        notes: What is lost on the way, for people.
        fault: Why it can be no server of Codex, or "".
        asked: By id what an editor asks for: `${input:ID}`.
    """

    name: str
    origin: Evidence
    enabled: bool = True
    transport: str = "stdio"
    command: Text | None = None
    args: tuple[Text, ...] = field(default=(), repr=False)
    env: Mapping[str, Text] = field(default_factory=dict[str, Text], repr=False)
    cwd: Text | None = None
    url: Text | None = field(default=None, repr=False)
    headers: Mapping[str, Text] = field(default_factory=dict[str, Text], repr=False)
    known: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    notes: tuple[str, ...] = ()
    fault: str = ""
    asked: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class FoundMarketplace:
    """A marketplace of another agent. `table`: as `[marketplaces.NAME]`; empty with a `fault`."""

    name: str
    origin: Evidence
    table: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class FoundPlugin:
    """A plugin that another agent has turned on or off. `id`: `PLUGIN@MARKETPLACE`."""

    id: str
    origin: Evidence
    enabled: bool = True


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Everything that one file says.

    Attributes:
        declined: Servers of the project's `.mcp.json` that are turned off here.
    """

    servers: tuple[FoundServer, ...] = ()
    marketplaces: tuple[FoundMarketplace, ...] = ()
    plugins: tuple[FoundPlugin, ...] = ()
    declined: frozenset[str] = frozenset()
