"""The panel's lists of servers and of what they offer, published as each server answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from core.mcp.connection import Connection
from core.mcp.hosted import HOSTED_NAME
from core.mcp.inventory import Listing
from core.mcp.lists import LISTS
from core.mcp.rows import (
    AuthState,
    Held,
    presumed_auth,
    server_row,
    shown_spec,
    stale_tool,
    tool_rows,
)
from core.mcp.runtime import McpRuntime
from core.mcp.spec import ServerSpec
from core.ports import Clock
from core.protocol.events import Phase, StateChanged
from core.protocol.rows import ServerRow, ToolRow
from core.snapshot import SnapshotOwner

SAME_MOMENT = 0.05
"""Seconds."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """What tool rows were made from: lists may be long, and most changes are not theirs."""

    live: bool
    reason: str
    filters: tuple[object, ...]
    lists: tuple[Listing | None, ...]

    @staticmethod
    def of(spec: ServerSpec, connection: Connection) -> _Seen:
        return _Seen(
            connection.live,
            connection.reason,
            (spec.enabled_tools, spec.disabled_tools),
            tuple(connection.listing(name) for name in LISTS),
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Seen)
            and (self.live, self.reason, self.filters) == (other.live, other.reason, other.filters)
            and all(a is b for a, b in zip(self.lists, other.lists, strict=True))
        )


class ServerBoard:
    """Holds the snapshots `servers` and `inventory`.

    Attributes:
        runtime: Of the panel's thread; None before there is one.
        beside: Rows of tools that no server of the thread lists: the hosted apps' snapshot.
        hold: Why a usable server without a connection is not running; None when nothing holds
            it.
    """

    def __init__(self, emit: Callable[[StateChanged], None], clock: Clock) -> None:
        self.servers: SnapshotOwner[ServerRow] = SnapshotOwner("servers", emit)
        self.inventory: SnapshotOwner[ToolRow] = SnapshotOwner("inventory", emit)
        self.runtime: McpRuntime | None = None
        self.hold: Callable[[ServerSpec], str | None] = lambda spec: None
        self.beside: Callable[[], tuple[ToolRow, ...]] = tuple
        self._clock = clock
        self._fetches = 0
        self._auth: dict[str, AuthState] = {}
        self._held_since: dict[str, float] = {}
        self._tools: dict[str, tuple[ToolRow, ...]] = {}
        self._seen: dict[str, _Seen] = {}

    def sync(self) -> None:
        """The set of servers, or what holds some of them, has changed."""
        if self.runtime is None:
            return
        specs = dict(self.runtime.specs)
        for name, connection in self.runtime.connections.items():
            specs.setdefault(name, connection.spec)
        ordered = [specs[name] for name in sorted(specs, key=str.encode)]
        self._auth = {name: auth for name, auth in self._auth.items() if name in specs}
        rows = [self._row(spec) for spec in ordered]
        gone = self.servers.current.rows.keys() - specs.keys()
        phase: Phase = "final" if gone else self._phase
        self.servers.publish(self.servers.begin(), rows, phase=phase, at=self._clock.now())
        self._tools = {name: tools for name, tools in self._tools.items() if name in specs}
        for spec in ordered:
            self._list(spec)
        self._publish_tools(ordered, "final" if self._orphans() else self._phase)

    def begin_fetch(self) -> None:
        """Servers are being asked: until all have answered, what they say is intermediate."""
        self._fetches += 1

    def end_fetch(self) -> None:
        """All of one fetch have answered, or will not; with the last fetch the lists are whole."""
        self._fetches -= 1
        self.sync()

    def _orphans(self) -> bool:
        """A server, or the apps' account, has gone: its tools leave, whoever is still awaited."""
        beside = {row.id for row in self.beside()}
        return any(
            row.id not in beside if row.source == "app" else row.owner not in self._tools
            for row in self.inventory.current.rows.values()
        )

    @property
    def _phase(self) -> Phase:
        return "intermediate" if self._fetches else "final"

    def update(self, connection: Connection) -> None:
        """A state or a list of one server has changed."""
        if self.runtime is None or self.runtime.connection(connection.spec.name) is not connection:
            return
        name = connection.spec.name
        if name not in self.servers.current.rows:
            return  # new: it comes with the whole set, all of them at once
        spec = self.runtime.specs.get(name, connection.spec)
        self.servers.upsert(self._row(spec), phase=self._phase)
        before = self._tools.get(name, ())
        self._list(spec)
        if self._tools.get(name, ()) != before:
            specs = {**self.runtime.specs, name: spec}
            ordered = [specs[key] for key in sorted(specs, key=str.encode)]
            self._publish_tools(ordered, self._phase)

    def set_auth(self, name: str, auth: AuthState) -> None:
        """What is known now of how a server is authorised."""
        self._auth[name] = auth
        row = self.servers.current.rows.get(name)
        spec = self.runtime.specs.get(name) if self.runtime is not None else None
        if row is not None and spec is not None:
            self.servers.upsert(self._row(spec), phase=self._phase)

    def _row(self, spec: ServerSpec) -> ServerRow:
        connection = self._connection(spec.name)
        row = server_row(
            shown_spec(spec, connection),
            connection,
            held=self._held(spec),
            auth=self._auth.get(spec.name) or presumed_auth(spec),
            clock=self._clock,
        )
        return _steady(row, self.servers.current.rows.get(spec.name))

    def _held(self, spec: ServerSpec) -> Held:
        reason = self.hold(spec) if spec.usable else None
        key = f"{spec.name} {spec.standing} {reason}"
        since = self._held_since.setdefault(key, self._clock.now())
        if reason is None:
            return Held(since=since)
        return Held(status="review", reason=reason, since=since)

    def _list(self, spec: ServerSpec) -> None:
        connection = self._connection(spec.name)
        if connection is None:
            self._tools.pop(spec.name, None)
        elif connection.listing("tools") is not None or spec.name not in self._tools:
            shown = shown_spec(spec, connection)
            seen = _Seen.of(shown, connection)
            if seen != self._seen.get(spec.name) or spec.name not in self._tools:
                self._seen[spec.name] = seen
                self._tools[spec.name] = tuple(tool_rows(shown, connection))
        else:
            known = self._tools[spec.name]
            self._tools[spec.name] = tuple(stale_tool(row, connection) for row in known)

    def _connection(self, name: str) -> Connection | None:
        return self.runtime.connection(name) if self.runtime is not None else None

    def _publish_tools(self, ordered: Iterable[ServerSpec], phase: Phase) -> None:
        # The hosted server's tools are those of the apps: they come from the committed snapshot.
        own = [spec for spec in ordered if spec.name != HOSTED_NAME]
        rows = [row for spec in own for row in self._tools.get(spec.name, ())]
        rows += self.beside()
        self.inventory.publish(self.inventory.begin(), rows, phase=phase, at=self._clock.now())


def _steady(row: ServerRow, before: ServerRow | None) -> ServerRow:
    """The same moment read from two clocks differs by a hair: that is no news."""
    if before is None or before.heard_at is None or row.heard_at is None:
        return row
    if abs(row.heard_at - before.heard_at) > SAME_MOMENT:
        return row
    return replace(row, heard_at=before.heard_at)
