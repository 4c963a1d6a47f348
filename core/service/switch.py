"""jackfield/switch and jackfield/undo: on and off by key, in the user's configuration."""

from __future__ import annotations

from core.config.switching import Switched
from core.errors import InvalidRequest
from core.mcp.board import ServerBoard
from core.protocol.jackfield import SwitchParams, SwitchResult, UndoParams
from core.scope import RequestScope
from core.service.config import ConfigService
from core.service.dispatch import Handler
from core.service.undoing import Undoes


class SwitchService:
    """Knows which table a row's switch is in; the rest is the configuration's."""

    def __init__(
        self, config: ConfigService, board: ServerBoard, undoes: Undoes | None = None
    ) -> None:
        self._config, self._board = config, board
        self._undoes = undoes or Undoes()

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/switch": self.switch, "jackfield/undo": self.undo}

    async def switch(self, params: SwitchParams, scope: RequestScope) -> SwitchResult:
        """Write the switch, unless another layer decides; say what holds now.

        Raises:
            InvalidRequest: There is no such row.
            CoreError: The file cannot be edited; it says where it is broken.
        """
        switched, undo = await self._switched(params, force=params.layer == "user")
        return SwitchResult(
            written=switched.written,
            effective=switched.effective,
            message=switched.message,
            evidence=switched.evidence,
            decided_by=switched.decided_by,
            undo=undo,
        )

    async def _switched(self, params: SwitchParams, *, force: bool) -> tuple[Switched, str | None]:
        config = self._config
        match params.kind:
            case "plugin":
                return await config.switch_plugin(params.id, params.enabled, force=force)
            case "app":
                return await config.switch_app(params.id, params.enabled, force=force)
            case "server":
                plugin_id = self._plugin_of(params.id) or params.plugin_id
                return await config.switch_server(
                    params.id, params.enabled, plugin_id=plugin_id, force=force
                )
            case "tool":
                return await self._tool(params, force=force)

    async def _tool(self, params: SwitchParams, *, force: bool) -> tuple[Switched, str | None]:
        owner, slash, name = params.id.partition("/")
        row = self._board.inventory.current.rows.get(params.id)
        if row is not None:
            owner, name = row.owner, row.name
        elif params.server is not None:
            owner, name = params.server, params.id.removeprefix(f"{params.server}/")
        elif not slash:
            raise InvalidRequest(f"no tool {params.id!r} here")
        if owner not in self._board.servers.current.rows and params.server is None:
            return await self._config.switch_app_tool(owner, name, params.enabled, force=force)
        plugin_id = self._plugin_of(owner) or params.plugin_id
        return await self._config.switch_server_tool(
            owner, name, params.enabled, plugin_id=plugin_id, force=force
        )

    def _plugin_of(self, server: str) -> str | None:
        row = self._board.servers.current.rows.get(server)
        return row.plugin_id if row is not None else None

    async def undo(self, params: UndoParams, scope: RequestScope) -> SwitchResult:
        """Take a change back. Raises InvalidRequest when somebody has changed it since."""
        if (run := self._undoes.take(params.token)) is not None:
            return SwitchResult(written=True, effective=True, message=await run())
        result = await self._config.undo(params.token)
        message = f"undone: {result.file.name} says again what it said before"
        return SwitchResult(written=result.changed, effective=True, message=message)
