"""jackfield/server/…: tables of servers read, judged, written, removed; their tools switched."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from core.config.edit import ConfigEditor, WriteResult
from core.config.edit_plan import Edit
from core.config.model import Loaded
from core.config.version import jsonable
from core.errors import CoreError, InvalidRequest
from core.mcp.hosted import HOSTED_NAME
from core.ports import Deps
from core.protocol.facts import Evidence
from core.protocol.jackfield_servers import (
    ApprovalParams,
    ServerEntryParams,
    ServerLayer,
    ServerPreview,
    ServerRemoveParams,
    ServerTable,
    ServerTableParams,
    ServerTestParams,
    ServerWritten,
    ToolSwitch,
)
from core.scope import RequestScope
from core.service.config import ConfigService
from core.service.dispatch import Handler
from core.service.panel_servers import PanelServers
from core.service.server_drafts import TABLES, Draft, drafted, edited, evidence, parsed
from core.service.server_tables import (
    Table,
    as_table,
    changed_lines,
    literals,
    shown_table,
    tool_edits,
    warnings_of,
)
from core.service.undoing import Undoes


class ServersService:
    """Changes tables of servers, one write each, every one of which can be taken back.

    Args:
        undoes: Takes what the configuration's own undo does not do: a project's file.
    """

    def __init__(
        self,
        deps: Deps,
        config: ConfigService,
        editor: ConfigEditor,
        running: PanelServers,
        undoes: Undoes,
    ) -> None:
        self._deps, self._config, self._editor = deps, config, editor
        self._running, self._undoes = running, undoes

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/server/read": self.read,
            "jackfield/server/preview": self.preview,
            "jackfield/server/write": self.write,
            "jackfield/server/remove": self.remove,
            "jackfield/server/tools/switch": self.switch_tools,
            "jackfield/server/approval": self.approval,
        }

    # -- files

    async def _loaded(self) -> Loaded:
        return await self._config.load(self._deps.cwd)

    def _layers(self, loaded: Loaded) -> dict[ServerLayer, Path]:
        """Files that may be written: the user's, and that of a trusted project."""
        user = loaded.user.file
        found: dict[ServerLayer, Path] = {"user": user} if user is not None else {}
        root = loaded.project_root
        if root is not None and loaded.trusted:
            file = root / ".codex" / "config.toml"
            if file != user:
                found["project"] = file
        return found

    def _file(self, loaded: Loaded, layer: ServerLayer) -> Path:
        file = self._layers(loaded).get(layer)
        if file is None:
            why = "this folder is no project" if loaded.project_root is None else "it is untrusted"
            raise InvalidRequest(f"no {layer} configuration can be written: {why}")
        return file

    async def read(self, params: ServerTableParams, scope: RequestScope) -> ServerTable:
        """The table as a file has it, secrets masked. An empty name gives what can be written."""
        loaded = await self._loaded()
        layers = self._layers(loaded)
        told: dict[str, Any] = {"layers": {key: str(file) for key, file in layers.items()}}
        order: list[ServerLayer] = [params.layer] if params.layer else ["user", "project"]
        for layer in order:
            if layer not in layers:
                continue
            read = await anyio.to_thread.run_sync(parsed, layers[layer])
            table = as_table(read.value.get(TABLES)).get(params.name)
            if isinstance(table, dict):
                shown = shown_table(as_table(jsonable(table)))
                where = evidence(layers[layer], read, layer, params.name)
                return ServerTable(name=params.name, layer=layer, table=shown, origin=where, **told)
        return ServerTable(name=params.name, why_not=self._why_not(loaded, params.name), **told)

    def _why_not(self, loaded: Loaded, name: str) -> str:
        row = self._running.row(name)
        if name == HOSTED_NAME:
            return "it is the server of the account's apps"
        if row is not None and row.plugin_id:
            return f"plugin {row.plugin_id} brings it"
        at = loaded.origin(TABLES, name)
        if at.layer is not None:
            where = at.file or at.layer
            return f"it stands in {where}, which is not ours to write"
        return f"no table of {name} is found" if name else ""

    # -- drafts

    async def draft(self, params: ServerEntryParams | ServerTestParams) -> Draft:
        file = self._file(await self._loaded(), params.layer)
        return await anyio.to_thread.run_sync(partial(drafted, file, params))

    async def preview(self, params: ServerEntryParams, scope: RequestScope) -> ServerPreview:
        """What `write` would do; nothing is written.

        Raises:
            InvalidRequest: There is no such file to write.
            InternalError: The file cannot be read.
        """
        loaded = await self._loaded()
        draft = await self.draft(params)
        told: dict[str, Any] = {"file": str(draft.file)}
        if draft.fault:
            return ServerPreview(fault=draft.fault, fault_key=draft.fault_key, **told)
        work = partial(self._previewed, draft, loaded, params)
        return await anyio.to_thread.run_sync(work)

    def _previewed(self, draft: Draft, loaded: Loaded, params: ServerEntryParams) -> ServerPreview:
        told: dict[str, Any] = {"file": str(draft.file)}
        try:
            after = edited(draft, loaded, params.layer)
        except CoreError as error:
            return ServerPreview(fault=error.message, **told)
        secrets = literals(draft.table, *draft.others)
        lines = changed_lines(draft.read.text, after, secrets)
        return ServerPreview(
            lines=lines, warnings=tuple(self._warnings(draft, loaded, params)), **told
        )

    def _warnings(self, draft: Draft, loaded: Loaded, params: ServerEntryParams) -> list[str]:
        found: list[str] = []
        entry = draft.entry
        if entry is None:
            return found
        verdict = loaded.requirements.allows_server(params.name, entry)
        if not verdict.allowed:
            by = verdict.evidence.file or "an administrator"
            found.append(f"it will be blocked: {os.path.basename(by)} does not allow it")
        row = self._running.row(params.name)
        if draft.present is None and not params.was and row is not None:
            whose = row.plugin_id or row.origin.file or row.origin.layer
            found.append(f"it takes the place of the server of that name of {whose}")
        if params.was and params.was != params.name:
            found.append("a new name means a new table: comments in the old one go with it")
        return [*found, *warnings_of(entry, self._deps.environ, str(self._deps.cwd))]

    async def write(self, params: ServerEntryParams, scope: RequestScope) -> ServerWritten:
        """Write a server's table: only what differs, in one edit.

        Raises:
            InvalidRequest: The table cannot be used, or the name is taken.
            ConfigWriteError, InternalError: The file cannot be edited; nothing was written.
        """
        draft = await self.draft(params)
        if draft.fault:
            where = f"{draft.fault_key}: " if draft.fault_key else ""
            raise InvalidRequest(f"{where}{draft.fault}")
        result, undo = await self._write(draft.edits, draft.file, params.layer)
        if params.agree and draft.entry is not None:
            await self._running.agree(params.name, draft.entry)
        where = await self._where(draft.file, params.layer, params.name)
        verb = "is changed" if draft.present is not None or params.was else "is added"
        told = f"{params.name} {verb}: {_short(where)}"
        message = told if result.changed else f"{params.name}: nothing to change"
        return ServerWritten(message=message, file=str(draft.file), evidence=where, undo=undo)

    async def remove(self, params: ServerRemoveParams, scope: RequestScope) -> ServerWritten:
        """Take a server's table out of its file; comments around it stay.

        Raises:
            InvalidRequest: It has none that we could write.
            ConfigWriteError, InternalError: The file cannot be edited.
        """
        asked = ServerTableParams(name=params.name, layer=params.layer)
        found = await self.read(asked, scope)
        if found.why_not:
            raise InvalidRequest(f"{params.name} is not removed: {found.why_not}")
        file = Path(found.layers[found.layer])
        edits = [Edit.at(TABLES, params.name, value=None)]
        _, undo = await self._write(edits, file, found.layer)
        message = f"{params.name} is removed from {_short(found.origin)}"
        if self._running.is_left_over(params.name):
            if params.end:
                self._running.end(params.name)
            else:
                message += "; it runs on"
        return ServerWritten(message=message, file=str(file), evidence=found.origin, undo=undo)

    async def _write(
        self, edits: list[Edit], file: Path, layer: ServerLayer
    ) -> tuple[WriteResult, str | None]:
        if layer == "user":
            result = await self._config.write(edits, tolerant=True)
            return result, self._config.undoable(result)
        result = await self._editor.write(edits, file=file, tolerant=True, project_file=True)
        await self._config.refresh(ours=True)
        if not result.changed:
            return result, None

        async def take_back() -> str:
            await self._editor.take_back(result.undo)
            await self._config.refresh(ours=True)
            return f"undone: {file.name} says again what it said before"

        return result, self._undoes.add(take_back)

    async def _where(self, file: Path, layer: ServerLayer, name: str) -> Evidence:
        read = await anyio.to_thread.run_sync(parsed, file)
        return evidence(file, read, layer, name)

    # -- tools

    async def switch_tools(self, params: ToolSwitch, scope: RequestScope) -> ServerWritten:
        """Several tools on or off by `enabled_tools` and `disabled_tools`, in one write.

        Raises:
            InvalidRequest: The server stands where we cannot write.
            ConfigWriteError, InternalError: The file cannot be edited.
        """
        loaded, base = await self._policy_table(params.server)
        edits = tool_edits(base, _at(loaded, base), params.tools, enabled=params.enabled)
        word = "on" if params.enabled else "off"
        named = params.tools[0] if len(params.tools) == 1 else f"{len(params.tools)} tools"
        if not edits:
            return ServerWritten(message=f"{named} of {params.server}: {word} already")
        return await self._written(edits, loaded, f"{named} of {params.server}: {word}")

    async def approval(self, params: ApprovalParams, scope: RequestScope) -> ServerWritten:
        """What the model's calls need: `default_tools_approval_mode`, or that of one tool.

        Raises:
            As `switch_tools`.
        """
        loaded, base = await self._policy_table(params.server)
        if params.tool is None:
            path, named = (*base, "default_tools_approval_mode"), params.server
        else:
            path, named = (*base, "tools", params.tool, "approval_mode"), params.tool
        if params.mode is None and _at(loaded, path[:-1]).get(path[-1]) is None:
            return ServerWritten(message=f"{named}: nothing is said of approval already")
        mode = params.mode or "as Codex decides"
        edits = [Edit.at(*path, value=params.mode)]
        return await self._written(edits, loaded, f"{named}: approval is {mode}")

    async def _policy_table(self, server: str) -> tuple[Loaded, tuple[str, ...]]:
        """The table that says what the model may do with a server."""
        loaded, row = await self._loaded(), self._running.row(server)
        if row is not None and row.plugin_id:
            return loaded, ("plugins", row.plugin_id, TABLES, server)
        base = (TABLES, server)
        at = loaded.origin(*base)
        if at.layer is None:
            raise InvalidRequest(f"no MCP server `{server}` in the configuration")
        own = as_table(loaded.user.value.get(TABLES))
        if at.layer == "project" and server not in own:
            raise InvalidRequest(f"{server} is defined in {_short(at)}: change it there")
        return loaded, base

    async def _written(self, edits: list[Edit], loaded: Loaded, said: str) -> ServerWritten:
        file = loaded.user.file
        result = await self._config.write(edits, tolerant=True)
        after = await self._loaded()
        path = result.plan.changes[0][0] if result.plan.changes else ()
        at = after.user.evidence(*path)
        message = f"{said}, {_short(at)}"
        undo = self._config.undoable(result)
        return ServerWritten(message=message, file=str(file or ""), evidence=at, undo=undo)


def _at(loaded: Loaded, path: tuple[str, ...]) -> Table:
    value: Any = loaded.value
    for step in path:
        value = as_table(value).get(step)
    return as_table(value)


def _short(evidence: Evidence) -> str:
    if evidence.file is None:
        return evidence.layer or "the configuration"
    name = os.path.basename(evidence.file)
    return f"{name}:{evidence.line}" if evidence.line else name
