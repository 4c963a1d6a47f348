"""One reading of the servers: each is a source of two lists, of servers and of what they offer."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import anyio

from core.errors import CoreError
from core.mcp.board import ServerBoard
from core.mcp.connection import Connection
from core.ports import Clock
from core.protocol.events import RefreshEvent
from core.protocol.rows import Domain
from core.refreshing import Refresh
from core.snapshot import SnapshotOwner

LISTS: tuple[Domain, Domain] = ("servers", "inventory")
FILES = "configuration"


class Rereading:
    """Tells of it in both domains; the rows are intermediate until the last server has answered.

    Args:
        domain: Whose list was asked for: its refresh has `refresh_id`, the other one's id begins
            with it.
    """

    def __init__(
        self,
        board: ServerBoard,
        clock: Clock,
        emit: Callable[[RefreshEvent], None],
        refresh_id: str,
        domain: Domain = "servers",
    ) -> None:
        self._board = board
        self._owners: dict[Domain, SnapshotOwner[Any]] = {
            "servers": board.servers,
            "inventory": board.inventory,
        }
        self._refreshes: dict[Domain, Refresh] = {}
        for each in sorted(LISTS, key=lambda name: name != domain):
            own = refresh_id if each == domain else f"{refresh_id}/{each}"
            self._refreshes[each] = Refresh(each, own, emit, clock)
        self._before = {name: owner.current.rows for name, owner in self._owners.items()}
        self._failed: set[str] = set()
        self._kept: set[str] = set()
        self._asked = 0

    @contextmanager
    def reading_files(self) -> Generator[None]:
        """What names the servers is read; where that fails everything stays as it was."""
        try:
            yield
        except CoreError as failure:
            self._failed.add(FILES)
            for refresh in self._refreshes.values():
                refresh.start(forced=False, sources=(FILES,))
                refresh.fail(FILES, failure)
            self._finish("failed", kept=True)
            raise

    @contextmanager
    def begun(self, names: Sequence[str], *, forced: bool) -> Generator[None]:
        """Say who is asked, and let them be asked; then `hear` must follow."""
        self._asked = len(names)
        for refresh in self._refreshes.values():
            refresh.start(forced=forced, sources=tuple(names) or (FILES,))
        self._board.begin_fetch()
        try:
            yield
        except BaseException:
            self._end("failed")
            raise

    async def hear(self, connections: Iterable[Connection]) -> None:
        """Wait for each of them, and tell as each has answered, and how it all went."""
        try:
            async with anyio.create_task_group() as tasks:
                for connection in connections:
                    tasks.start_soon(self._hear_one, connection)
        except BaseException:
            self._end("cancelled")
            raise
        for refresh in () if self._asked else self._refreshes.values():
            refresh.progress(FILES, 1, 1)
        self._end()

    async def _hear_one(self, connection: Connection) -> None:
        await connection.settled()
        await connection.listed()
        name, tools = connection.spec.name, connection.listing("tools")
        failure = _failure(connection)
        if failure is None:
            count = len(tools.items) if tools is not None else 0
            for refresh in self._refreshes.values():
                refresh.progress(name, count, count)
            return
        self._failed.add(name)
        if any(row.owner == name for row in self._board.inventory.current.rows.values()):
            self._kept.add(name)
        for refresh in self._refreshes.values():
            refresh.fail(name, failure)

    def _end(self, outcome: str = "") -> None:
        self._board.end_fetch()
        if not outcome:
            bad = len(self._failed)
            outcome = "ok" if not bad else "partly" if bad < self._asked else "failed"
        self._finish(outcome, kept=bool(self._kept))

    def _finish(self, outcome: str, *, kept: bool) -> None:
        for name, refresh in self._refreshes.items():
            before, after = self._before[name], self._owners[name].current.rows
            kept_previous = kept and (name == "inventory" or FILES in self._failed)
            refresh.finish(outcome, before=before, after=after, kept_previous=kept_previous)


def _failure(connection: Connection) -> CoreError | None:
    """Why a server gives nothing, or nothing new; None when it has listed its tools."""
    secrets = connection.spec.secrets
    if not connection.live:
        said = secrets.mask(connection.reason) or connection.status
        return CoreError(said, evidence=connection.spec.origin)
    tools = connection.listing("tools")
    unread = next((f for f in tools.faults if f.rule == "unread"), None) if tools else None
    return CoreError(secrets.mask(unread.message)) if unread is not None else None
