"""The tools of one server: each on or off, what it costs, and what its calls need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from core.protocol.rows import ToolRow
from tui.server_controller import ServerController
from tui.store import Changed, ViewStore
from tui.text import Hint, Part
from tui.theme import app_of
from tui.views.approvals import approval_word
from tui.views.base import plural
from tui.views.details import object_of, text_of
from tui.views.tools import EFFECT_TONES
from tui.widgets.columns import Column
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.row_header import RowHeader
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from tui.controller import Controller


class ServerToolsSheet(Sheet[None]):
    """`space` turns the selected tool on or off; every change is one line in the file."""

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "switch", "on or off", id="row.switch"),
        Binding("P", "approve", "approval", id="tools.approval"),
        Binding("a", "all(True)", "all on"),
        Binding("n", "all(False)", "none"),
        Binding("z", "undo", "undo", id="app.undo"),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    ServerToolsSheet {
        & #box #body RowList, & #box #body RowHeader { margin-right: 0; }
        & RowList { height: auto; max-height: 22; }
        &.-short RowList { max-height: 14; }
        & #about { height: 3; margin-top: 1; padding-left: 3; }
    }
    """
    COLUMNS = (
        Column("name", "Tool", 20, grow=2, most=44),
        Column("state", "Model", 5),
        Column("approval", "Approval", 10, keep=2),
        Column("effect", "Effect", 8, keep=3),
        Column("tokens", "Tokens", 6, keep=4, right=True),
        Column("about", "About", 10, grow=4, keep=5),
    )

    def __init__(
        self,
        server: str,
        servers: ServerController,
        controller: Controller,
        store: ViewStore,
        changes: Signal[set[Changed]],
        *,
        read_only: str = "",
    ) -> None:
        super().__init__(f"Tools of {server}")
        self._server, self._servers, self._controller = server, servers, controller
        self._store, self._changes, self._read_only = store, changes, read_only
        self._tools: dict[str, ToolRow] = {}
        self._default = ""
        self._approvals: dict[str, str] = {}
        self._rows = RowList(self.COLUMNS)
        self._about = PageView(self._write, id="about")

    def body(self) -> ComposeResult:
        """The list, and what the selected one is for."""
        yield RowHeader(self._rows)
        yield self._rows
        yield self._about

    def on_mount(self) -> None:
        """Follow the store."""
        self._changes.subscribe(self, self._store_changed)
        self._fill()
        self._rows.focus()
        self._read()

    def _store_changed(self, changed: set[Changed]) -> None:
        if "inventory" in changed:
            self._fill()
        if changed & {"inventory", "servers"}:
            self._read()

    @work(group="details", exclusive=True)
    async def _read(self) -> None:
        detail = await self._controller.detail("server", self._server)
        self._default = text_of(detail, "approval")
        told = object_of(detail.get("toolApprovals"))
        self._approvals = {name: text_of(told, name) for name in told}
        self._rows.invalidate()
        self._about.redraw()

    def _fill(self) -> None:
        rows = self._store.inventory.rows.values()
        mine = [row for row in rows if row.source == "server" and row.owner == self._server]
        tools = [row for row in mine if row.kind == "tool"]
        self._tools = {row.id: row for row in tools}
        self._rows.set_rows(list(self._tools), self._row)
        self._rows.invalidate()
        self._rows.styles.height = max(1, len(tools))
        on = [row for row in tools if not row.filtered]
        cost = sum(row.tokens for row in on)
        self.set_status(f"{len(on)} of {plural(len(tools), 'tool')} on, ~{cost:,} tokens")
        self._about.redraw()
        self.refresh_bindings()

    def _row(self, key: str) -> RowView:
        row = self._tools[key]
        mode = self._approvals.get(row.name, "")
        approval: list[Part] = [(approval_word(mode or self._default), "" if mode else "muted")]
        return RowView(
            "off" if row.filtered else "works" if row.callable else "problem",
            {
                "name": [(row.name, "muted" if row.filtered else "")],
                "state": [("off" if row.filtered else "on", "muted")],
                "approval": approval,
                "effect": [(row.effect, EFFECT_TONES.get(row.effect, "muted"))],
                "tokens": [(str(row.tokens) if row.tokens else "", "muted")],
                "about": [(row.title or row.description, "muted")],
            },
        )

    @property
    def _selected(self) -> ToolRow | None:
        return self._tools.get(self._rows.cursor_id or "")

    def _write(self, page: Page) -> None:
        row = self._selected
        if row is None:
            page.text("It has listed no tools in this session.", "muted")
            return
        if row.reason and not row.callable:
            page.text(row.reason, "", limit=1)
        page.text(row.description or row.title or "No description.", "muted", limit=2)

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._about.redraw()
        self.refresh_bindings()

    # -- keys

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`space` says what it would do."""
        shown, tail = super().hints()
        row = self._selected
        word = "turn on" if row is not None and row.filtered else "turn off"
        return [Hint(h.key, word if h.key == "space" else h.label) for h in shown], tail

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is written where nothing may be."""
        if action in ("switch", "approve", "all"):
            return bool(self._tools) and not self._read_only
        if action == "undo":
            return bool(self._controller.undoable)
        return True

    @work(group="writing")
    async def action_switch(self) -> None:
        """Turn the selected one over."""
        if (row := self._selected) is not None:
            await self._servers.switch_tools(self._server, [row.name], enabled=row.filtered)

    @work(group="writing")
    async def action_all(self, on: bool) -> None:
        """All of them on, or off."""
        names = [row.name for row in self._tools.values() if row.filtered is on]
        if names:
            await self._servers.switch_tools(self._server, names, enabled=on)

    @work(group="writing")
    async def action_approve(self) -> None:
        """What calls of the selected one need."""
        from tui.screens.approval import ask_approval

        row = self._selected
        if row is None:
            return
        now = self._approvals.get(row.name, "")
        chosen = await ask_approval(app_of(self), row.name, now, default=self._default)
        if chosen is not None:
            await self._servers.approve(self._server, row.name, chosen.mode)

    @work(group="writing")
    async def action_undo(self) -> None:
        """Take the last change back."""
        await self._controller.undo()
