"""jackfield/plugin/updates and jackfield/plugin/update."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from core.errors import CoreError
from core.plugins.market_commit import FULL_ID
from core.protocol.jackfield_plugins import (
    Update,
    UpdateOutcome,
    UpdateParams,
    UpdateResult,
    UpdatesParams,
    UpdatesResult,
)
from core.protocol.plugins import GitSource
from core.protocol.rows import MarketplaceRow, PluginRow
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.operations import Cancelled
from core.service.workbench import Workbench

if TYPE_CHECKING:
    from core.plugins.entries import Entry

FILES_TOLD = 50
_BLOCKED = frozenset({"blocked", "skipped", "leftOver"})
Faults = tuple[tuple[str, str], ...]


class PluginUpdates:
    """Updates of installed plugins."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/plugin/updates": self.updates,
            "jackfield/plugin/update": self.update,
        }

    # -- what could be updated

    async def updates(self, params: UpdatesParams, scope: RequestScope) -> UpdatesResult:
        """Every installed plugin whose offer differs, pinned ones included."""
        catalog = self._bench.catalog
        await catalog.refresh()
        faults = await self.hear() if params.fetch else ()
        await catalog.counted()
        rows = catalog.plugins.current.rows.values()
        return UpdatesResult(
            updates=tuple(self._told(row) for row in rows if row.newer or row.changed),
            behind=tuple(row.name for row in self._markets() if is_behind(row)),
            faults=faults,
            checked_at=self._bench.deps.clock.now(),
        )

    async def hear(self) -> Faults:
        """Ask the servers of what is installed, and read the lists again."""
        catalog = self._bench.catalog
        places = [
            (row.origin, _branch(row)) for row in self._markets() if row.commit and not row.pinned
        ]
        for row in catalog.plugins.current.rows.values():
            found = catalog.offer_of(row.id) if row.installed else None
            entry = found[1].entry if found is not None and found[1] is not None else None
            if entry is not None and isinstance(entry.source, GitSource):
                places.append((entry.source.url, entry.source.sha or entry.source.ref_name or ""))
        faults = await self._bench.hearing.ask(
            place for place in places if not FULL_ID.fullmatch(place[1])
        )
        await catalog.refresh()
        return tuple(faults)

    def _markets(self) -> Iterable[MarketplaceRow]:
        return self._bench.catalog.marketplaces.current.rows.values()

    def _told(self, row: PluginRow) -> Update:
        return Update(
            id=row.plugin_id,
            name=row.name,
            version=row.version,
            offered=row.offered,
            commit=row.commit,
            offered_commit=row.offered_commit,
            changed=row.changed,
            reason="" if row.pinned else row.reason,
            files=self._bench.catalog.comparer.changes_of(row.plugin_id)[:FILES_TOLD],
            pinned=row.pinned,
            codex=row.codex,
        )

    # -- updating

    async def update(self, params: UpdateParams, scope: RequestScope) -> UpdateResult:
        """Bring plugins to what is offered, one after the other.

        One that fails does not stop the others. Emits `OperationProgress` for each.
        """
        bench = self._bench
        bench.may_write()
        await bench.catalog.refresh()
        faults: Faults = ()
        if params.fetch:
            faults = await self._fetch_marketplaces(params.ids)
        await bench.catalog.counted()
        outcomes = [await self._one(target) for target in self._targets(params.ids)]
        if any(outcome.outcome in ("updated", "unchanged") for outcome in outcomes):
            if any(outcome.outcome == "updated" for outcome in outcomes):
                await bench.plugin_set.changed("update", scope)
            await bench.catalog.refresh()
        return UpdateResult(outcomes=tuple(outcomes), faults=faults)

    def _targets(self, ids: Sequence[str] | None) -> list[PluginRow | str]:
        rows = self._bench.catalog.plugins.current.rows
        if ids is None:
            return [row for row in rows.values() if row.newer or row.changed]
        known: dict[str, PluginRow] = {}
        for row in rows.values():
            if row.installed or row.plugin_id not in known:
                known[row.plugin_id] = row
        return [known.get(plugin_id, plugin_id) for plugin_id in dict.fromkeys(ids)]

    async def _fetch_marketplaces(self, ids: Sequence[str] | None) -> Faults:
        """Git marketplaces that the plugins come from; their plugins are left alone."""
        bench = self._bench
        rows = bench.catalog.plugins.current.rows.values()
        used = {
            row.marketplace
            for row in rows
            if row.installed and (ids is None or row.plugin_id in ids) and row.pinned is None
        }
        faults: list[tuple[str, str]] = []
        for market in [row for row in self._markets() if row.id in used and row.source == "git"]:
            key = _key_of(market)
            try:
                async with bench.operations.run("refresh", market.name) as progress:
                    upgraded = await bench.upgrader.upgrade(key, progress, _leave_alone)
                    faults += upgraded.errors
            except CoreError as error:
                faults.append((market.name, error.message))
        await bench.catalog.refresh()
        return tuple(faults)

    async def _one(self, target: PluginRow | str) -> UpdateOutcome:
        if isinstance(target, str):
            name = target.partition("@")[0]
            message = f"no plugin {target} is installed"
            return UpdateOutcome(id=target, name=name, outcome="failed", message=message)
        row, bench = target, self._bench
        if refusal := _refusal(row):
            outcome = "skipped" if row.pinned is not None else "failed"
            return _outcome(row, outcome, refusal)
        found = bench.catalog.offer_of(row.id)
        offer = found[1] if found is not None else None
        if offer is None:
            return _outcome(row, "failed", "no marketplace offers it any more")
        market = row.plugin_id.rpartition("@")[2]
        try:
            async with bench.operations.run("update", row.plugin_id) as progress:
                updated = await bench.updater.update(market, offer.entry, progress)
        except Cancelled:
            return _outcome(row, "cancelled", "nothing was changed")
        except CoreError as error:
            return _outcome(row, "failed", error.message)
        if not updated.copied:
            return _outcome(row, "unchanged", "is the newest already")
        same = updated.before == updated.version
        said = "copied anew" if same else f"{updated.before or '?'} → {updated.version}"
        return _outcome(row, "updated", said, updated.before, updated.version)


async def _leave_alone(market: str, entry: Entry) -> None:
    """A marketplace is refreshed; what is installed from it is updated on its own."""


def _branch(row: MarketplaceRow) -> str:
    return (row.ref or "").rpartition("@")[0]


def _key_of(row: MarketplaceRow) -> str:
    """A git marketplace's name in the configuration is that of its checkout's folder."""
    return row.root.rpartition("/")[2]


def is_behind(row: MarketplaceRow) -> bool:
    """Whether the server of a marketplace has another commit."""
    return bool(row.offered_commit) and row.offered_commit != row.commit


def _refusal(row: PluginRow) -> str:
    if row.pinned is not None:
        return f"pinned at {row.pinned}"
    if not row.installed:
        return "it is not installed"
    return row.reason or "it cannot be used" if row.state in _BLOCKED else ""


def _outcome(
    row: PluginRow,
    outcome: Any,
    message: str,
    before: str | None = None,
    version: str | None = None,
) -> UpdateOutcome:
    return UpdateOutcome(
        id=row.plugin_id,
        name=row.name,
        outcome=outcome,
        before=before,
        version=version,
        message=message,
    )
