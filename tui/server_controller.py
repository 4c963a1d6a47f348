"""What the person does to MCP servers, as calls to the core; no widgets here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_servers as servers
from tui.controller import Tell, Undoable

if TYPE_CHECKING:
    from tui.controller import Controller


@dataclass(frozen=True)
class Refused:
    """Why something was not done, in the core's words."""

    message: str
    hint: str = ""


class ServerController:
    """Each deed is told in a line; what can be taken back goes to the controller's undo."""

    def __init__(self, controller: Controller, tell: Tell) -> None:
        self._controller, self._client, self._tell = controller, controller.client, tell

    # -- tables

    async def read(self, name: str = "") -> servers.ServerTable | None:
        """A server's table, secrets masked; without a name what could be written."""
        try:
            params = servers.ServerTableParams(name=name)
            return await self._client.call(methods.JACKFIELD_SERVER_READ, params)
        except CoreError as error:
            self._failed(f"{name or 'a server'}: its table cannot be read", error)
            return None

    async def preview(self, params: servers.ServerEntryParams) -> servers.ServerPreview:
        """What writing would do; a failure is part of the answer."""
        try:
            return await self._client.call(methods.JACKFIELD_SERVER_PREVIEW, params)
        except CoreError as error:
            return servers.ServerPreview(fault=error.message)

    async def write(self, params: servers.ServerEntryParams, note: str = "") -> Refused | None:
        """Write a table; None when it is on the disk.

        Args:
            note: Added to what is told.
        """
        try:
            done = await self._client.call(methods.JACKFIELD_SERVER_WRITE, params)
        except CoreError as error:
            return Refused(error.message, error.hint)
        self._done(done, params.name, note)
        return None

    async def remove(self, name: str, *, end: bool) -> None:
        """Take its table out."""
        params = servers.ServerRemoveParams(name=name, end=end)
        try:
            done = await self._client.call(methods.JACKFIELD_SERVER_REMOVE, params)
        except CoreError as error:
            self._failed(f"{name}: not removed", error)
            return
        self._done(done, name)

    async def set_limit(self, name: str, seconds: float) -> None:
        """Give a server longer to start, and start it again."""
        table: dict[str, Any] = {"startup_timeout_sec": seconds}
        params = servers.ServerEntryParams(name=name, table=table, merge=True)
        refused = await self.write(params, f"; it has {seconds:g} s now")
        if refused is not None:
            self._tell(f"{name}: not changed: {refused.message}", fault=True)
            return
        await self._controller.reconnect([name])

    # -- tests

    async def test(self, params: servers.ServerTestParams) -> servers.ServerTested | Refused:
        """Try a server; comes back when it has been ended again."""
        try:
            return await self._client.call(methods.JACKFIELD_SERVER_TEST, params)
        except CoreError as error:
            return Refused(error.message, error.hint)

    async def cancel_test(self, id: str) -> None:
        """End a test; one that has just ended needs no end."""
        try:
            await self._client.call(methods.JACKFIELD_SERVER_TEST_CANCEL, wire.IdParams(id=id))
        except CoreError:
            return

    # -- what runs

    async def end(self, name: str) -> None:
        """End a server that no file names any more."""
        try:
            await self._client.call(methods.JACKFIELD_SERVER_END, wire.NameParams(name=name))
        except CoreError as error:
            self._failed(f"{name}: not ended", error)
            return
        self._tell(f"{name} is ended")

    async def traffic(self, name: str, after: int) -> servers.TrafficResult | None:
        """What has passed since; None when the core cannot tell now."""
        params = servers.TrafficParams(name=name, after=after)
        try:
            return await self._client.call(methods.JACKFIELD_SERVER_TRAFFIC, params)
        except CoreError:
            return None

    # -- tools

    async def switch_tools(self, server: str, tools: Sequence[str], *, enabled: bool) -> None:
        """Several tools at once."""
        params = servers.ToolSwitch(server=server, tools=tuple(tools), enabled=enabled)
        try:
            done = await self._client.call(methods.JACKFIELD_SERVER_TOOLS_SWITCH, params)
        except CoreError as error:
            self._failed(f"{server}: its tools are not switched", error)
            return
        self._done(done, server)

    async def approve(
        self, server: str, tool: str | None, mode: servers.ApprovalMode | None
    ) -> None:
        """What the model's calls need."""
        params = servers.ApprovalParams(server=server, tool=tool, mode=mode)
        try:
            done = await self._client.call(methods.JACKFIELD_SERVER_APPROVAL, params)
        except CoreError as error:
            self._failed(f"{tool or server}: approval is not changed", error)
            return
        self._done(done, tool or server)

    def _done(self, done: servers.ServerWritten, name: str, note: str = "") -> None:
        if done.undo is None:
            self._tell(f"{done.message}{note}")
            return
        self._controller.undoable.append(Undoable(done.undo, name))
        self._tell(f"{done.message}{note}   z undoes")

    def _failed(self, what: str, error: CoreError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        self._tell(f"{what}: {error.message}{hint}", fault=True)
