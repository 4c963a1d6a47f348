"""What keys do to MCP servers and their tools, beyond reconnecting and switching."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core.protocol.rows import Row, ServerRow, ToolRow
from tui.commands import Offer
from tui.family import Family
from tui.views.details import object_of, text_of
from tui.views.server_offers import not_ours

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.server_controller import ServerController

_WAITS = ("starting", "waiting", "connected")
LONGER = 2  # times the present limit
LEAST = 60.0  # seconds


class ServerDeeds(Family):
    """On the tabs of servers, of tools, and of what has happened."""

    DEEDS: ClassVar = {
        "list.add": "add",
        "row.edit": "edit",
        "row.remove": "remove",
        "servers.end": "end",
        "servers.tools": "tools",
        "servers.longer": "longer",
        "servers.reconnect-failed": "reconnect_failed",
    }
    TABS = ("servers",)

    @property
    def servers(self) -> ServerController:
        """The way to the core; `NotReady` when there is none yet."""
        from tui.server_controller import ServerController

        return ServerController(self.controller, self.app.tell)

    @property
    def row(self) -> ServerRow | None:
        """The selected server."""
        key = self.pane.selected
        return self.app.store.servers.rows.get(key) if key is not None else None

    def offers(self) -> list[Offer]:
        """What belongs to no row; of the rows the view tells."""
        offers: list[Offer] = []
        failed = sum(each.status == "failed" for each in self.app.store.servers.rows.values())
        if failed > 1:
            about = f"{failed} servers"
            offers.append(Offer("servers.reconnect-failed", "reconnect failed", about=about))
        why = self.app.place.read_only
        return [*offers, Offer("list.add", "add server", why=why, greyed=bool(why))]

    def why_not(self, id: str) -> str:
        row = self.row
        if id == "list.add":
            return self.app.place.read_only
        if id == "servers.reconnect-failed":
            return "no server has failed"
        if row is None:
            return "no row is selected"
        match id:
            case "servers.tools":
                return "it has listed no tools"
            case "servers.end":
                return "it is configured; space disables it"
            case "servers.longer":
                return "it is not starting"
            case _:
                return not_ours(row)

    # ── deeds ──

    def add(self) -> None:
        """A new server."""
        self.app.open_dialog(partial(_form, name=""))

    def edit(self) -> None:
        """Its table."""
        if (row := self.row) is not None:
            self.app.open_dialog(partial(_form, name=row.name))

    def remove(self) -> None:
        """Take its table out, after asking."""
        if (row := self.row) is not None:
            self.app.open_dialog(partial(_remove, row=row))

    def end(self) -> None:
        """End one that no file names any more."""
        if (row := self.row) is not None:
            self.work(partial(self.servers.end, row.name))

    def tools(self) -> None:
        """Its tools, one by one."""
        if (row := self.row) is not None:
            self.app.open_dialog(partial(_tools, name=row.name))

    def longer(self) -> None:
        """Twice the time for its start."""
        row = self.row
        if row is not None and row.limit:
            self.work(partial(self.servers.set_limit, row.name, max(LEAST, LONGER * row.limit)))

    def reconnect_failed(self) -> None:
        """Start everything anew that has failed."""
        self.work(partial(self.controller.reconnect, None))


class TrafficDeeds(Family):
    """Traffic and approval, wherever a row belongs to a server."""

    DEEDS: ClassVar = {"servers.traffic": "traffic", "tools.approval": "approval"}
    TABS = ("servers", "tools", "activity")

    @property
    def servers(self) -> ServerController:
        """The way to the core; `NotReady` when there is none yet."""
        from tui.server_controller import ServerController

        return ServerController(self.controller, self.app.tell)

    def offers(self) -> list[Offer]:
        """Of what has happened; of servers and tools their views tell."""
        server = self._server() if self.pane.view.TAB == "activity" else ""
        return [Offer("servers.traffic", about=server)] if server else []

    def why_not(self, id: str) -> str:
        return "not for this row"

    def _subject(self) -> Row | None:
        key = self.pane.selected
        return self.pane.view.subject(key) if key is not None else None

    def _server(self) -> str:
        """The server that the row belongs to, or ""."""
        row, key = self._subject(), self.pane.selected
        match row:
            case ServerRow():
                return row.name
            case ToolRow():
                return row.owner if row.source == "server" else ""
            case _:
                about = self.pane.view.name(key) if key is not None else ""
                return about if about in self.app.store.servers.rows else ""

    def traffic(self) -> None:
        """What passes between us and it."""
        if server := self._server():
            self.app.open_dialog(partial(_traffic, name=server))

    def approval(self) -> None:
        """What the model's calls need."""
        row, server = self._subject(), self._server()
        tool = row.name if isinstance(row, ToolRow) else None
        if server:
            self.app.open_dialog(partial(_approval, server=server, tool=tool))


def _controller(app: JackfieldApp) -> ServerController | None:
    from tui.server_controller import ServerController

    return ServerController(app.controller, app.tell) if app.controller is not None else None


async def _form(app: JackfieldApp, name: str) -> None:
    from tui.screens.server_form import ServerForm

    servers = _controller(app)
    table = await servers.read(name) if servers is not None else None
    if servers is None or table is None:
        return
    if name and table.why_not:
        app.tell(f"{name}: cannot be edited: {table.why_not}", fault=True)
        return
    saved = await app.push_screen_wait(ServerForm(table, servers, app.store, app.place))
    if saved is not None and app.pane.view.TAB == "servers":
        app.pane.go_to(saved)


async def _remove(app: JackfieldApp, row: ServerRow) -> None:
    from tui.widgets.confirm import Choice, Confirm

    servers = _controller(app)
    if servers is None:
        return
    where = app.place.of(row.origin)
    choices = [Choice("end", "Remove", "its table goes, comments around it stay", where)]
    if row.status in _WAITS:
        choices = [
            Choice("end", "Remove and end it", "its table goes, and what runs is ended", where),
            Choice("keep", "Remove, let it run", "it runs on until you end it, or quit"),
        ]
    sheet = Confirm(
        f"Remove {row.name}?",
        "A sign-in that is stored for it stays; S forgets that one." if row.auth == "oAuth" else "",
        choices,
        writes=app.place.path(row.origin.file or app.place.config_file),
        undo="z puts the table back as it was",
    )
    answer = await app.push_screen_wait(sheet)
    if answer:
        await servers.remove(row.name, end=answer == "end")


async def _tools(app: JackfieldApp, name: str) -> None:
    from tui.screens.server_tools import ServerToolsSheet

    servers, controller = _controller(app), app.controller
    if servers is not None and controller is not None:
        await app.push_screen_wait(
            ServerToolsSheet(
                name,
                servers,
                controller,
                app.store,
                app.changes,
                read_only=app.place.read_only,
            )
        )


async def _traffic(app: JackfieldApp, name: str) -> None:
    from tui.screens.traffic import TrafficSheet

    if (servers := _controller(app)) is not None:
        await app.push_screen_wait(TrafficSheet(name, servers, app.place))


async def _approval(app: JackfieldApp, server: str, tool: str | None) -> None:
    from tui.screens.approval import ask_approval

    servers, controller = _controller(app), app.controller
    if servers is None or controller is None:
        return
    detail = await controller.detail("server", server)
    default = text_of(detail, "approval")
    now = text_of(object_of(detail.get("toolApprovals")), tool) if tool is not None else default
    chosen = await ask_approval(
        app, tool or server, now, default=default if tool is not None else ""
    )
    if chosen is not None:
        await servers.approve(server, tool, chosen.mode)
