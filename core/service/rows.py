"""jackfield/rows: pages of a snapshot; jackfield/events/recent: what has happened so far."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any

from core.channels import EventHub
from core.errors import InvalidRequest
from core.protocol.events import Event, Occurrence, RefreshEvent, RefreshFinished, RefreshStarted
from core.protocol.jackfield import (
    RecentParams,
    RecentResult,
    RowsParams,
    RowsResult,
)
from core.protocol.rows import DOMAINS, Domain
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.snapshot import Snapshot, SnapshotOwner

PAGE_LIMIT = 10_000
HELD = 4
RECENT = 5_000


class RowsService:
    """Reads the owners' snapshots; pages of one reading come from one snapshot."""

    def __init__(self, owners: Mapping[Domain, SnapshotOwner[Any]], hub: EventHub) -> None:
        self._owners = dict(owners)
        self._held: dict[Domain, deque[Snapshot[Any]]] = {}
        self._running: dict[str, Domain] = {}
        self._recent: deque[Event] = deque(maxlen=RECENT)
        hub.listen(self._on_event)

    def add(self, owners: Mapping[Domain, SnapshotOwner[Any]]) -> None:
        """More owners, that stand only now."""
        self._owners.update(owners)

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/rows": self.rows, "jackfield/events/recent": self.recent}

    def _on_event(self, event: Event) -> None:
        match event:
            case RefreshStarted():
                self._running[event.id] = event.domain
            case RefreshFinished():
                self._running.pop(event.id, None)
            case _:
                pass
        if isinstance(event, Occurrence | RefreshEvent):
            self._recent.append(event)

    async def rows(self, params: RowsParams, scope: RequestScope) -> RowsResult:
        owner = self._owners.get(params.domain)
        if owner is None:
            if params.domain not in DOMAINS:
                raise InvalidRequest(f"no rows of {params.domain} here")
            # Its owner does not stand yet; what it says first comes as an event.
            return RowsResult(domain=params.domain, revision=0, phase="cached", rows=())
        snapshot, start = self._page(params, owner)
        size = max(1, min(params.limit, PAGE_LIMIT))
        rows = tuple(islice(snapshot.rows.values(), start, start + size))
        end = start + len(rows)
        return RowsResult(
            domain=params.domain,
            revision=snapshot.revision,
            phase=snapshot.phase,
            rows=rows,
            refreshed_at=snapshot.refreshed_at,
            refreshing=params.domain in self._running.values(),
            next_cursor=f"{snapshot.revision}:{end}" if end < len(snapshot.rows) else None,
        )

    def _page(self, params: RowsParams, owner: SnapshotOwner[Any]) -> tuple[Snapshot[Any], int]:
        """The snapshot that the cursor was cut from, while we still hold it, and the place."""
        if params.cursor is None:
            held = self._held.setdefault(params.domain, deque(maxlen=HELD))
            held.append(owner.current)
            return owner.current, 0
        revision, _, start = params.cursor.partition(":")
        for snapshot in self._held.get(params.domain, ()):
            if str(snapshot.revision) == revision and start.isdecimal():
                return snapshot, int(start)
        raise InvalidRequest(f"invalid cursor: {params.cursor}", hint="read from the beginning")

    async def recent(self, params: RecentParams, scope: RequestScope) -> RecentResult:
        skip = max(0, len(self._recent) - max(0, params.limit))
        return RecentResult(events=tuple(islice(self._recent, skip, None)))
