"""The committed tool snapshot: what the hosted server last told, kept over restarts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio.to_thread

from core.apps.disk import DiskCache
from core.apps.hosted_tools import AppTool, Connector, app_tools, connectors
from core.ports import Clock
from core.seams import BackendAccount, HostedTool


@dataclass(frozen=True, kw_only=True)
class Committed:
    """One snapshot; `at` in seconds since the epoch."""

    tools: tuple[AppTool, ...]
    connectors: dict[str, Connector]
    at: float


class ToolSnapshots:
    """Holds the snapshot of the account that was asked for last."""

    def __init__(self, disk: DiskCache, clock: Clock) -> None:
        self._disk, self._clock = disk, clock
        self._identity: str | None = None
        self._held: Committed | None = None
        self._listeners: list[Callable[[], object]] = []

    def listen(self, committed: Callable[[], object]) -> None:
        """Call `committed` after each commit; it must not block."""
        self._listeners.append(committed)

    async def of(self, account: BackendAccount) -> Committed | None:
        """The snapshot of this account, from memory or disk; None when there never was one."""
        if self._identity != account.identity:
            kept = await anyio.to_thread.run_sync(self._disk.load_tools, account)
            if self._identity != account.identity:
                self._identity = account.identity
                self._held = None
                if kept is not None:
                    tools = app_tools(kept[1])
                    self._held = Committed(tools=tools, connectors=connectors(tools), at=kept[0])
        return self._held

    async def commit(self, account: BackendAccount, told: Sequence[HostedTool]) -> Committed:
        """Replace the snapshot, also by an empty one, and tell the listeners."""
        tools = app_tools(tool.raw for tool in told)
        committed = Committed(tools=tools, connectors=connectors(tools), at=self._clock.now())
        self._identity, self._held = account.identity, committed
        for listener in self._listeners:
            listener()
        raw = [dict(tool.raw) for tool in told]
        await anyio.to_thread.run_sync(self._disk.save_tools, account, committed.at, raw)
        return committed
