"""Counts what plugins bring after the lists are on screen, a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import anyio.lowlevel
from msgspec.structs import replace

from core.plugins.brings import count, is_nothing
from core.plugins.entry_manifest import entry_manifest
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.offers import Offer
from core.plugins.rows import short
from core.plugins.workers import Turns, back
from core.protocol.rows import Brings, PluginRow
from core.snapshot import SnapshotOwner

BATCH = 500
_COUNTED = frozenset({"enabled", "disabled", "update", "available", "empty", "notOffered"})


class PartCounter:
    """Fills in `brings` of rows, and their state when it comes to nothing.

    Counts are kept by directory and carried over to newer rows until they are counted again.
    """

    def __init__(self, owner: SnapshotOwner[PluginRow]) -> None:
        self._owner = owner
        self._known: dict[tuple[str, str | None], Brings] = {}
        self._generation = 0

    def carry_over(self, rows: Iterable[PluginRow]) -> list[PluginRow]:
        """Rows with the counts that are known."""
        if not self._known:
            return self._from_snapshot(rows)
        return [
            row if (known := self._known.get(_key(row))) is None else with_brings(row, known)
            for row in rows
        ]

    def _from_snapshot(self, rows: Iterable[PluginRow]) -> list[PluginRow]:
        """Counts of cached rows, before anything has been counted."""
        there = self._owner.current.rows
        carried: list[PluginRow] = []
        for row in rows:
            before = there.get(row.id)
            brings = before.brings if before is not None and _key(before) == _key(row) else None
            carried.append(row if brings is None else with_brings(row, brings))
        return carried

    def forget(self) -> None:
        """Nothing has been counted; what is on screen stays until it is."""
        self._known = {}

    def stop(self) -> None:
        """End a running count; newer rows come."""
        self._generation += 1

    def count_all(
        self,
        offers: Mapping[str, Offer],
        turns: Turns,
        token: anyio.lowlevel.EventLoopToken,
        *,
        again: bool,
    ) -> None:
        """Count every row whose files are here, installed ones first. In a thread.

        Stops when a newer count has begun.

        Args:
            again: Those too that are not installed and have been counted already.
        """
        self._generation += 1
        generation = self._generation
        rows = [
            row
            for row in list(self._owner.current.rows.values())
            if _wants_count(row) and (again or row.installed or _key(row) not in self._known)
        ]
        rows.sort(key=lambda row: not row.installed)
        batch: dict[str, Brings] = {}
        for row in rows:
            if generation != self._generation:
                return
            with turns.turn() as tick:
                brings = _count(row, offers.get(row.plugin_id))
                tick()
            if brings is None:
                continue
            self._known[_key(row)] = brings
            if row.brings != brings:
                batch[row.id] = brings
            if len(batch) >= BATCH:
                back(partial(self._publish, batch), token)
                batch = {}
        if batch:
            back(partial(self._publish, batch), token)

    def _publish(self, counted: Mapping[str, Brings]) -> None:
        """Change the rows as they are by now; on the event loop."""
        there = self._owner.current.rows
        changed = [
            with_brings(there[key], brings) for key, brings in counted.items() if key in there
        ]
        if changed:
            self._owner.upsert(*changed)


def _key(row: PluginRow) -> tuple[str, str | None]:
    return row.root, row.version if row.installed else row.offered


def _wants_count(row: PluginRow) -> bool:
    return bool(row.root) and row.state in _COUNTED and not row.cached


def _count(row: PluginRow, offer: Offer | None) -> Brings | None:
    manifest = read_manifest(row.root)
    if manifest is None and offer is not None:
        manifest = entry_manifest(offer.entry, row.root)
    return count(manifest, installed=row.installed) if isinstance(manifest, Manifest) else None


def with_brings(row: PluginRow, brings: Brings) -> PluginRow:
    """A row with its counts; one that brings nothing says so, unless it is off."""
    if row.state == "empty":
        row = replace(row, state="enabled" if row.installed else "available", reason="")
    if not is_nothing(brings) or row.state not in ("enabled", "available"):
        return replace(row, brings=brings)
    only = f"only {', '.join(brings.ignored)}" if brings.ignored else ""
    return replace(row, brings=brings, state="empty", reason=short(only))
