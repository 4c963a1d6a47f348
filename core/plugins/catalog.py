"""The owner of the panel's marketplaces and plugins.

It reads only: nothing is written into a Codex home, installed, cloned or fetched. Each marketplace
is read in a thread of its own and published when it has come; one that does not answer delays
nobody, and what it gave before is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import anyio
import anyio.lowlevel

from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError, InternalError
from core.plugins import market_rows
from core.plugins.allowed import SourcePolicy
from core.plugins.counting import PartCounter
from core.plugins.discovery import Candidate, candidates
from core.plugins.layout import MARKETPLACE_FILES
from core.plugins.offers import Offer, OfferReader
from core.plugins.reading import GroupReader, Known, in_list_order, key_of
from core.plugins.rows import Surroundings
from core.plugins.shelf import PluginShelf
from core.plugins.state import PluginStates
from core.plugins.updates.comparing import ContentComparer
from core.plugins.updates.memory import PluginMemory
from core.plugins.updates.orphans import left_checkouts
from core.plugins.workers import Turns, back, in_thread, start
from core.ports import Deps
from core.protocol.events import Event
from core.protocol.rows import Domain, MarketplaceRow, PluginRow, Row
from core.refreshing import Refresh
from core.snapshot import Ticket

DEADLINE = 10.0
FILES = "configuration"
Key = tuple[str, str, str]
_DOMAINS: tuple[Domain, Domain] = ("marketplaces", "plugins")
_Around = tuple[tuple[Candidate, ...], Surroundings, tuple[MarketplaceRow, ...]]


@dataclass
class _Refresh:
    """One reading of everything."""

    told: Mapping[Domain, Refresh]
    tickets: tuple[Ticket, Ticket]
    turns: Turns
    reader: GroupReader
    groups: dict[Key, Known] = field(default_factory=dict[Key, Known])
    silent: list[Candidate] = field(default_factory=list[Candidate])
    checkouts: tuple[MarketplaceRow, ...] = ()


class PluginCatalog:
    """Marketplaces and plugins as the panel shows them.

    Args:
        account: Who is signed in: `none`, `apiKey`, `chatgpt`. May block.
        deadline: Seconds that one marketplace may take.
        memory: What is remembered of plugins; None for one of its own.
        shelf: Where the lists are published; None for one of its own.

    Emits: RefreshStarted, RefreshProgress, RefreshFailed, RefreshFinished for both domains, and
    the state events of the two owners.
    """

    def __init__(
        self,
        home: Home,
        configs: ConfigStore,
        deps: Deps,
        emit: Callable[[Event], None],
        account: Callable[[], str],
        *,
        deadline: float = DEADLINE,
        memory: PluginMemory | None = None,
        shelf: PluginShelf | None = None,
    ) -> None:
        self._shelf = shelf or PluginShelf(deps, home.codex_home, emit)
        self.marketplaces, self.plugins = self._shelf.marketplaces, self._shelf.plugins
        self._home = home
        self._configs = configs
        self._deps = deps
        self._emit = emit
        self._account = account
        self._deadline = deadline
        self._groups: dict[Key, Known] = {}
        self._offers = OfferReader()
        self._counter = PartCounter(self.plugins)
        self.comparer = ContentComparer(self.plugins)
        self.memory = memory or PluginMemory(deps.state_dir, home.codex_home, deps.clock.now)
        self._busy = anyio.Lock()
        self._asked = count(1)
        self._begun = 0
        self._watched: tuple[Path, ...] = ()
        self._counted: anyio.Event | None = None

    # -- reading -------------------------------------------------------------------------------

    async def refresh(
        self, *, forced: bool = False, refresh_id: str = "", domain: Domain = "plugins"
    ) -> None:
        """Read everything anew; returns when the lists are whole.

        Rows come as each marketplace has been read; those of before stay until the end. Calls
        that wait for a running one share the next.

        Args:
            forced: Look into every manifest again, its time and size unchanged or not.
            domain: Whose list was asked for: its refresh has `refresh_id`, the other one's id
                begins with it.

        Raises:
            CoreError: Nobody could say which marketplaces there are; the lists stay as they were.
        """
        number = next(self._asked)
        told = self._telling(refresh_id or f"{domain}-{number}", domain)
        async with self._busy:
            if self._begun > number and not forced and not refresh_id:
                return
            self._begun = next(self._asked)
            before = self._rows()
            try:
                await self._refresh(told, forced)
            finally:
                self._tell_finished(told, before, "cancelled", kept=True)

    def _telling(self, refresh_id: str, domain: Domain) -> Mapping[Domain, Refresh]:
        told: dict[Domain, Refresh] = {}
        for each in sorted(_DOMAINS, key=lambda name: name != domain):
            own = refresh_id if each == domain else f"{refresh_id}/{each}"
            told[each] = Refresh(each, own, self._emit, self._deps.clock)
        return told

    async def _refresh(self, told: Mapping[Domain, Refresh], forced: bool) -> None:
        if forced:
            self._offers = OfferReader()
        before = self._rows()
        wanted, around, left = await self._look_around_told(told, forced)
        self._counter.stop()
        self.comparer.stop()
        run = self._begin(told, around)
        run.checkouts = left
        for refresh in told.values():
            sources = tuple(candidate.label for candidate in wanted)
            refresh.start(forced=forced, sources=sources)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._from_last_time)
            for candidate in wanted:
                tasks.start_soon(self._read_one, run, candidate)
        await self._finish(run, wanted)
        kept = any(run.groups[key_of(silent)].rows for silent in run.silent)
        self._tell_finished(told, before, "partly" if run.silent else "ok", kept=kept)
        self._after(run, forced)

    async def _look_around_told(self, told: Mapping[Domain, Refresh], forced: bool) -> _Around:
        try:
            return await in_thread(self._look_around, deadline=self._deadline)
        except (CoreError, TimeoutError) as error:
            silent = f"the disk did not answer within {self._deadline:g} s"
            failure = error if isinstance(error, CoreError) else InternalError(silent)
            for refresh in told.values():
                refresh.start(forced=forced, sources=(FILES,))
                refresh.fail(FILES, failure)
            self._tell_finished(told, self._rows(), "failed", kept=True)
            raise failure from error

    def _look_around(self) -> _Around:
        loaded = self._configs.load(self._deps.cwd)
        cwd = str(self._deps.cwd)
        wanted = candidates(self._home, loaded, cwd, account=self._account())
        states = PluginStates(self._home, [loaded])
        policy = SourcePolicy(self._home, loaded)
        around = Surroundings(states, _off(loaded), memory=self.memory.read(), policy=policy)
        return wanted, around, left_checkouts(self._home, loaded, self._deps.clock.now())

    def _begin(self, told: Mapping[Domain, Refresh], around: Surroundings) -> _Refresh:
        turns = Turns(resting=True)
        now, home = self._deps.clock.now, str(self._home.home)
        settle = partial(self._settle, self.plugins.current.rows)
        return _Refresh(
            told=told,
            tickets=(self.marketplaces.begin(), self.plugins.begin()),
            turns=turns,
            reader=GroupReader(home, around, turns, self._offers, now, settle),
        )

    def _settle(
        self, before: Mapping[str, PluginRow], rows: Iterable[PluginRow]
    ) -> list[PluginRow]:
        known = self.comparer.carry_over(self._counter.carry_over(rows))
        return [_same(row, before.get(row.id)) for row in known]

    async def _read_one(self, run: _Refresh, candidate: Candidate) -> None:
        token = anyio.lowlevel.current_token()

        def drafted(known: Known) -> None:
            back(partial(self._arrived, run, known), token)

        # Drafts are for an empty screen; better rows are there already after that.
        on_draft = drafted if key_of(candidate) not in self._groups else None
        work = partial(run.reader.read, candidate, on_draft)
        try:
            known = await in_thread(work, deadline=self._deadline)
        except TimeoutError:
            run.silent.append(candidate)
            self._failed(run, candidate)
            return
        if known is not None:
            run.groups[known.key] = known
            self._arrived(run, known)

    async def _from_last_time(self) -> None:
        with suppress(TimeoutError):
            await self._shelf.show_last()

    # -- publishing; on the event loop ---------------------------------------------------------

    def _arrived(self, run: _Refresh, known: Known) -> None:
        rows = known.rows
        if known.draft:
            there = self.plugins.current.rows
            rows = tuple(row for row in rows if row.id not in there)
        self.marketplaces.publish(run.tickets[0], [known.market], phase="intermediate")
        if self._alone(run, known):
            self.plugins.publish(run.tickets[1], rows, phase="intermediate")
        done = 0 if known.draft else len(rows)
        for refresh in run.told.values():
            refresh.progress(known.candidate.label, done, known.market.total)

    def _alone(self, run: _Refresh, known: Known) -> bool:
        """No other marketplace carries the name; otherwise ids are settled at the end."""
        return all(
            other.market.name != known.market.name or other.key == known.key
            for other in run.groups.values()
        )

    def _failed(self, run: _Refresh, candidate: Candidate) -> None:
        before = self._groups.get(key_of(candidate))
        at = self._deps.clock.now()
        row = market_rows.silent_row(
            candidate, self._deadline, at, before.market if before is not None else None
        )
        rows = before.rows if before is not None else ()
        offers = before.offers if before is not None else {}
        order = before.order if before is not None else (2, [row.id])
        run.groups[key_of(candidate)] = Known(candidate, row, rows, offers, order)
        why = row.problems[0]
        for refresh in run.told.values():
            refresh.fail(candidate.label, CoreError(why.message, evidence=why.evidence))

    async def _finish(self, run: _Refresh, wanted: tuple[Candidate, ...]) -> None:
        keys = map(key_of, wanted)
        self._groups = {key: run.groups[key] for key in keys if key in run.groups}
        ordered = in_list_order(self._groups.values())
        work = partial(run.reader.whole_list, ordered)
        rows = await in_thread(work, deadline=self._deadline)
        at = self._deps.clock.now()
        markets = [*(known.market for known in ordered), *run.checkouts]
        self._watched = self._files(wanted, markets)
        self.marketplaces.publish(run.tickets[0], markets, at=at)
        self.plugins.publish(run.tickets[1], rows, at=at)

    def _rows(self) -> tuple[Mapping[str, Row], Mapping[str, Row]]:
        return self.marketplaces.current.rows, self.plugins.current.rows

    def _tell_finished(
        self,
        told: Mapping[Domain, Refresh],
        before: tuple[Mapping[str, Row], Mapping[str, Row]],
        outcome: str,
        *,
        kept: bool,
    ) -> None:
        for domain, old, new in zip(_DOMAINS, before, self._rows(), strict=True):
            told[domain].finish(outcome, before=old, after=new, kept_previous=kept and bool(old))

    # -- afterwards ----------------------------------------------------------------------------

    def _after(self, run: _Refresh, forced: bool) -> None:
        """Count the parts and keep the rows for the next start, in the background."""
        offers = {
            key: offer for known in self._groups.values() for key, offer in known.offers.items()
        }
        token = anyio.lowlevel.current_token()
        done = self._counted = anyio.Event()

        def work() -> None:
            try:
                with run.turns.turn() as tick:
                    # Before the counting too: it may take long, and the next start comes soon.
                    self._shelf.keep(tick)
                self._counter.count_all(offers, run.turns, token, again=forced)
                self.comparer.compare_all(offers, run.turns, token)
                with run.turns.turn() as tick:
                    self._shelf.keep(tick)
            finally:
                back(done.set, token)

        start(work, "plugins-count")

    def forget_manifests(self) -> None:
        """Look into every manifest at the next refresh, as if none had been read."""
        self._offers = OfferReader()

    def forget_parts(self) -> None:
        """Count skills, hooks, servers and apps of every plugin anew at the next refresh."""
        self._counter.forget()

    async def counted(self) -> None:
        """Wait for the count in the background that the last refresh has begun."""
        if self._counted is not None:
            await self._counted.wait()

    # -- questions -----------------------------------------------------------------------------

    def offer_of(self, row_id: str) -> tuple[PluginRow, Offer | None] | None:
        """A row with what its marketplace offers under its id; None for an unknown row."""
        row = self.plugins.current.rows.get(row_id)
        if row is None:
            return None
        for known in self._groups.values():
            if known.market.id == row.marketplace:
                return row, known.offers.get(row.plugin_id)
        return row, None

    def watched_paths(self) -> tuple[Path, ...]:
        """Files and directories whose change makes the lists stale; as of the last refresh."""
        return self._watched

    def _files(
        self, wanted: tuple[Candidate, ...], markets: list[MarketplaceRow]
    ) -> tuple[Path, ...]:
        found = {Path(row.path) for row in markets if row.path is not None}
        roots = {candidate.root for candidate in wanted if not candidate.ignored}
        for root in roots:
            found |= {Path(root, place) for place, _ in MARKETPLACE_FILES}
        cache = self._home.plugins_cache
        found |= {cache, self._home.marketplaces_dir}
        found |= {cache / row.name for row in markets if row.name}
        return tuple(sorted(found))


def _same(row: PluginRow, before: PluginRow | None) -> PluginRow:
    return before if before is not None and before == row else row


def _off(loaded: Loaded) -> str:
    return "" if loaded.feature("plugins") else "plugins are turned off"
