"""A load's steps as rows of the panel: what is there stays, what comes is added, the end tidies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import anyio
import anyio.to_thread
import msgspec

from core.apps.directory import SOURCE, Directory
from core.apps.entries import DirectoryPage, merge, unite
from core.apps.hosted_tools import Connector
from core.apps.loading import TOOLS, Outcome
from core.apps.rows import app_rows
from core.apps.snapshots import Committed
from core.apps.view import View
from core.config.pace import Pace
from core.errors import CoreError
from core.protocol.app_info import AppInfo
from core.protocol.events import Phase
from core.protocol.rows import AppRow
from core.refreshing import Refresh
from core.snapshot import SnapshotOwner, Ticket


class Publishing:
    """Takes the steps of one load. Steps that overlap are published one after the other.

    Args:
        directory, tools: What was known before the load, or None.
        loads_directory: The load reads the directory; until an entry has come it is `cached`.
    """

    def __init__(
        self,
        owner: SnapshotOwner[AppRow],
        view: View,
        refresh: Refresh,
        *,
        directory: Directory | None,
        tools: Committed | None,
        loads_directory: bool,
    ) -> None:
        self._owner, self._view, self._refresh = owner, view, refresh
        self._ticket: Ticket = owner.begin()
        self._old_directory, self._old_tools = directory, tools
        self._connectors: dict[str, Connector] = tools.connectors if tools else {}
        self._come: dict[str, AppInfo] = {}
        self._loads_directory = loads_directory
        self._expected = directory.pages if directory else 0
        self._lock = anyio.Lock()

    async def begin(self) -> None:
        """Show what is known, marked as not yet confirmed where a confirmation is on its way."""
        shown = self._owner.current.rows
        async with self._lock:
            if not shown and (self._old_directory or self._old_tools):
                await self._publish(self._known(), self._build_whole, "cached")
            elif shown and self._loads_directory:
                marked = await anyio.to_thread.run_sync(_marked, tuple(shown.values()))
                self._owner.publish(self._ticket, marked, phase="intermediate")

    async def page(self, source: str, page: DirectoryPage, done: int) -> None:
        if page.next_token is None:
            total = done
        else:
            total = self._expected if source == SOURCE and self._expected > done else None
        self._refresh.progress(source, done, total)
        async with self._lock:
            fresh = await anyio.to_thread.run_sync(
                unite, [entry for entry in page.entries if entry.id not in self._come]
            )
            self._come.update((entry.id, entry) for entry in fresh)
            await self._publish(fresh, self._build_part, "intermediate")

    async def directory(self, directory: Directory) -> None:
        count, pages = len(directory.entries), directory.pages
        self._refresh.progress(SOURCE, pages, pages, f"{count} {'app' if count == 1 else 'apps'}")
        if directory.bad:
            words = f"{len(directory.bad)} unreadable, left out: {directory.bad[0]}"
            self._refresh.fail(SOURCE, CoreError(words))

    async def tools(self, committed: Committed) -> None:
        count = len(committed.tools)
        self._refresh.progress(TOOLS, count, count)
        async with self._lock:
            self._connectors = committed.connectors
            known = self._known()
            build = self._build_whole if known is None else self._build_part
            await self._publish(known, build, "intermediate")

    async def failed(self, source: str, failure: CoreError) -> None:
        self._refresh.fail(source, failure)

    async def end(self, outcome: Outcome, *, now: float) -> bool:
        """The whole list of what is known now; what is in it no more leaves.

        Without a directory, old or new, the tools alone make the list; without tools either,
        nothing is published. True when something was.
        """
        directory = outcome.directory or self._old_directory
        committed = outcome.tools or self._old_tools
        if directory is None and committed is None:
            return False
        confirmed = outcome.directory is not None or not self._loads_directory
        async with self._lock:
            self._connectors = committed.connectors if committed else {}
            if confirmed:
                self._loads_directory = False
            entries = directory.entries if directory else None
            rows = await self._rows(entries, self._build_whole)
            return self._owner.publish(self._ticket, rows, at=now if confirmed else 0.0)

    def abandon(self, before: Mapping[str, AppRow]) -> None:
        """The load was broken off: the rows of before it, where there were any."""
        if before:
            self._owner.publish(self._ticket, before.values())

    def _known(self) -> tuple[AppInfo, ...] | None:
        old = self._old_directory
        if old is None:
            return tuple(self._come.values()) or None
        kept = (entry for entry in old.entries if entry.id not in self._come)
        return (*self._come.values(), *kept)

    def _build_whole(self, entries: tuple[AppInfo, ...] | None) -> list[AppInfo]:
        return merge(entries, self._connectors, self._view.named)

    def _build_part(self, entries: tuple[AppInfo, ...] | None) -> list[AppInfo]:
        return merge(entries, self._connectors, self._view.named, part=True)

    def _unconfirmed(self, app_id: str) -> bool:
        return self._loads_directory and app_id not in self._come

    async def _rows(
        self,
        entries: tuple[AppInfo, ...] | None,
        build: Callable[[tuple[AppInfo, ...] | None], list[AppInfo]],
    ) -> list[AppRow]:
        return await anyio.to_thread.run_sync(partial(self._make, entries, build))

    def _make(
        self,
        entries: tuple[AppInfo, ...] | None,
        build: Callable[[tuple[AppInfo, ...] | None], list[AppInfo]],
    ) -> list[AppRow]:
        return app_rows(build(entries), self._view.policy, self._unconfirmed)

    async def _publish(
        self,
        entries: tuple[AppInfo, ...] | None,
        build: Callable[[tuple[AppInfo, ...] | None], list[AppInfo]],
        phase: Phase,
    ) -> None:
        rows = await self._rows(entries, build)
        self._owner.publish(self._ticket, rows, phase=phase)


def _marked(rows: tuple[AppRow, ...]) -> list[AppRow]:
    pace = Pace()
    marked: list[AppRow] = []
    for row in rows:
        pace.tick()
        marked.append(msgspec.structs.replace(row, cached=True))
    return marked
