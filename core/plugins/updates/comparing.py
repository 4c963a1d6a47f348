"""Compares installed copies with their sources after the lists are on screen, a few at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import anyio.lowlevel
from msgspec.structs import replace

from core.plugins.offers import Offer
from core.plugins.rows import PINNED
from core.plugins.updates.content import ContentReader, TooBig, difference
from core.plugins.workers import Turns, back
from core.protocol.plugins import LocalSource
from core.protocol.rows import PluginRow
from core.snapshot import SnapshotOwner


@dataclass(frozen=True)
class Compared:
    """What a comparison came to.

    Attributes:
        number: Inode of the copy: another one means that it has been replaced since.
        paths: What differs, sorted.
    """

    copy: str
    number: int
    paths: tuple[str, ...]


class ContentComparer:
    """Finds out about installed plugins whose source has changed under the same version.

    Results are carried over to newer rows until they are compared again.
    """

    def __init__(self, owner: SnapshotOwner[PluginRow]) -> None:
        self._owner = owner
        self._reader = ContentReader()
        self._known: dict[str, Compared] = {}
        self._generation = 0

    def carry_over(self, rows: Iterable[PluginRow]) -> list[PluginRow]:
        """Rows with what is known of them."""
        if not self._known:
            return list(rows)
        return [self._with_known(row) for row in rows]

    def _with_known(self, row: PluginRow) -> PluginRow:
        known = self._known.get(row.plugin_id)
        if known is None or not known.paths or known.copy != row.root or not row.installed:
            return row
        return with_changed(row, changed=known.number == _number(row.root))

    def changes_of(self, plugin_id: str) -> tuple[str, ...]:
        """Paths that differ between an installed copy and its source; () when none is known."""
        known = self._known.get(plugin_id)
        return known.paths if known is not None else ()

    def stop(self) -> None:
        """End a running comparison; newer rows come."""
        self._generation += 1

    def compare_all(
        self,
        offers: Mapping[str, Offer],
        turns: Turns,
        token: anyio.lowlevel.EventLoopToken,
    ) -> None:
        """Compare every installed copy with a source on this disk. In a thread.

        Stops when newer rows come.
        """
        self._generation += 1
        generation = self._generation
        for row in list(self._owner.current.rows.values()):
            if not row.installed or row.cached or row.state in ("leftOver", "broken", "skipped"):
                continue
            offer = offers.get(row.plugin_id)
            source = offer.entry.source if offer is not None else None
            if not isinstance(source, LocalSource):
                continue
            number = _number(row.root)
            with turns.turn() as tick:
                paths = self._compare(source.path, row.root, tick)
            if generation != self._generation:
                return
            self._known[row.plugin_id] = Compared(row.root, number, paths)
            if bool(paths) != row.changed and not row.newer:
                back(partial(self._publish, row.id, row.root, bool(paths)), token)

    def _compare(self, source: str, copy: str, tick: Callable[[], None]) -> tuple[str, ...]:
        try:
            one, other = self._reader.read(source, tick), self._reader.read(copy, tick)
        except (OSError, TooBig):
            return ()
        return tuple(difference(one, other))

    def _publish(self, row_id: str, root: str, changed: bool) -> None:
        """Change the row as it is by now; on the event loop."""
        row = self._owner.current.rows.get(row_id)
        if row is not None and row.root == root and row.installed:
            self._owner.upsert(with_changed(row, changed=changed))


def _number(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def with_changed(row: PluginRow, *, changed: bool) -> PluginRow:
    """A row that says whether its source has other content under the same version."""
    if row.newer or row.changed == changed:
        return row
    state, reason = row.state, row.reason
    if row.pinned is None and row.enabled and state in ("enabled", "empty", "update"):
        state, reason = ("update", "") if changed else ("enabled", "")
    elif row.pinned is not None and state == "enabled":
        reason = PINNED
    return replace(row, changed=changed, state=state, reason=reason)
