"""Reads one marketplace for the panel: its row and the rows of its plugins."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from core.plugins import market_rows
from core.plugins.discovery import Candidate, Place, path_key, resolve
from core.plugins.entries import Entry
from core.plugins.left_overs import with_left_overs
from core.plugins.market_commit import FULL_ID
from core.plugins.marketplace_file import Marketplace, load
from core.plugins.offers import Offer, OfferReader, entry_description, listed_offers
from core.plugins.rows import Surroundings, plugin_rows, with_unique_ids
from core.plugins.workers import Turns
from core.protocol.facts import Evidence
from core.protocol.rows import MarketplaceRow, PluginRow

DRAFT_FROM = 200


@dataclass(frozen=True)
class Known:
    """What was read of one candidate.

    Attributes:
        order: Sorts the groups as Codex lists them.
        offers: By plugin id; what details are made from.
        draft: The plugins' own files have not been looked at yet.
    """

    candidate: Candidate
    market: MarketplaceRow
    rows: tuple[PluginRow, ...] = ()
    offers: dict[str, Offer] = field(default_factory=dict[str, Offer])
    order: tuple[object, ...] = ()
    draft: bool = False

    @property
    def key(self) -> tuple[str, str, str]:
        """Tells candidates apart."""
        return key_of(self.candidate)


def key_of(candidate: Candidate) -> tuple[str, str, str]:
    """Tells candidates apart; two configured ones may name the same directory."""
    return candidate.kind, candidate.root, candidate.key


class GroupReader:
    """Reads candidates, each in a thread of its own; they take turns.

    Args:
        home: What a leading `~` stands for.
        now: The time, seconds since the epoch.
        settle: Adds to rows what is known of them from elsewhere; what is as it was on screen
            comes back as the same object, so that comparing costs nothing later.
    """

    def __init__(
        self,
        home: str,
        around: Surroundings,
        turns: Turns,
        offers: OfferReader,
        now: Callable[[], float],
        settle: Callable[[Iterable[PluginRow]], list[PluginRow]],
    ) -> None:
        self._home = home
        self._around = around
        self._turns = turns
        self._offers = offers
        self._now = now
        self._settle = settle

    def read(
        self, candidate: Candidate, on_draft: Callable[[Known], None] | None = None
    ) -> Known | None:
        """A candidate with its rows; None when nobody named it and nothing is there. Blocks.

        Args:
            on_draft: Given the rows without the plugins' own data first, when there are many.
        """
        at = self._now()
        place = resolve(candidate)
        if place is None:
            row = market_rows.missing_row(candidate, at)
            return Known(candidate, row, order=(2, [row.id])) if row is not None else None
        with self._turns.turn() as tick:
            market = load(
                place.path,
                place.root,
                home=self._home,
                format=place.format,
                managed=place.managed,
                tick=tick,
            )
            judged, fault = self._judged(place, market)
            row = market_rows.read_row(place, market, at, off=bool(self._around.off))
            row = market_rows.with_commits(row, candidate, self._around.memory)
            if fault is not None:
                row = market_rows.not_allowed(row, *fault)
            order = (0 if candidate.kind == "home" else 1, path_key(place.path))
            wanted = on_draft is not None and len(market.entries) >= DRAFT_FROM
            drafted = self._draft(market, judged) if wanted else []
        if drafted and on_draft is not None:
            on_draft(Known(candidate, row, tuple(drafted), order=order, draft=True))
        with self._turns.turn() as tick:
            states, around = self._around.states, judged
            if candidate.kind == "git" and not FULL_ID.fullmatch(candidate.ref or ""):
                around = replace(around, checkout=True)
            offers = listed_offers(market, states, self._offers, every=True, tick=tick)
            rows = self._settle(with_unique_ids(plugin_rows(market, offers, around)))
            by_id = {f"{offer.entry.name}@{market.name}": offer for offer in offers}
        return Known(candidate, row, tuple(rows), by_id, order)

    def _judged(
        self, place: Place, market: Marketplace
    ) -> tuple[Surroundings, tuple[str, Evidence] | None]:
        """What a marketplace's rows need, and why an administrator does not allow it."""
        policy = self._around.policy
        if policy is None or market.refusal is not None:
            return self._around, None
        fault = policy.market_fault(market.name, market.root, place.managed)
        if not fault:
            return self._around, None
        return replace(self._around, off=policy.reason), (fault, policy.evidence)

    def _draft(self, market: Marketplace, around: Surroundings) -> list[PluginRow]:
        offers = [_bare(entry) for entry in market.entries]
        draft = replace(around, draft=True)
        return with_unique_ids(plugin_rows(market, offers, draft))

    def whole_list(self, groups: list[Known]) -> list[PluginRow]:
        """The rows of all groups and the left-overs."""
        with self._turns.turn() as tick:
            rows = [row for known in groups for row in known.rows]
            tick()
            if len({known.market.name for known in groups}) < len(groups):
                rows = with_unique_ids(rows)
            tick()
            rows = with_left_overs(rows, self._around, groups_by_name(groups))
            tick()
            return self._settle(rows)


def groups_by_name(groups: list[Known]) -> dict[str, MarketplaceRow]:
    """Marketplaces by name; of two with one name the first in list order."""
    return {known.market.name: known.market for known in reversed(groups)}


def _bare(entry: Entry) -> Offer:
    return Offer(entry, description=entry_description(entry))


def in_list_order(groups: Iterable[Known]) -> list[Known]:
    """Each file once, as Codex sorts them: the workspace may be a configured one too."""
    distinct: dict[str, Known] = {}
    for known in sorted(groups, key=lambda known: known.order):
        held = distinct.get(known.market.id)
        if held is None or (held.candidate.kind == "workspace" and known.candidate.key):
            distinct[known.market.id] = known
    return list(distinct.values())
