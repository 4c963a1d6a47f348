"""Snapshots: what an owner publishes, and the rules by which a newer one replaces it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic, TypeVar

from core.protocol.events import Phase, StateChanged, state_changed
from core.protocol.rows import Domain, Row

RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True, kw_only=True)
class Snapshot(Generic[RowT]):
    """One immutable state of a list.

    Attributes:
        revision: Rises by one with each publication; 0 before the first.
        phase: Of the publication that made it.
        rows: By id, in list order.
        identity: Whose rows these are (an account, say); "" where it does not matter.
        refreshed_at: When the last `final` came, seconds since the epoch; 0 before.
    """

    revision: int = 0
    phase: Phase = "cached"
    rows: MappingProxyType[str, RowT] = field(default_factory=lambda: MappingProxyType({}))
    identity: str = ""
    refreshed_at: float = 0.0


@dataclass(frozen=True)
class Ticket:
    """The right to publish once or more for one fetch; older tickets lose against newer ones."""

    number: int
    identity: str


class SnapshotOwner(Generic[RowT]):
    """Holds one domain's snapshot; decides what may replace it and publishes the difference.

    `begin` before a fetch, `publish` with its ticket after; a publication is refused (returns
    False) when a newer ticket has already published a `final`, or when the identity has changed
    since. Same content: no event, unless it is now known to be whole. `cached` and `intermediate`
    only add and change rows.
    """

    def __init__(self, domain: Domain, emit: Callable[[StateChanged], None]) -> None:
        self.domain: Domain = domain
        self.current: Snapshot[RowT] = Snapshot()
        self._emit = emit
        self._issued = 0
        self._accepted = 0
        self._identity = ""

    def begin(self) -> Ticket:
        """A ticket for a fetch that starts now, under the present identity."""
        self._issued += 1
        return Ticket(self._issued, self._identity)

    def switch_identity(self, identity: str) -> None:
        """Another account: everything of the old one leaves at once, running fetches included."""
        if identity == self._identity:
            return
        self._identity = identity
        self._accepted = self._issued
        if self.current.rows:
            self._replace({}, "final", 0.0)
        else:
            self.current = replace(self.current, identity=identity)

    def publish(
        self, ticket: Ticket, rows: Iterable[RowT], *, phase: Phase = "final", at: float = 0.0
    ) -> bool:
        """Accept rows of a fetch; True when they were accepted, changed or not."""
        if ticket.identity != self._identity or ticket.number < self._accepted:
            return False
        if phase == "final":
            self._accepted = ticket.number
        fresh = {row.id: row for row in rows}
        if phase != "final" and not fresh.keys() >= self.current.rows.keys():
            fresh = {**self.current.rows, **fresh}
        self._replace(fresh, phase, at)
        return True

    def upsert(self, *rows: RowT, at: float = 0.0, phase: Phase = "final") -> None:
        """Change single rows outside a fetch, keeping the others and their order."""
        self._replace({**self.current.rows, **{row.id: row for row in rows}}, phase, at)

    def remove(self, *ids: str) -> None:
        """Let single rows leave outside a fetch."""
        gone = set(ids)
        kept = {key: row for key, row in self.current.rows.items() if key not in gone}
        self._replace(kept, "final", 0.0)

    def _replace(self, fresh: dict[str, RowT], phase: Phase, at: float) -> None:
        old = self.current.rows
        upserted = tuple(
            row
            for key, row in fresh.items()
            if (before := old.get(key)) is not row and before != row
        )
        removed = tuple(key for key in old if key not in fresh)
        kept = [key for key in old if key in fresh]
        appended = kept + [key for key in fresh if key not in old]
        order = None if appended == list(fresh) else tuple(fresh)
        settled = phase == "final" and self.current.phase != "final"
        changed = bool(upserted or removed or order is not None) or settled
        if not changed and phase != "final":
            return
        self.current = Snapshot(
            revision=self.current.revision + (1 if changed else 0),
            phase=phase,
            rows=MappingProxyType(fresh),
            identity=self._identity,
            refreshed_at=at if phase == "final" and at else self.current.refreshed_at,
        )
        if changed:
            self._emit(
                state_changed(
                    self.domain,
                    revision=self.current.revision,
                    phase=phase,
                    upserted=upserted,
                    removed=removed,
                    order=order,
                )
            )
