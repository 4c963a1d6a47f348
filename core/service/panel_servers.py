"""The panel's servers, as those need them who change tables of servers."""

from __future__ import annotations

from core.config.server_entry import ServerEntry
from core.mcp.board import ServerBoard
from core.mcp.runtime import McpRuntime
from core.protocol.rows import ServerRow
from core.threads.panel import Panel


class PanelServers:
    """Knows rows and what runs; before the panel's thread stands, nothing does."""

    def __init__(self, panel: Panel, board: ServerBoard) -> None:
        self.panel, self._board = panel, board

    @property
    def _runtime(self) -> McpRuntime | None:
        return self.panel.thread.runtime if self.panel.thread is not None else None

    def row(self, name: str) -> ServerRow | None:
        """The row of a server; None when there is none of that name."""
        return self._board.servers.current.rows.get(name)

    def is_left_over(self, name: str) -> bool:
        """It runs, or is starting, although no file names it any more."""
        runtime = self._runtime
        if runtime is None or runtime.connection(name) is None:
            return False
        return name not in runtime.specs

    def end(self, name: str) -> None:
        """End what runs of a server."""
        if (runtime := self._runtime) is not None:
            runtime.cancel(name)

    async def agree(self, name: str, entry: ServerEntry) -> None:
        """The person has seen this entry: start it, if it is the one that counts."""
        runtime = self._runtime
        spec = runtime.specs.get(name) if runtime is not None else None
        if spec is None or spec.entry != entry or not spec.usable:
            return
        items = [item for item in self.panel.consent_items() if item.name == name]
        if answers := {item.id: True for item in items if item.status != "agreed"}:
            await self.panel.answer_consent(answers)
