"""A core that does what a test tells it to."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from core import method_table as methods
from core.channels import EventHub, Subscription
from core.client.contract import Capabilities
from core.errors import CoreError
from core.methods import Method
from core.protocol import jackfield as wire
from core.protocol.events import (
    Event,
    Phase,
    RefreshFinished,
    RefreshStarted,
    StateChanged,
)
from core.protocol.facts import Evidence
from core.protocol.rows import DOMAINS, Domain, Row
from core.snapshot import SnapshotOwner

OURS = frozenset(
    method.name
    for name, method in vars(methods).items()
    if name.startswith("JACKFIELD_") and isinstance(method, Method)
)

STATUS = wire.StatusResult(
    home="/home/dev",
    codex_home="/home/dev/.codex",
    cwd="/home/dev/src/atlas",
    project_root="/home/dev/src/atlas",
    trusted=True,
    version="0.0.0",
    read_only=False,
    config_file="/home/dev/.codex/config.toml",
    state_dir="/home/dev/.local/state/jackfield",
)


class FakeClient:
    """Scripted rows, events pushed by hand, and every call written down.

    Attributes:
        calls: (method name, params) in order.
        answers: By method name: a result, an exception to raise, or a function of the params.
    """

    def __init__(self, **rows: list[Any]) -> None:
        self.hub = EventHub()
        self.owners: dict[Domain, SnapshotOwner[Any]] = {
            domain: SnapshotOwner(domain, self.hub.emit) for domain in DOMAINS
        }
        self.calls: list[tuple[str, Any]] = []
        self.answers: dict[str, Any] = {"jackfield/status": STATUS}
        self.past: tuple[Event, ...] = ()
        self.consent: tuple[wire.ConsentItem, ...] = ()
        self.page = 0
        self.closed = False
        self._refreshes = 0
        for domain, given in rows.items():
            self.put(domain, *given)  # type: ignore[arg-type]

    # ── what tests do ──

    def put(self, domain: Domain, *rows: Row, phase: Phase = "final", at: float = 1.0) -> None:
        """Publish rows as an owner does."""
        owner = self.owners[domain]
        owner.publish(owner.begin(), rows, phase=phase, at=at)

    def push(self, *events: Event) -> None:
        """Send events as they are."""
        for event in events:
            self.hub.emit(event)

    def asked(self, name: str) -> list[Any]:
        """The params of all calls of a method."""
        return [params for called, params in self.calls if called == name]

    # ── the contract ──

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(methods=OURS, name="fake", version="0")

    async def call(self, method: Method[Any, Any], params: Any) -> Any:
        self.calls.append((method.name, params))
        answer = self.answers.get(method.name)
        if isinstance(answer, Exception):
            raise answer
        if callable(answer) and not isinstance(answer, type):
            return answer(params)
        if answer is not None:
            return answer
        handler: Callable[[Any], Any] | None = getattr(
            self, "_" + method.name.removeprefix("jackfield/").replace("/", "_"), None
        )
        if handler is None:
            raise CoreError(f"the fake does not know {method.name}")
        return handler(params)

    @asynccontextmanager
    async def subscribe(self) -> AsyncGenerator[Subscription]:
        async with self.hub.subscribe() as subscription:
            yield subscription

    async def aclose(self) -> None:
        self.closed = True
        self.hub.close()

    # ── answers ──

    def _rows(self, params: wire.RowsParams) -> wire.RowsResult:
        snapshot = self.owners[params.domain].current
        rows = list(snapshot.rows.values())
        start, limit = int(params.cursor or 0), self.page or params.limit
        end = start + limit
        return wire.RowsResult(
            domain=params.domain,
            revision=snapshot.revision,
            phase=snapshot.phase,
            rows=tuple(rows[start:end]),
            refreshed_at=snapshot.refreshed_at,
            next_cursor=str(end) if end < len(rows) else None,
        )

    def _panel_start(self, params: wire.PanelStartParams) -> wire.PanelStartResult:
        return wire.PanelStartResult(thread_id="t1")

    def _refresh(self, params: wire.RefreshParams) -> wire.RefreshResult:
        self._refreshes += 1
        return wire.RefreshResult(refresh_id=f"r{self._refreshes}")

    def _switch(self, params: wire.SwitchParams) -> wire.SwitchResult:
        word = "on" if params.enabled else "off"
        return wire.SwitchResult(
            written=True,
            effective=params.enabled,
            message=f"{params.id} is {word}: config.toml:30, enabled = {str(params.enabled).lower()}",
            evidence=Evidence(file="/home/dev/.codex/config.toml", line=30, layer="user"),
            undo=f"u{len(self.calls)}",
        )

    def _undo(self, params: wire.UndoParams) -> wire.SwitchResult:
        return wire.SwitchResult(written=True, effective=True, message="undone: enabled")

    def _server_reconnect(self, params: wire.NamesParams) -> wire.Done:
        return wire.Done()

    def _server_cancel(self, params: wire.NameParams) -> wire.Done:
        return wire.Done()

    def _detail(self, params: Any) -> wire.DetailResult:
        return wire.DetailResult(detail={})

    _server_detail = _plugin_detail = _app_detail = _tool_detail = _detail

    def _consent_read(self, params: wire.NoParams) -> wire.ConsentResult:
        return wire.ConsentResult(items=self.consent)

    def _consent_write(self, params: wire.ConsentAnswers) -> wire.Done:
        return wire.Done()

    def _events_recent(self, params: wire.RecentParams) -> wire.RecentResult:
        return wire.RecentResult(events=self.past)

    def _problems(self, params: wire.NoParams) -> wire.ProblemsResult:
        return wire.ProblemsResult(problems=())


def refetch(client: FakeClient, domain: Domain, *sources: str, id: str = "r1") -> None:
    """The start of a forced refresh, as an owner tells it."""
    client.push(RefreshStarted(id=id, domain=domain, forced=True, sources=sources))


def refetched(
    client: FakeClient,
    domain: Domain,
    *,
    id: str = "r1",
    outcome: str = "ok",
    added: int = 0,
    changed: int = 0,
    removed: int = 0,
    seconds: float = 4.2,
) -> None:
    """The end of a refresh."""
    client.push(
        RefreshFinished(
            id=id,
            domain=domain,
            outcome=outcome,
            added=added,
            changed=changed,
            removed=removed,
            seconds=seconds,
        )
    )


__all__ = ["STATUS", "FakeClient", "StateChanged", "refetch", "refetched"]
