"""plugin/list, plugin/installed and the local half of plugin/search, as the wire answers them.

Reads only: the real server's habit of installing while it lists lives elsewhere.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import msgspec

from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.config.strict import refusal
from core.errors import CoreError, InternalError
from core.plugins.allowed import SourcePolicy
from core.plugins.discovery import Candidate, Place, candidates, path_key, resolve
from core.plugins.kept_lists import Configured, KeptLists, Question
from core.plugins.marketplace_file import Marketplace, load
from core.plugins.offers import Known, Offer, OfferReader, listed_offers
from core.plugins.shares import shared_paths
from core.plugins.state import PluginStates
from core.plugins.workers import LEASE, Turns, in_thread
from core.protocol.plugins import (
    LocalSource,
    MarketplaceInterface,
    MarketplaceLoadError,
    PluginListResult,
    PluginMarketplaceEntry,
    PluginSummary,
    ShareContext,
)

DEADLINE = 10.0
_encode = msgspec.json.Encoder().encode
_CONFIG_FAULT = "failed to reload config: "


@dataclass(frozen=True)
class View:
    """A working directory with its configuration.

    Attributes:
        fault: Why Codex refuses what the directory's own project adds, or "".
    """

    cwd: str | None
    loaded: Loaded
    fault: str = ""

    @property
    def on(self) -> bool:
        """Whether plugins count here."""
        return not self.fault and self.loaded.feature("plugins")


@dataclass
class Read:
    """A marketplace with its offers.

    Attributes:
        began: When its reading began, nanoseconds since the epoch.
        wire: Its entry in the answer of plugin/list, JSON, once that has been made; only valid
            while no plugin is shared and no other marketplace carries its name.
        later: Reads the offers of one whose entry was kept. Blocks.
    """

    place: Place
    market: Marketplace
    began: int = 0
    listed: list[Offer] | None = None
    wire: bytes | None = None
    later: Callable[[], list[Offer]] | None = None

    @property
    def offers(self) -> list[Offer]:
        """What it lists; read now where that has not been needed before, which may block."""
        if self.listed is None:
            self.listed = self.later() if self.later is not None else []
        return self.listed


@dataclass
class Found:
    """What all directories together give, in the order of the answer."""

    states: PluginStates
    reads: list[Read] = field(default_factory=list[Read])
    errors: list[MarketplaceLoadError] = field(default_factory=list[MarketplaceLoadError])
    on: bool = False

    def configures(self, marketplace: str) -> bool:
        """Whether the configuration names any plugin of a marketplace."""
        return bool(_configured(self.states, marketplace))

    def encoded(self, shares: Mapping[str, ShareContext]) -> bytes:
        """The answer of plugin/list, JSON; entries that were kept are not made anew."""
        names = [read.market.name for read in self.reads]
        if shares or len(set(names)) < len(names):
            marketplaces = b",".join(map(_encode, self.entries(shares)))
        else:
            marketplaces = b",".join(map(self._wire, self.reads))
        rest = PluginListResult(marketplaces=(), marketplace_load_errors=tuple(self.errors))
        head, empty, tail = _encode(rest).partition(b'"marketplaces":[')
        return head + empty + marketplaces + tail

    def _wire(self, read: Read) -> bytes:
        if read.wire is None:
            alone = Found(self.states, [read])
            read.wire = b",".join(map(_encode, alone.entries({})))
        return read.wire

    def entries(
        self,
        shares: Mapping[str, ShareContext],
        wanted: Callable[[PluginSummary], bool] | None = None,
    ) -> Iterator[PluginMarketplaceEntry]:
        """Marketplaces with a plugin to show; every plugin id once."""
        taken: set[str] = set()
        for read in self.reads:
            name = read.market.name
            summaries: list[PluginSummary] = []
            for offer in read.offers:
                plugin_id = f"{offer.entry.name}@{name}"
                if plugin_id in taken:
                    continue
                taken.add(plugin_id)
                source = offer.entry.source
                share = None
                if shares and isinstance(source, LocalSource):
                    share = shares.get(source.path)
                summary = offer.summary(name, self.states, share)
                if wanted is None or wanted(summary):
                    summaries.append(summary)
            if summaries:
                yield PluginMarketplaceEntry(
                    name=name,
                    path=read.market.path,
                    interface=_interface(read.market),
                    plugins=tuple(summaries),
                )


def _interface(market: Marketplace) -> MarketplaceInterface | None:
    if market.display_name is None:
        return None
    return MarketplaceInterface(display_name=market.display_name)


class PluginLists:
    """Reads the marketplaces of working directories.

    Args:
        account: Who is signed in: `none`, `apiKey`, `chatgpt`. May block.
        cache_dir: Jackfield's own; None keeps nothing for the next process.
    """

    def __init__(
        self,
        home: Home,
        configs: ConfigStore,
        account: Callable[[], str],
        cache_dir: Path | None = None,
    ) -> None:
        self.home = home
        self._configs = configs
        self.account = account
        self.known: dict[str, Known] = {}
        self._kept = KeptLists(cache_dir / "lists" if cache_dir is not None else None)

    def views(self, cwds: Sequence[str] | None) -> list[View]:
        """The configurations of directories; of none, the user's. Blocks."""
        if not cwds:
            return [View(None, self._configs.load(None))]
        user = refusal(self._configs.load(None))
        views: list[View] = []
        for cwd in cwds:
            loaded = self._configs.load(Path(cwd))
            found = refusal(loaded) if user is None else None
            fault = f"{_CONFIG_FAULT}{found.message}" if found is not None else ""
            views.append(View(cwd, loaded, fault))
        return views

    def shares(self, *, lenient: bool = False) -> dict[str, ShareContext]:
        """Shared local plugins by path. Raises InternalError unless `lenient`. Blocks."""
        try:
            return shared_paths(self.home)
        except CoreError:
            if lenient:
                return {}
            raise

    async def read(self, cwds: Sequence[str] | None, *, kept: bool = False) -> Found:
        """Read everything that can be found from some directories.

        Args:
            kept: What was listed before is good enough for marketplaces whose files have not
                changed; their offers are read when somebody asks for them.

        A marketplace that does not answer is told among the errors. Raises InternalError when
        the configuration does not.
        """
        try:
            views, account = await in_thread(
                lambda: (self.views(cwds), self.account()), deadline=DEADLINE
            )
        except TimeoutError:
            raise InternalError(f"the disk did not answer within {DEADLINE:.0f} s") from None
        found = Found(PluginStates(self.home, [view.loaded for view in views if not view.fault]))
        found.on = any(view.on for view in views)
        groups = [
            candidates(self.home, view.loaded, view.cwd, account=account) if view.on else ()
            for view in views
        ]
        wanted = {_key(one): one for group in groups for one in group}
        reads = await self._read_all(wanted, found, kept)
        self._put_in_order(views, groups, reads, found)
        return found

    async def _read_all(
        self, wanted: Mapping[tuple[str, str], Candidate], found: Found, kept: bool
    ) -> dict[tuple[str, str], Read | str | None]:
        silent = f"no answer within {DEADLINE:.0f} s"
        turns, left = Turns(resting=False), deque(wanted.items())
        reads: dict[tuple[str, str], Read | str | None] = dict.fromkeys(wanted, silent)

        def work() -> None:
            with suppress(IndexError):
                while True:
                    key, candidate = left.popleft()
                    reads[key] = self.read_candidate(candidate, found.states, turns, kept=kept)

        async def worker(ended: anyio.Event) -> None:
            with suppress(TimeoutError):
                await in_thread(work, deadline=DEADLINE)
            ended.set()

        # One thread reads them all; where it waits for a disk, another goes on with the rest.
        async with anyio.create_task_group() as tasks:
            while left:
                ended = anyio.Event()
                tasks.start_soon(worker, ended)
                await _held_up(left, ended)
        return dict(reads)

    def read_candidate(
        self, candidate: Candidate, states: PluginStates, turns: Turns, *, kept: bool = False
    ) -> Read | None:
        """A marketplace with its offers, or None when there is none. Blocks."""
        place = resolve(candidate)
        if place is None:
            return None
        with turns.turn() as tick:
            if kept and (read := self._as_before(place, states, tick)) is not None:
                return read
            return self._anew(place, states, tick)

    def _anew(self, place: Place, states: PluginStates, tick: Callable[[], None]) -> Read:
        began = time.time_ns()
        market = load(
            place.path,
            place.root,
            home=str(self.home.home),
            format=place.format,
            managed=place.managed,
            tick=tick,
        )
        offers = listed_offers(market, states, OfferReader(self.known))
        return Read(place, market, began, offers)

    def _as_before(
        self, place: Place, states: PluginStates, tick: Callable[[], None]
    ) -> Read | None:
        question = self._question(place)
        kept = self._kept.get(question, functools.partial(_configured, states), tick)
        if kept is None:
            return None
        market = Marketplace(
            path=place.path,
            root=place.root,
            format=place.format,
            name=kept.name,
            display_name=kept.display_name,
        )

        def later() -> list[Offer]:
            return self._anew(place, states, _no_tick).offers

        return Read(place, market, wire=kept.wire, later=later)

    def _question(self, place: Place) -> Question:
        home = str(self.home.home)
        return Question(place.path, place.root, place.format, place.managed, home)

    @staticmethod
    def wants_keeping(found: Found) -> bool:
        """Whether anything was read anew."""
        return any(read.wire and read.later is None for read in found.reads)

    def keep(self, found: Found) -> None:
        """Keep what was listed just now for the next list and the next process. Blocks."""
        for read in found.reads:
            if read.later is not None or not read.wire:
                continue
            market = read.market
            configured = _configured(found.states, market.name)
            copies = {plugin_id: root for plugin_id, _, root in configured}
            roots = [_root_of(offer, market.name, copies) for offer in read.offers]
            self._kept.keep(
                self._question(read.place),
                (market.name, market.display_name),
                configured,
                [root for root in roots if root],
                read.wire,
                read.began,
            )

    def _put_in_order(
        self,
        views: Sequence[View],
        groups: Sequence[Sequence[Candidate]],
        reads: Mapping[tuple[str, str], Read | str | None],
        found: Found,
    ) -> None:
        taken: set[str] = set()

        policies = {view.cwd: SourcePolicy(self.home, view.loaded) for view in views}

        def add(candidate: Candidate, policy: SourcePolicy) -> None:
            read = reads[_key(candidate)]
            if isinstance(read, str):
                message = f"failed to read marketplace file: {read}"
                if candidate.root not in taken:
                    taken.add(candidate.root)
                    found.errors.append(
                        MarketplaceLoadError(marketplace_path=candidate.root, message=message)
                    )
            elif read is not None and read.place.path not in taken and _allowed(read, policy):
                taken.add(read.place.path)
                _sort_in(read, found)

        for view, group in zip(views, groups, strict=True):
            for candidate in group:
                if candidate.kind == "home":
                    add(candidate, policies[view.cwd])
        for view, group in zip(views, groups, strict=True):
            if view.fault:
                found.errors.append(
                    MarketplaceLoadError(marketplace_path=view.cwd or "", message=view.fault)
                )
            for candidate in sorted(group, key=lambda one: _order(reads[_key(one)])):
                add(candidate, policies[view.cwd])


async def _held_up(left: Sized, ended: anyio.Event) -> None:
    """Wait until none is left, or until none has been taken for a while."""
    while left and not ended.is_set():
        before = len(left)
        with anyio.move_on_after(LEASE):
            await ended.wait()
        if len(left) == before:
            return


def _no_tick() -> None:
    pass


def _configured(states: PluginStates, marketplace: str) -> Configured:
    """What the configuration and the plugin cache say of the plugins of a marketplace."""
    return tuple(
        (plugin_id, states.enabled(plugin_id), states.root(plugin_id))
        for plugin_id in sorted(states.switches)
        if plugin_id.rpartition("@")[2] == marketplace
    )


def _root_of(offer: Offer, marketplace: str, copies: Mapping[str, str | None]) -> str | None:
    """The directory that an offer's manifest was looked for in; None when it is not here."""
    source = offer.entry.source
    if isinstance(source, LocalSource):
        return source.path
    return copies.get(f"{offer.entry.name}@{marketplace}")


def _allowed(read: Read, policy: SourcePolicy) -> bool:
    market = read.market
    if market.refusal is not None:
        return True
    return not policy.market_fault(market.name, market.root, read.place.managed)


def _key(candidate: Candidate) -> tuple[str, str]:
    return candidate.kind, candidate.root


def _order(read: Read | str | None) -> list[str]:
    return path_key(read.place.path) if isinstance(read, Read) else []


def _sort_in(read: Read, found: Found) -> None:
    refused = read.market.refusal
    if refused is not None:
        found.errors.append(
            MarketplaceLoadError(marketplace_path=read.market.path, message=refused.message)
        )
    elif read.wire or read.offers:
        found.reads.append(read)
