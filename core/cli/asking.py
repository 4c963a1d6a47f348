"""What several verbs ask of a core: rows once they are whole, servers as they answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

import anyio

from core.errors import CoreError, InternalError
from core.method_table import JACKFIELD_PANEL_START, JACKFIELD_REFRESH, JACKFIELD_ROWS
from core.protocol.events import RefreshFailed, RefreshFinished, ServersChanged
from core.protocol.jackfield import PanelStartParams, RefreshParams, RowsParams
from core.protocol.rows import Domain, ServerRow

if TYPE_CHECKING:
    from core.channels import Subscription
    from core.client.contract import CoreClient

DEADLINE = 60.0
"""Seconds that a list may take, unless the person says otherwise."""
_INVENTORY = 2.0
"""Seconds that a connected server has for its first list."""
_ON_THE_WAY = frozenset({"notStarted", "starting"})


async def all_rows(client: CoreClient, domain: Domain) -> list[Any]:
    """Every row of a domain's present snapshot."""
    rows: list[Any] = []
    cursor: str | None = None
    while True:
        page = await client.call(JACKFIELD_ROWS, RowsParams(domain=domain, cursor=cursor))
        rows.extend(page.rows)
        cursor = page.next_cursor
        if cursor is None:
            return rows


async def fresh_rows(
    client: CoreClient, domain: Domain, *, deadline: float = DEADLINE
) -> tuple[list[Any], list[str]]:
    """Rows of a list that is read for this, and what could not be read.

    Raises:
        InternalError: It was not whole in time.
    """
    faults: list[str] = []
    try:
        with anyio.fail_after(deadline):
            async with client.subscribe() as events:
                asked = await client.call(JACKFIELD_REFRESH, RefreshParams(domain=domain))
                await _finished(events, asked.refresh_id, faults)
    except TimeoutError:
        raise InternalError(f"the {domain} were not read within {deadline:g} s") from None
    return await all_rows(client, domain), faults


async def _finished(events: Subscription, refresh_id: str, faults: list[str]) -> None:
    async for event in events:
        match event:
            case RefreshFailed() if event.id == refresh_id:
                faults.append(f"{event.source}: {event.message}")
            case RefreshFinished() if event.id == refresh_id:
                return
            case _:
                pass


class Servers:
    """The servers of a thread of this process, started for it and ended with it."""

    def __init__(self, client: CoreClient, *, yes: bool, deadline: float) -> None:
        self._client, self._yes = client, yes
        self._ends = anyio.current_time() + deadline
        self.deadline = deadline

    async def settled(self, names: Iterable[str] | None = None) -> AsyncIterator[ServerRow]:
        """Each server once it has answered, failed, or was not to be started; first come, first.

        Those that have not settled in time come last, as they then are.

        Args:
            names: Only these are started and told; None = all.

        Raises:
            InternalError: One of `names` is not configured.
        """
        only = None if names is None else tuple(names)
        params = PanelStartParams(consent_all=self._yes, only=only, lists=False)
        async with self._client.subscribe() as events:
            await self._client.call(JACKFIELD_PANEL_START, params)
            rows = {row.id: row for row in await all_rows(self._client, "servers")}
            if only is not None:
                if unknown := [name for name in only if name not in rows]:
                    raise InternalError(f"No MCP server named '{unknown[0]}' found.")
                rows = {name: rows[name] for name in only}
            waiting = dict(rows)
            connected: dict[str, float] = {}
            while waiting:
                for row in [row for row in waiting.values() if _has_settled(row, connected)]:
                    del waiting[row.id]
                    yield row
                if not waiting or not await self._changed(events, waiting, connected):
                    break
            for row in waiting.values():
                yield row

    async def _changed(
        self, events: Subscription, waiting: dict[str, ServerRow], connected: dict[str, float]
    ) -> bool:
        """Wait for news of what is awaited; False when time is up."""
        until = min([self._ends, *(at + _INVENTORY for at in connected.values())])
        with anyio.move_on_after(max(0.0, until - anyio.current_time())):
            async for batch in events.batches():
                for event in batch:
                    if isinstance(event, ServersChanged):
                        waiting.update({row.id: row for row in event.upserted if row.id in waiting})
                        for gone in set(event.removed) & waiting.keys():
                            del waiting[gone]
                        return True
        return anyio.current_time() < self._ends


def _has_settled(row: ServerRow, connected: dict[str, float]) -> bool:
    """Connected ones have a moment for their inventory to come back."""
    if row.status in _ON_THE_WAY:
        return False
    if row.status != "connected" or row.tools is not None:
        connected.pop(row.id, None)
        return True
    since = connected.setdefault(row.id, anyio.current_time())
    if anyio.current_time() - since >= _INVENTORY:
        del connected[row.id]
        return True
    return False


def why_not_started(row: ServerRow) -> CoreError:
    """A server that is needed and is not connected."""
    hint = "agree to it with --yes, or in the panel" if row.status == "review" else ""
    return InternalError(f"{row.name}: {row.status} — {row.reason or 'no reason told'}", hint=hint)
