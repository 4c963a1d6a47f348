"""View state: what the core last said, as plain data without widgets.

The bridge hands in rows that were read and events that came; the store keeps one table per
domain, says which of them changed, and remembers what happened. Joining tables is the views' job.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import msgspec

from core.protocol.events import (
    ConsentRequested,
    CoreEvent,
    Event,
    Lagged,
    LoginCompleted,
    Notice,
    Occurrence,
    OperationProgress,
    Phase,
    RefreshEvent,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
    ServerHappened,
    StateChanged,
    Traffic,
)
from core.protocol.rows import (
    DOMAINS,
    AccountRow,
    AppRow,
    ConfigRow,
    Domain,
    InstalledRow,
    MarketplaceRow,
    PluginRow,
    ProblemRow,
    Row,
    ServerRow,
    ThreadRow,
    ToolRow,
)

RowT = TypeVar("RowT", bound=Row)
Mark = Literal["", "cached", "new", "changed"]
Changed = Literal[
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
    "activity",
    "operations",
    "consent",
]

ACTIVITY_KEPT = 5_000
# A burst of row changes above this is told by the refresh's own summary only.
ROWS_TOLD_ONE_BY_ONE = 20
# Domains in which a row that turns up by itself is worth a mark: someone else edited a file.
MARK_NEW: frozenset[Domain] = frozenset({"marketplaces", "plugins", "servers"})
TELL_ROWS: frozenset[Domain] = frozenset({"apps"})


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
    refreshes: dict[str, Refresh] = field(default_factory=dict[str, Refresh])
    failures: list[RefreshFailed] = field(default_factory=list[RefreshFailed])
    outcome: Outcome | None = None
    marks: dict[str, Mark] = field(default_factory=dict[str, Mark])
    held: list[StateChanged] = field(default_factory=list[StateChanged])

    @property
    def refresh(self) -> Refresh | None:
        """The running refresh that people care for: the forced one, else the newest."""
        running = list(self.refreshes.values())
        forced = [refresh for refresh in running if refresh.forced]
        return (forced or running or [None])[-1]

    @property
    def waiting(self) -> bool:
        """No row can be shown yet and more may come."""
        return not self.rows and (not self.loaded or self.refresh is not None or self.revision == 0)

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
        for row in event.upserted:
            self._upsert(row)
        if event.phase == "final":
            for key in event.removed:
                self.rows.pop(key, None)
                self.marks.pop(key, None)
            self.refreshed_at = at
            self.settled = True
        if event.order is not None:
            self._reorder(event.order)
        return True

    def _upsert(self, row: RowT) -> None:
        old = self.rows.get(row.id)
        self.rows[row.id] = row
        refresh = self.refresh
        forced = refresh is not None and refresh.forced
        if old is None:
            if forced or (self.settled and self.domain in MARK_NEW):
                self.marks[row.id] = "new"
        elif not forced:
            return
        elif row.cached:
            self.marks.setdefault(row.id, "cached")
        elif _same_but_for_cache(old, row):
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


@dataclass(frozen=True)
class RowSeen:
    """A row turned up or changed during a refetch: an entry of the activity list."""

    domain: Domain
    id: str
    name: str
    what: Literal["new", "changed"]


@dataclass
class Entry:
    """One line of the activity list.

    Attributes:
        number: Rises by one per entry; identifies it.
        at: Seconds since the epoch.
        count: How many events it stands for.
    """

    number: int
    at: float
    event: Event | RowSeen
    count: int = 1


@dataclass
class Fault:
    """Something that failed, repeats folded.

    Attributes:
        what: What failed, short; `words` what was said.
        domain, subject: The row that it belongs to, when there is one.
    """

    about: str
    what: str
    words: str
    at: float
    count: int = 1
    domain: str = ""
    subject: str = ""


def _same_but_for_cache(old: Row, new: Row) -> bool:
    return old == new or msgspec.structs.replace(old, cached=new.cached) == new


def _happening(event: Event | RowSeen) -> tuple[str, float, str]:
    about = getattr(event, "name", "") or getattr(event, "id", "") or getattr(event, "about", "")
    return type(event).__name__, getattr(event, "at", 0.0), str(about)


class ViewStore:
    """All tables, and what happened.

    Attributes:
        operations: Running operations by subject.
        consent: How many programs wait for a yes.
        skipped: Occurrences that were lost because the panel was slow.
        heard_at: When the core was last heard.
        lost: Why the core cannot be heard now, or "".
    """

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.now = now
        self.marketplaces: Table[MarketplaceRow] = Table("marketplaces")
        self.plugins: Table[PluginRow] = Table("plugins")
        self.apps: Table[AppRow] = Table("apps")
        self.installed: Table[InstalledRow] = Table("installed")
        self.servers: Table[ServerRow] = Table("servers")
        self.inventory: Table[ToolRow] = Table("inventory")
        self.threads: Table[ThreadRow] = Table("threads")
        self.account: Table[AccountRow] = Table("account")
        self.problems: Table[ProblemRow] = Table("problems")
        self.config: Table[ConfigRow] = Table("config")
        self.activity: deque[Entry] = deque(maxlen=ACTIVITY_KEPT)
        self.faults: dict[tuple[str, str], Fault] = {}
        self.operations: dict[str, OperationProgress] = {}
        self.consent = 0
        self.skipped = 0
        self.heard_at = 0.0
        self.lost = ""
        self._entries = 0
        self._ongoing: dict[tuple[str, str], Entry] = {}

    def table(self, domain: Domain) -> Table[Any]:
        """The table of a domain."""
        table: Table[Any] = getattr(self, domain)
        return table

    def begin_session(self) -> None:
        """A new subscription: hold events back until each domain has been read again."""
        self.lost = ""
        for domain in DOMAINS:
            table = self.table(domain)
            table.loaded = False
            table.held.clear()
            table.refreshes.clear()

    def load(
        self, domain: Domain, rows: Iterable[Row], *, revision: int, phase: Phase, at: float
    ) -> set[Changed]:
        """Take the rows of a domain as read."""
        self.table(domain).load(rows, revision=revision, phase=phase, at=at)
        return {domain}

    def fail_to_load(self, domain: Domain, reason: str) -> set[Changed]:
        """A domain could not be read; its events are taken all the same."""
        table = self.table(domain)
        table.load(table.rows.values(), revision=0, phase="cached", at=table.refreshed_at)
        table.unread = reason
        return {domain}

    def apply(self, events: Iterable[CoreEvent]) -> set[Changed]:
        """Take events in order; says what changed, so that only those views draw again."""
        changed: set[Changed] = set()
        # The channel folds newer differences into waiting ones, so that a refresh's first rows may
        # stand before its start.
        for event in sorted(events, key=lambda event: not isinstance(event, RefreshStarted)):
            self.heard_at = self.now()
            match event:
                case StateChanged():
                    changed |= self._state(event)
                case RefreshEvent():
                    changed |= self._refresh(event)
                case Lagged(skipped=skipped):
                    self.skipped += skipped
                    changed |= self._remember(event, self.now())
                case Occurrence():
                    changed |= self._occurrence(event)
                case _:
                    continue
        return changed

    def remember_past(self, events: Iterable[CoreEvent]) -> set[Changed]:
        """Put what happened before we listened at the beginning of the activity list."""
        later = list(self.activity)
        known = {_happening(entry.event) for entry in later}
        self.activity.clear()
        changed: set[Changed] = {"activity"}
        for event in events:
            if isinstance(event, Occurrence) and _happening(event) not in known:
                changed |= self._occurrence(event)
        self.activity.extend(later)
        return changed

    def remember_fault(self, text: str) -> set[Changed]:
        """What the person asked for failed: keep it for the errors."""
        about, _, words = text.partition(": ")
        self._fault(about, "failed", words, self.now())
        return {"activity"}

    def consent_given(self) -> set[Changed]:
        """The programs that waited have been answered."""
        self.consent = 0
        return {"consent"}

    def settle_marks(self) -> set[Changed]:
        """The person has seen what is new: forget it, except while a refresh runs."""
        return {domain for domain in DOMAINS if self.table(domain).settle()}

    def _state(self, event: StateChanged) -> set[Changed]:
        table = self.table(event.domain)
        if not table.change(event, self.now()):
            return set()
        changed: set[Changed] = {event.domain}
        tell = event.domain in TELL_ROWS and table.refresh is not None
        if tell and len(event.upserted) <= ROWS_TOLD_ONE_BY_ONE:
            for row in event.upserted:
                if (what := table.marks.get(row.id)) in ("new", "changed"):
                    seen = RowSeen(event.domain, row.id, row.name, what)
                    changed |= self._remember(seen, self.now())
        return changed

    def _refresh(self, event: RefreshEvent) -> set[Changed]:
        table, at = self.table(event.domain), self.now()
        changed: set[Changed] = {event.domain}
        match event:
            case RefreshStarted():
                sources = {name: Source(name) for name in event.sources}
                table.start(Refresh(event.id, event.domain, event.forced, at, sources))
                if event.forced:
                    changed |= self._remember(event, at)
            case RefreshProgress():
                source = self._source(event, event.source, at)
                source.done, source.total, source.note = event.done, event.total, event.note
            case RefreshFailed():
                self._source(event, event.source, at).failed = event.message
                table.failures.append(event)
                self._fault(event.source, "refresh failed", event.message, at, domain=event.domain)
                changed |= self._remember(event, at)
            case RefreshFinished():
                table.finish(event, at)
                outcome = table.outcome
                if outcome and (outcome.forced or outcome.finished.outcome != "ok"):
                    changed |= self._remember(event, at)
            case _:
                pass
        return changed

    def _source(self, event: RefreshEvent, name: str, at: float) -> Source:
        refreshes = self.table(event.domain).refreshes
        refresh = refreshes.setdefault(event.id, Refresh(event.id, event.domain, False, at))
        return refresh.sources.setdefault(name, Source(name))

    def _occurrence(self, event: Occurrence) -> set[Changed]:
        at = event.at or self.now()
        match event:
            case Traffic():
                return set()
            case ConsentRequested(count=count):
                self.consent = count
                return {"consent"} | self._remember(event, at)
            case OperationProgress():
                return self._operation(event, at)
            case ServerHappened():
                return self._server(event, at)
            case LoginCompleted(success=False):
                self._fault(
                    event.name,
                    "not signed in",
                    event.error,
                    at,
                    domain="servers",
                    subject=event.name,
                )
            case Notice(tone="bad"):
                self._fault(event.about, event.area, event.text, at)
            case _:
                pass
        return self._remember(event, at)

    def _operation(self, event: OperationProgress, at: float) -> set[Changed]:
        key = ("operation", event.id)
        if event.state == "running":
            self.operations[event.subject] = event
        else:
            self.operations.pop(event.subject, None)
        if event.state == "failed":
            self._fault(event.subject, f"{event.verb} failed", event.note, at)
        changed = self._remember(event, at, fold=key)
        if event.state != "running":
            self._ongoing.pop(key, None)
        return {"operations"} | changed

    def _server(self, event: ServerHappened, at: float) -> set[Changed]:
        key = ("stderr", event.name)
        if event.what == "stderr":
            return self._remember(event, at, fold=key)
        self._ongoing.pop(key, None)
        if event.what == "failed":
            self._server_fault(event.name, "failed", event.text, at)
        return self._remember(event, at)

    def _remember(
        self, event: Event | RowSeen, at: float, fold: tuple[str, str] | None = None
    ) -> set[Changed]:
        entry = self._ongoing.get(fold) if fold is not None else None
        if entry is not None and entry.number > self._entries - ACTIVITY_KEPT:
            entry.event, entry.at = event, at
            entry.count += 1
            return {"activity"}
        self._entries += 1
        entry = Entry(self._entries, at, event)
        self.activity.append(entry)
        if fold is not None:
            self._ongoing[fold] = entry
        return {"activity"}

    def _server_fault(self, name: str, what: str, words: str, at: float) -> None:
        self._fault(name, what, words, at, domain="servers", subject=name)

    def _fault(
        self, about: str, what: str, words: str, at: float, *, domain: str = "", subject: str = ""
    ) -> None:
        known = self.faults.pop((about, what), None)
        count = known.count + 1 if known else 1
        self.faults[about, what] = Fault(about, what, words, at, count, domain, subject)
