"""One table per domain: its rows as the core last said, their freshness, and who reads them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from core.protocol.events import (
    Phase,
    RefreshFailed,
    RefreshFinished,
    StateChanged,
)
from core.protocol.rows import Domain, Row, timeless

RowT = TypeVar("RowT", bound=Row)
Mark = Literal["", "cached", "new", "changed"]

# Domains in which a row that turns up by itself is worth a mark: someone else edited a file.
MARK_NEW: frozenset[Domain] = frozenset({"marketplaces", "plugins", "servers"})
CHANGES_KEPT = 64


@dataclass
class Source:
    """One awaited source of a refresh."""

    name: str
    done: int = 0
    total: int | None = None
    note: str = ""
    failed: str = ""


@dataclass
class Refresh:
    """A list that is being read anew.

    Attributes:
        since: When we heard of it, seconds since the epoch.
    """

    id: str
    domain: Domain
    forced: bool
    since: float
    sources: dict[str, Source] = field(default_factory=dict[str, Source])


@dataclass(frozen=True)
class Outcome:
    """How the last refresh of a list ended."""

    at: float
    forced: bool
    finished: RefreshFinished
    failures: tuple[RefreshFailed, ...] = ()


@dataclass
class Table(Generic[RowT]):
    """One domain as it stands.

    Attributes:
        rows: By id, in list order.
        version: Rises with every change of `rows`; never falls, unlike `revision`.
        loaded: Its rows have been read once in this session; until then events are held.
        unread: Why its rows could not be read, or "".
        settled: A final list has been here; what is new after that is news.
        opened: Whoever keeps the list has read it, though perhaps found nothing to tell.
        marks: Freshness of single rows, besides what `Row.cached` says.
    """

    domain: Domain
    rows: dict[str, RowT] = field(default_factory=dict[str, RowT])
    revision: int = 0
    version: int = 0
    phase: Phase = "cached"
    refreshed_at: float = 0.0
    loaded: bool = False
    unread: str = ""
    settled: bool = False
    opened: bool = False
    refreshes: dict[str, Refresh] = field(default_factory=dict[str, Refresh])
    failures: list[RefreshFailed] = field(default_factory=list[RefreshFailed])
    outcome: Outcome | None = None
    marks: dict[str, Mark] = field(default_factory=dict[str, Mark])
    held: list[StateChanged] = field(default_factory=list[StateChanged])
    _changes: deque[tuple[int, dict[str, RowT]]] = field(
        default_factory=lambda: deque[tuple[int, dict[str, RowT]]](maxlen=CHANGES_KEPT)
    )

    def since(self, version: int) -> dict[str, RowT] | None:
        """What has changed after a version, so that views of many rows need not begin anew.

        Returns:
            The changed rows by id, as they were then; None when rows came, left or moved, or
            when it is too long ago.
        """
        if version == self.version:
            return {}
        if not self._changes or not self._changes[0][0] - 1 <= version < self.version:
            return None
        was: dict[str, RowT] = {}
        for number, rows in self._changes:
            if number > version:
                was = {**rows, **was}
        return was

    @property
    def refresh(self) -> Refresh | None:
        """The running refresh that people care for: the forced one, else the newest."""
        running = list(self.refreshes.values())
        forced = [refresh for refresh in running if refresh.forced]
        return (forced or running or [None])[-1]

    @property
    def waiting(self) -> bool:
        """No row can be shown yet and more may come.

        A list that is read and found empty is final without any difference to be told.
        """
        if self.rows:
            return False
        read = self.opened or self.phase == "final" or self.refreshed_at > 0
        read = read or self.outcome is not None
        return not self.loaded or self.refresh is not None or not read

    def mark(self, key: str) -> Mark:
        """How fresh the row is; "" when it is confirmed and no news."""
        if told := self.marks.get(key):
            return told
        row = self.rows.get(key)
        return "cached" if row is not None and row.cached else ""

    def load(self, rows: Iterable[RowT], *, revision: int, phase: Phase, at: float) -> None:
        """Take a whole list as read; then what was held and is newer."""
        self.rows = {row.id: row for row in rows}
        self.revision, self.phase, self.refreshed_at = revision, phase, at
        self.version += 1
        self._changes.clear()
        self.loaded, self.unread = True, ""
        self.settled = self.settled or (phase == "final" and revision > 0)
        self.marks = {key: mark for key, mark in self.marks.items() if key in self.rows}
        held, self.held = self.held, []
        for event in held:
            self.change(event, at)

    def change(self, event: StateChanged, at: float) -> bool:
        """Take a difference; False when it is held back, or is not newer than what is here."""
        if not self.loaded:
            self.held.append(event)
            return False
        if event.revision <= self.revision:
            return False
        self.revision, self.phase = event.revision, event.phase
        self.version += 1
        self._note(event)
        if event.phase == "final":
            for key in event.removed:
                self.rows.pop(key, None)
                self.marks.pop(key, None)
        forced = self.refresh is not None and self.refresh.forced
        for row in event.upserted:
            self._upsert(row, forced)
        if event.phase == "final":
            self.refreshed_at = at
            self.settled = True
        if event.order is not None:
            self._reorder(event.order)
        return True

    def _note(self, event: StateChanged) -> None:
        was = {row.id: self.rows[row.id] for row in event.upserted if row.id in self.rows}
        if len(was) < len(event.upserted) or event.removed or event.order is not None:
            self._changes.clear()
        else:
            self._changes.append((self.version, was))

    def _upsert(self, row: RowT, forced: bool) -> None:
        old = self.rows.get(row.id)
        self.rows[row.id] = row
        if old is None:
            if forced or (self.settled and self.domain in MARK_NEW):
                self.marks[row.id] = "new"
        elif not forced:
            return
        elif row.cached:
            self.marks.setdefault(row.id, "cached")
        elif old == row or timeless(old) == timeless(row):
            if self.marks.get(row.id) == "cached":
                del self.marks[row.id]
        elif self.marks.get(row.id) != "new":
            self.marks[row.id] = "changed"

    def _reorder(self, order: tuple[str, ...]) -> None:
        rows = {key: self.rows[key] for key in order if key in self.rows}
        for key, row in self.rows.items():
            rows.setdefault(key, row)
        self.rows = rows

    def start(self, refresh: Refresh) -> None:
        """A refresh began; a forced one makes every row unconfirmed."""
        self.refreshes[refresh.id] = refresh
        self.failures = []
        if refresh.forced:
            self.marks = dict.fromkeys(self.rows, "cached")

    def finish(self, event: RefreshFinished, at: float) -> None:
        """A refresh ended; news stays marked until the next key, doubt does not."""
        refresh = self.refreshes.pop(event.id, None)
        forced = refresh is not None and refresh.forced
        self.outcome = Outcome(at, forced, event, tuple(self.failures))
        if self.refresh is None:
            self.marks = {key: mark for key, mark in self.marks.items() if mark != "cached"}

    def settle(self) -> bool:
        """Forget what was news; True when there was some. Only between refreshes."""
        if self.refresh is not None or not self.marks:
            return False
        self.marks = {}
        return True
