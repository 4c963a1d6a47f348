"""View state: what the core last said, as plain data without widgets.

The bridge hands in rows that were read and events that came; the store keeps one table per
domain, says which of them changed, and remembers what happened. Joining tables is the views' job.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from core.protocol.events import (
    ConsentRequested,
    CoreEvent,
    ElicitationClosed,
    ElicitationRequested,
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
    ResourceUpdated,
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
from tui.tables import Outcome, Refresh, Source, Table

if TYPE_CHECKING:
    from core.protocol.login import LoginState

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
    "sign-ins",
    "questions",
    "resources",
]

ACTIVITY_KEPT = 5_000
# How the core names the end of a sign-in that the person wanted: no fault.
CANCELLED = "the sign-in was cancelled"
# A burst of row changes above this is told by the refresh's own summary only.
ROWS_TOLD_ONE_BY_ONE = 20
# A refresh of servers lists their tools again, one of the plugins reads the marketplaces.
ALSO: dict[Domain, tuple[Domain, ...]] = {
    "servers": ("inventory",),
    "plugins": ("marketplaces",),
    "marketplaces": ("plugins",),
}
TELL_ROWS: frozenset[Domain] = frozenset({"apps"})


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


def _happening(event: Event | RowSeen) -> tuple[str, float, str]:
    about = getattr(event, "name", "") or getattr(event, "id", "") or getattr(event, "about", "")
    return type(event).__name__, getattr(event, "at", 0.0), str(about)


class ViewStore:
    """All tables, and what happened.

    Attributes:
        happenings: Rises with every change of the activity list.
        operations: Running operations by subject.
        consent: How many programs wait for a yes.
        sign_ins: Attempts to sign in that wait for the person, by server.
        questions: Questions of servers that wait for an answer, by id, oldest first.
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
        self.sign_ins: dict[str, LoginState] = {}
        self.questions: dict[str, ElicitationRequested] = {}
        self.skipped = 0
        self.heard_at = 0.0
        self.lost = ""
        self.happenings = 0
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
        self.happenings += 1
        return changed

    def opened(self) -> set[Changed]:
        """The panel's thread stands: its servers have been read, none of them perhaps."""
        self.servers.opened = self.inventory.opened = True
        return {"servers", "inventory"}

    def remember_fault(self, text: str) -> set[Changed]:
        """What the person asked for failed: keep it for the errors."""
        about, _, said = text.partition(": ")
        what, _, words = said.partition(": ")
        self._fault(about, what if words else "failed", words or said, self.now())
        return {"activity"}

    def sign_in_stands(self, state: LoginState) -> set[Changed]:
        """How an attempt to sign in stands now."""
        if state.stage in ("waiting", "exchanging"):
            self.sign_ins[state.name] = state
            return {"servers", "sign-ins"}
        return self._sign_in_ended(state.name, state.login_id)

    def _sign_in_ended(self, name: str, login_id: str) -> set[Changed]:
        waiting = self.sign_ins.get(name)
        if waiting is not None and waiting.login_id == login_id:
            del self.sign_ins[name]
        return {"servers", "sign-ins"}

    def consent_given(self) -> set[Changed]:
        """The programs that waited have been answered."""
        self.consent = 0
        return {"consent"}

    def take_questions(self, questions: Iterable[ElicitationRequested]) -> set[Changed]:
        """Take the questions that wait, as read."""
        self.questions = {question.id: question for question in questions}
        return {"questions"}

    def settle_marks(self) -> set[Changed]:
        """The person has seen what is new: forget it, except while a refresh runs."""
        changed: set[Changed] = set()
        changed.update(domain for domain in DOMAINS if self.table(domain).settle())
        return changed

    def _state(self, event: StateChanged) -> set[Changed]:
        table = self.table(event.domain)
        if not table.change(event, self.now()):
            return set()
        changed: set[Changed] = {event.domain}
        tell = event.domain in TELL_ROWS and table.refresh is not None
        if tell and len(event.upserted) <= ROWS_TOLD_ONE_BY_ONE:
            for row in event.upserted:
                what = table.marks.get(row.id)
                if what == "new" or what == "changed":
                    seen = RowSeen(event.domain, row.id, row.name, what)
                    changed |= self._remember(seen, self.now())
        return changed

    def _refresh(self, event: RefreshEvent) -> set[Changed]:
        table, at = self.table(event.domain), self.now()
        others = [self.table(domain) for domain in ALSO.get(event.domain, ())]
        changed: set[Changed] = {event.domain, *(other.domain for other in others)}
        match event:
            case RefreshStarted():
                sources = {name: Source(name) for name in event.sources}
                refresh = Refresh(event.id, event.domain, event.forced, at, sources)
                for one in (table, *others):
                    one.start(refresh)
                if event.forced:
                    changed |= self._remember(event, at)
            case RefreshProgress():
                source = self._source(event, event.source, at)
                source.done, source.total, source.note = event.done, event.total, event.note
            case RefreshFailed():
                self._source(event, event.source, at).failed = event.message
                table.failures.append(event)
                if not self.row_tells(event):
                    what, domain = "refresh failed", event.domain
                    self._fault(event.source, what, event.message, at, domain=domain)
                    changed |= self._remember(event, at)
            case RefreshFinished():
                for one in (table, *others):
                    one.finish(event, at)
                outcome = table.outcome
                if outcome and (outcome.forced or self._worth_telling(outcome)):
                    changed |= self._remember(event, at)
            case _:
                pass
        return changed

    def _worth_telling(self, outcome: Outcome) -> bool:
        told_elsewhere = outcome.failures and all(map(self.row_tells, outcome.failures))
        return outcome.finished.outcome != "ok" and not told_elsewhere

    def row_tells(self, failure: RefreshFailed) -> bool:
        """The source is a server: its own row, and its own happening, say why it failed."""
        return failure.domain in ("servers", "inventory") and failure.source in self.servers.rows

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
                changed = self._remember(event, at)
                changed.add("consent")
                return changed
            case ElicitationRequested() | ElicitationClosed():
                return self._question(event, at)
            case ResourceUpdated():
                return {*self._remember(event, at), "resources"}
            case OperationProgress():
                return self._operation(event, at)
            case ServerHappened():
                return self._server(event, at)
            case LoginCompleted(of="account"):
                return {"account", *self._remember(event, at)}
            case LoginCompleted():
                changed = self._sign_in_ended(event.name, event.login_id)
                if not event.success and event.error != CANCELLED:
                    self._server_fault(event.name, "not signed in", event.error, at)
                return changed | self._remember(event, at)
            case Notice(tone="bad"):
                self._fault(event.about, event.area, event.text, at)
            case _:
                pass
        return self._remember(event, at)

    def _question(self, event: ElicitationRequested | ElicitationClosed, at: float) -> set[Changed]:
        if isinstance(event, ElicitationRequested):
            self.questions[event.id] = event
        else:
            self.questions.pop(event.id, None)
        return {*self._remember(event, at), "questions"}

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
        changed.add("operations")
        return changed

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
        self.happenings += 1
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
