"""What all tabs share: the arrangement of a list, states, places, and what a row offers."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from core.protocol.facts import Evidence, Problem
from core.protocol.rows import DOMAINS, Domain, Row
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs, SignName, state_parts
from tui.store import ViewStore
from tui.switching import SwitchTarget
from tui.tables import Mark
from tui.text import Part, Parts, pad
from tui.views.search import Hit, Searchable, search
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import LABEL, Page
from tui.widgets.row_view import RowView

READ_ONLY = "Nothing is written: it was started read-only"
WARMED = 300  # rows that are made ready for the filter in one go
POLICY_LAYERS = frozenset({"requirements", "cloud"})

# Values that a detail request brought, by row id; free JSON of the core.
Details = dict[str, Any]


class State(NamedTuple):
    """Who has to act, the state's word, and why."""

    sign: SignName
    word: str
    reason: str = ""

    def parts(self, width: int = 11) -> list[Part]:
        """As a cell of a list."""
        # A word that fills the column keeps a blank before its reason.
        return state_parts(self.sign, self.word, self.reason, max(width, len(self.word) + 1))


@dataclass(frozen=True)
class Listing:
    """Rows in order; `heads` are group rows."""

    ids: list[str]
    heads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PeekLines:
    """The two lines that stand for the details where there is no room for them."""

    top: Parts
    right: Parts
    below: Parts


@dataclass
class Place:
    """Where paths are shortened to: the home, and the directory of the workspace.

    `read_only` is the reason why nothing can be written, or ""; `starts_all` says that servers
    start without being asked about.
    """

    home: str = ""
    codex_home: str = ""
    cwd: str = ""
    config_file: str = ""
    read_only: str = ""
    starts_all: bool = False

    def path(self, path: str) -> str:
        """`~/…` below the home."""
        if self.home and (path == self.home or path.startswith(self.home + os.sep)):
            return "~" + path[len(self.home) :]
        return path

    def of(self, evidence: Evidence) -> str:
        """`~/.codex/config.toml:30`, the layer where there is no file, or ""."""
        if evidence.file is None:
            return evidence.layer or ""
        line = f":{evidence.line}" if evidence.line is not None else ""
        return self.path(evidence.file) + line

    def short(self, evidence: Evidence) -> str:
        """`config.toml:30`."""
        return os.path.basename(self.of(evidence)) if evidence.file else self.of(evidence)


class ListView(ABC):
    """One tab without widgets: what stands in the list, in the details and on the keys.

    Attributes:
        TAB: Its id.
        DOMAINS: Tables that it reads; other changes leave it alone.
        MAIN: The table that its rows come from.
        REFRESHED: Tables whose refreshes are told above the list.
        REFETCHES: What `R` asks for; one request may refresh several tables.
        WAITS: An empty list may still be loading.
        details: What detail requests have brought, by row id.
    """

    TAB: ClassVar[str]
    NOUN: ClassVar[str]
    DOMAINS: ClassVar[frozenset[str]]
    MAIN: ClassVar[Domain]
    REFRESHED: ClassVar[tuple[Domain, ...]]
    REFETCHES: ClassVar[tuple[Domain, ...]]
    COLUMNS: ClassVar[tuple[Column, ...]]
    VIEWS: ClassVar[tuple[View, ...]]
    WAITS: ClassVar[bool] = True

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        self.store = store
        self.place = place
        self.glyphs = glyphs
        self.details: dict[str, Details] = {}
        self._folded: dict[str, tuple[object, Searchable[str]]] = {}
        self._pool = Cached(self._make_pool)
        self._counts = Cached(self.count)
        self._hits: dict[str, Hit] = {}

    # ── the list ──

    def arrange(self, text: str, view: str) -> Listing:
        """The rows of a view; by relevance and flat while there is a filter text."""
        self._hits = {}
        if not text.strip():
            return self.listing(view)
        pool: list[Searchable[str]] = self._pool.get(self._stamp())
        if view != self.VIEWS[0].id:
            wanted = set(self.keys(view))
            pool = [row for row in pool if row.item in wanted]
        found = search(text, pool)
        self._hits = dict(found)
        return Listing([key for key, _ in found])

    def listing(self, view: str) -> Listing:
        """The rows of a view in their own order."""
        return Listing(list(self.keys(view)))

    @abstractmethod
    def keys(self, view: str) -> Iterable[str]:
        """Ids of a view's rows, group rows left out."""

    def counts(self) -> dict[str, int]:
        """How many rows each view has."""
        counts: dict[str, int] = self._counts.get(self._stamp())
        return counts

    @abstractmethod
    def count(self) -> dict[str, int]:
        """Count them anew."""

    @abstractmethod
    def row(self, key: str) -> RowView:
        """A line of the list; called for visible lines only."""

    @abstractmethod
    def name(self, key: str) -> str:
        """What the row is called."""

    @abstractmethod
    def text(self, key: str) -> str:
        """Everything else that the filter looks at."""

    def late(self, key: str) -> bool:
        """Stands behind others of the same relevance."""
        return False

    def source(self, key: str) -> object:
        """The object that `name` and `text` depend on; the same one means the same texts."""
        return None

    def columns(self, searching: bool) -> tuple[Column, ...]:
        """The columns, which may differ while there is a filter text."""
        return self.COLUMNS

    def attention(self) -> int:
        """How many rows want attention; on the tab."""
        return 0

    def searched(self) -> str:
        """Where the filter looks, for the page that says that it found nothing."""
        return "names and texts"

    def mark(self, domain: Domain, key: str) -> Mark:
        """Freshness of a row."""
        return self.store.table(domain).mark(key)

    def named(self, key: str, *name: Part) -> list[Part]:
        """The name cell; says so when the filter's text is not in the name."""
        where: list[Part] = [("  in its text", "aside")] if self._hits.get(key) is Hit.TEXT else []
        return [*name, *where]

    def _stamp(self) -> tuple[object, ...]:
        """Changes with everything that names, texts and order depend on."""
        return tuple(self.store.table(d).version for d in DOMAINS if d in self.DOMAINS)

    def warm(self) -> Iterator[None]:
        """Fold the texts for the filter, piece by piece, before anything is typed."""
        for at, key in enumerate(list(self.keys(self.VIEWS[0].id))):
            self._searchable(key)
            if at % WARMED == 0:
                yield

    def _make_pool(self) -> list[Searchable[str]]:
        return [self._searchable(key) for key in self.keys(self.VIEWS[0].id)]

    def _searchable(self, key: str) -> Searchable[str]:
        source = self.source(key)
        known = self._folded.get(key)
        if known is not None and source is not None and known[0] is source:
            return known[1]
        made = Searchable(key, self.name(key).casefold(), self.text(key).casefold(), self.late(key))
        self._folded[key] = (source, made)
        return made

    # ── the selected row ──

    @abstractmethod
    def peek(self, key: str) -> PeekLines:
        """Two lines about the row."""

    @abstractmethod
    def page(self, key: str, page: Page) -> None:
        """Everything about the row."""

    def write(self, key: str, page: Page) -> None:
        """The page, and why the core could not tell more, where it could not."""
        self.page(key, page)
        if why := self.details.get(key, {}).get("unavailable"):
            page.gap()
            page.text(f"More is not to be had now: {why}", "muted")

    @abstractmethod
    def offers(self, key: str) -> list[Offer]:
        """What keys mean on the row, most wanted first."""

    @abstractmethod
    def subject(self, key: str) -> Row | None:
        """The row of the core that stands behind the line, for copying."""

    def copy_id(self, key: str) -> str:
        """What `c` copies."""
        row = self.subject(key)
        return row.id if row else ""

    def switch_target(self, key: str) -> SwitchTarget | None:
        """What `space` would turn on or off."""
        return None

    def refresh_ids(self, key: str) -> tuple[Domain, tuple[str, ...]] | None:
        """What `r` reads again."""
        row = self.subject(key)
        return (self.MAIN, (row.id,)) if row else None

    def wants_details(self, key: str) -> tuple[str, str] | None:
        """(`plugin`, id) when the core can tell more than the row; None when it cannot."""
        return None

    def empty(self, page: Page) -> None:
        """What to say when there is no row at all."""
        page.title(f"No {self.NOUN} yet")

    def wire(self, key: str) -> str:
        """What `C` copies where no row of the core stands behind the line."""
        return ""

    def ticking(self) -> list[str]:
        """Ids of rows whose line counts seconds."""
        return []


def switch_offer(place: Place, label: str, *, why: str = "") -> Offer:
    """`space`, with the reason where it cannot be used; greyed where nothing may be written."""
    if place.read_only and not why:
        return Offer("row.switch", f"{label} (read-only)", why=place.read_only, greyed=True)
    return Offer("row.switch", label, why=why)


def write_fact(page: Page, label: str, state: State) -> None:
    """A labelled fact with its sign, its word and its cause."""
    page.add(
        (pad(label, LABEL), "muted"),
        page.glyphs.part(state.sign),
        (pad(state.word, 10), ""),
        (f" {state.reason}" if state.reason else "", "muted"),
    )


def write_problems(page: Page, problems: Sequence[Problem], place: Place) -> None:
    """One section per fault: place, rule, what Codex does, what to do."""
    for problem in problems:
        page.section("Problem" if problem.severity == "error" else problem.severity.capitalize())
        if where := place.of(problem.evidence):
            page.fact("place", where, path=True)
        page.fact("rule", problem.message)
        if problem.evidence.key:
            page.fact("key", problem.evidence.key)
        if problem.evidence.wire:
            page.fact("said", problem.evidence.wire)
        if problem.codex:
            page.fact("Codex", problem.codex)
        if problem.hint:
            page.fact("mend", problem.hint)


def decided(evidence: Evidence, place: Place) -> str:
    """Who decides a switch: `by default`, `config.toml:30`, `by policy, requirements.toml:3`."""
    if evidence.layer == "default" or evidence == Evidence():
        return "by default"
    where = place.short(evidence)
    return f"by policy, {where}" if evidence.layer in POLICY_LAYERS else where


def plural(count: int, word: str) -> str:
    """`1 skill`, `3 skills`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@dataclass
class Cached:
    """One value kept while the tables that it depends on stay the same."""

    make: Callable[[], Any]
    stamp: tuple[object, ...] = ()
    value: Any = field(default=None)

    def get(self, stamp: tuple[object, ...]) -> Any:
        """The value for this stamp, made anew when the stamp is another one."""
        if stamp != self.stamp:
            self.value, self.stamp = self.make(), stamp
        return self.value
