"""The owner of the panel's marketplaces and plugins.

It reads only: nothing is written into a Codex home, installed, cloned or fetched. Each marketplace
is read in a thread of its own and published when it has come; one that does not answer delays
nobody, and what it gave before is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

import anyio
import anyio.lowlevel

from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.plugins import market_rows
from core.plugins.allowed import SourcePolicy
from core.plugins.counting import PartCounter
from core.plugins.discovery import Candidate, candidates
from core.plugins.layout import MARKETPLACE_FILES
from core.plugins.offers import Offer, OfferReader
from core.plugins.reading import GroupReader, Known, in_list_order, key_of
from core.plugins.rows import Surroundings
from core.plugins.rows_cache import Group, RowsCache
from core.plugins.state import PluginStates
from core.plugins.updates.comparing import ContentComparer
from core.plugins.updates.memory import PluginMemory
from core.plugins.workers import Turns, back, in_thread, start
from core.ports import Deps
from core.protocol.events import (
    Event,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
)
from core.protocol.rows import Domain, MarketplaceRow, PluginRow, Row
from core.snapshot import SnapshotOwner, Ticket

DEADLINE = 10.0
Key = tuple[str, str, str]
_DOMAINS: tuple[Domain, Domain] = ("marketplaces", "plugins")


@dataclass
class _Refresh:
    """One reading of everything."""

    id: str
    tickets: tuple[Ticket, Ticket]
    turns: Turns
    reader: GroupReader
    began: float
    groups: dict[Key, Known] = field(default_factory=dict[Key, Known])
    silent: list[Candidate] = field(default_factory=list[Candidate])


class PluginCatalog:
    """Marketplaces and plugins as the panel shows them.

    Args:
        account: Who is signed in: `none`, `apiKey`, `chatgpt`. May block.
        deadline: Seconds that one marketplace may take.
        memory: What is remembered of plugins; None for one of its own.

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
    ) -> None:
        self.marketplaces: SnapshotOwner[MarketplaceRow] = SnapshotOwner("marketplaces", emit)
        self.plugins: SnapshotOwner[PluginRow] = SnapshotOwner("plugins", emit)
        self._home = home
        self._configs = configs
        self._deps = deps
        self._emit = emit
        self._account = account
        self._deadline = deadline
        self._groups: dict[Key, Known] = {}
        self._offers = OfferReader()
        self._cache = RowsCache(deps.cache_dir, home.codex_home, deps.cwd)
        self._counter = PartCounter(self.plugins)
        self.comparer = ContentComparer(self.plugins)
        self.memory = memory or PluginMemory(deps.state_dir, home.codex_home, deps.clock.now)
        self._busy = anyio.Lock()
        self._asked = count(1)
        self._begun = 0
        self._watched: tuple[Path, ...] = ()
        self._counted: anyio.Event | None = None

    # -- reading -------------------------------------------------------------------------------

    async def refresh(self, *, forced: bool = False, refresh_id: str = "") -> None:
        """Read everything anew; returns when the lists are whole.

        Rows come as each marketplace has been read; those of before stay until the end. Calls
        that wait for a running one share the next.

        Args:
            forced: Look into every manifest again, its time and size unchanged or not.
        """
        number = next(self._asked)
        async with self._busy:
            if self._begun > number and not forced:
                return
            self._begun = next(self._asked)
            await self._refresh(refresh_id or f"plugins-{number}", forced)

    async def _refresh(self, refresh_id: str, forced: bool) -> None:
        if forced:
            self._offers = OfferReader()
        wanted, around = await in_thread(self._look_around, deadline=self._deadline)
        self._counter.stop()
        self.comparer.stop()
        run = self._begin(refresh_id, around)
        for domain in _DOMAINS:
            sources = tuple(candidate.label for candidate in wanted)
            self._emit(
                RefreshStarted(id=_id(run, domain), domain=domain, forced=forced, sources=sources)
            )
        before = self._rows()
        async with anyio.create_task_group() as tasks:
            if not self.plugins.current.revision:
                tasks.start_soon(self._from_cache, run)
            for candidate in wanted:
                tasks.start_soon(self._read_one, run, candidate)
        await self._finish(run, wanted)
        self._tell_finished(run, before)
        self._after(run, forced)

    def _look_around(self) -> tuple[tuple[Candidate, ...], Surroundings]:
        loaded = self._configs.load(self._deps.cwd)
        cwd = str(self._deps.cwd)
        wanted = candidates(self._home, loaded, cwd, account=self._account())
        states = PluginStates(self._home, [loaded])
        policy = SourcePolicy(self._home, loaded)
        return wanted, Surroundings(states, _off(loaded), memory=self.memory.read(), policy=policy)

    def _begin(self, refresh_id: str, around: Surroundings) -> _Refresh:
        turns = Turns(resting=True)
        now, home = self._deps.clock.now, str(self._home.home)
        settle = partial(self._settle, self.plugins.current.rows)
        return _Refresh(
            id=refresh_id,
            tickets=(self.marketplaces.begin(), self.plugins.begin()),
            turns=turns,
            reader=GroupReader(home, around, turns, self._offers, now, settle),
            began=self._deps.clock.monotonic(),
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

    async def _from_cache(self, run: _Refresh) -> None:
        """Publish the rows of the last time, until better ones come."""
        token = anyio.lowlevel.current_token()

        def work() -> None:
            with run.turns.turn() as tick:
                for group in self._cache.read(tick):
                    back(partial(self._cached, run, group), token)

        try:
            await in_thread(work, deadline=self._deadline)
        except TimeoutError:
            return

    # -- publishing; on the event loop ---------------------------------------------------------

    def _cached(self, run: _Refresh, group: Group) -> None:
        from msgspec.structs import replace

        market = group.market
        if market is not None and market.id not in self.marketplaces.current.rows:
            cached = replace(market, cached=True)
            self.marketplaces.publish(run.tickets[0], [cached], phase="cached")
        there = self.plugins.current.rows
        rows = [replace(row, cached=True) for row in group.plugins if row.id not in there]
        self.plugins.publish(run.tickets[1], rows, phase="cached")

    def _arrived(self, run: _Refresh, known: Known) -> None:
        rows = known.rows
        if known.draft:
            there = self.plugins.current.rows
            rows = tuple(row for row in rows if row.id not in there)
        self.marketplaces.publish(run.tickets[0], [known.market], phase="intermediate")
        if self._alone(run, known):
            self.plugins.publish(run.tickets[1], rows, phase="intermediate")
        self._emit(
            RefreshProgress(
                id=_id(run, "plugins"),
                domain="plugins",
                source=known.candidate.label,
                done=0 if known.draft else len(rows),
                total=known.market.total,
            )
        )

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
        for domain in _DOMAINS:
            self._emit(
                RefreshFailed(
                    id=_id(run, domain),
                    domain=domain,
                    source=candidate.label,
                    message=row.problems[0].message,
                    evidence=row.problems[0].evidence,
                )
            )

    async def _finish(self, run: _Refresh, wanted: tuple[Candidate, ...]) -> None:
        keys = map(key_of, wanted)
        self._groups = {key: run.groups[key] for key in keys if key in run.groups}
        ordered = in_list_order(self._groups.values())
        work = partial(run.reader.whole_list, ordered)
        rows = await in_thread(work, deadline=self._deadline)
        at = self._deps.clock.now()
        markets = [known.market for known in ordered]
        self._watched = self._files(wanted, markets)
        self.marketplaces.publish(run.tickets[0], markets, at=at)
        self.plugins.publish(run.tickets[1], rows, at=at)

    def _rows(self) -> tuple[Mapping[str, Row], Mapping[str, Row]]:
        return self.marketplaces.current.rows, self.plugins.current.rows

    def _tell_finished(
        self, run: _Refresh, before: tuple[Mapping[str, Row], Mapping[str, Row]]
    ) -> None:
        seconds = self._deps.clock.monotonic() - run.began
        for domain, old, new in zip(_DOMAINS, before, self._rows(), strict=True):
            self._emit(
                RefreshFinished(
                    id=_id(run, domain),
                    domain=domain,
                    outcome="partly" if run.silent else "ok",
                    kept_previous=bool(run.silent),
                    added=sum(1 for key in new if key not in old),
                    changed=sum(1 for key, row in new.items() if _differs(row, old.get(key))),
                    removed=sum(1 for key in old if key not in new),
                    seconds=seconds,
                )
            )

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
                self._counter.count_all(offers, run.turns, token, again=forced)
                self.comparer.compare_all(offers, run.turns, token)
                with run.turns.turn() as tick:
                    self._cache.write(self._for_cache(), tick)
            finally:
                back(done.set, token)

        start(work, "plugins-count")

    def _for_cache(self) -> list[Group]:
        grouped: dict[str, list[PluginRow]] = {}
        for row in list(self.plugins.current.rows.values()):
            grouped.setdefault(row.marketplace, []).append(row)
        markets = self.marketplaces.current.rows
        return [
            Group(market=markets.get(key), plugins=tuple(rows)) for key, rows in grouped.items()
        ]

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


def _differs(row: Row, before: Row | None) -> bool:
    return before is not None and before is not row and before != row


def _off(loaded: Loaded) -> str:
    return "" if loaded.feature("plugins") else "plugins are turned off"


def _id(run: _Refresh, domain: Domain) -> str:
    return run.id if domain == "plugins" else f"{run.id}/marketplaces"
