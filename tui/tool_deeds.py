"""Tools called by hand, what servers offer beside them, and their questions to the person."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from core.protocol.rows import ServerRow, ToolRow
from tui.commands import Offer
from tui.family import READING, Family, NotReady
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.store import Changed
    from tui.tool_controller import ToolController

HOSTED = "codex_apps"
_OFFERED = frozenset({"resource", "template", "prompt"})


class _WithTools(Family):
    """Keeps one way to the core, with the calls that run."""

    def __init__(self, app: JackfieldApp) -> None:
        super().__init__(app)
        self._tools: ToolController | None = None

    @property
    def tools(self) -> ToolController:
        """The way to the core; `NotReady` when there is none yet."""
        if self._tools is None:
            from tui.tool_controller import ToolController

            self._tools = ToolController(self.controller.client, time.monotonic)
        return self._tools


class ToolDeeds(_WithTools):
    """`t` tries a tool, `d` shows resources and prompts."""

    DEEDS: ClassVar = {"tools.try": "try_it", "servers.offers": "browse"}
    TABS = ("tools", "servers", "apps")

    @property
    def _key(self) -> str:
        return self.pane.selected or ""

    @property
    def _server(self) -> ServerRow | None:
        at_servers = self.pane.view.TAB == "servers"
        return self.app.store.servers.rows.get(self._key) if at_servers else None

    def offers(self) -> list[Offer]:
        match self.pane.view.TAB:
            case "tools":
                row = self.app.store.inventory.rows.get(self._key)
                return [Offer("tools.try", why=self._why_not(row))] if row is not None else []
            case "apps" if self._key:
                why = "" if self._choice() else "it has no tool that can be called"
                return [Offer("tools.try", "try a tool", why=why)]
            case _:
                return self._of_server(self._server)

    def _of_server(self, row: ServerRow | None) -> list[Offer]:
        if row is None:
            return []
        if row.status != "connected":
            why = f"{row.name} is not connected"
            return [Offer("tools.try", why=why), Offer("servers.offers", why=why)]
        tried = Offer("tools.try", "try a tool", why="" if self._choice() else "it has no tool")
        offers = any(self._offered(row.name))
        why = "" if offers else "it offers neither resources nor prompts"
        return [tried, Offer("servers.offers", why=why)]

    def _offered(self, server: str) -> list[ToolRow]:
        rows = self.app.store.inventory.rows.values()
        return [row for row in rows if row.owner == server and row.kind in _OFFERED]

    def _why_not(self, row: ToolRow) -> str:
        """Why a tool cannot be called by hand now; "" when it can.

        That the model may not see it is no reason.
        """
        servers = self.app.store.servers.rows
        server = servers.get(HOSTED if row.source == "app" else row.owner)
        if server is None or server.status != "connected":
            name = "the server of the apps" if row.source == "app" else row.owner
            return f"{name} is not connected"
        if row.filtered:
            return row.reason or "it is turned off"
        if row.callable or not row.visible:
            return ""
        return row.reason or "it cannot be called"

    def _choice(self) -> list[ToolRow]:
        """The tools of the selected server or app that can be called."""
        source = "app" if self.pane.view.TAB == "apps" else "server"
        return [
            row
            for row in self.app.store.inventory.rows.values()
            if row.kind == "tool"
            and row.source == source
            and row.owner == self._key
            and not self._why_not(row)
        ]

    def why_not(self, id: str) -> str:
        return "no row is selected" if not self._key else ""

    # ── deeds ──

    def try_it(self) -> None:
        if self.pane.view.TAB == "tools":
            row = self.app.store.inventory.rows.get(self._key)
            chosen = [row] if row is not None else []
        else:
            chosen = self._choice()
        if chosen:
            self.app.open_dialog(partial(_try, tools=self.tools, rows=chosen))

    def browse(self) -> None:
        row = self._server
        if row is not None:
            self.app.open_dialog(partial(_browse, tools=self.tools, server=row.name))


async def _try(app: JackfieldApp, *, tools: ToolController, rows: list[ToolRow]) -> None:
    from tui.tool_controller import Refused

    row = rows[0]
    if len(rows) > 1:
        from tui.screens.pick_tool import PickToolSheet

        key = await app.push_screen_wait(PickToolSheet(rows))
        if key is None:
            return
        row = next(row for row in rows if row.id == key)
    try:
        declaration = await tools.declaration(row.id)
    except Refused as why:
        app.tell(f"{row.name}: cannot be tried: {why}", fault=True)
        return
    from tui.screens.try_tool import TrySheet

    destroys = row.effect == "destroys"
    sheet = TrySheet(row.id, declaration, tools, destroys=destroys, effect=row.effect)
    await app.push_screen_wait(sheet)


async def _browse(app: JackfieldApp, *, tools: ToolController, server: str) -> None:
    from tui.screens.resources import OffersSheet
    from tui.tool_controller import Refused

    try:
        resources = await tools.resources(server)
        prompts = await tools.prompts(server)
    except Refused as why:
        app.tell(f"{server}: cannot be read: {why}", fault=True)
        return
    await app.push_screen_wait(OffersSheet(server, resources, prompts, tools))


class QuestionDeeds(_WithTools):
    """Questions of servers: shown when there is a place for them, else kept until `Q`."""

    DEEDS: ClassVar = {"app.answer": "answer"}

    def __init__(self, app: JackfieldApp) -> None:
        super().__init__(app)
        self._later: set[str] = set()
        self._asking = False
        self._skipped = 0

    def offers(self) -> list[Offer]:
        questions = self.app.store.questions
        if not questions:
            return []
        server = next(iter(questions.values())).server
        return [Offer("app.answer", "answer", about=f"a question of {server}")]

    def why_not(self, id: str) -> str:
        return "" if self.app.store.questions else "no server asks anything"

    def news(self, changed: set[Changed]) -> None:
        """A question came: ask at once where that interrupts nobody."""
        if self.app.store.skipped > self._skipped and self.app.controller is not None:
            self._skipped = self.app.store.skipped
            self.work(self._read_again, READING)
        if "questions" not in changed:
            return
        questions = self.app.store.questions
        self._later &= questions.keys()
        if not self._asking and questions.keys() - self._later and self._free():
            self._ask(lambda: [key for key in questions if key not in self._later])
        elif self.app.standing:
            self.app.show_keys()

    async def _read_again(self) -> None:
        """Events were lost, questions perhaps among them: nobody may wait for ever."""
        from tui.tool_controller import Refused

        try:
            questions = await self.tools.questions()
        except Refused:
            return
        self.app.tell_changes(self.app.store.take_questions(questions))

    def _free(self) -> bool:
        """Nobody types and no sheet is open, but one that waits for a server."""
        app = self.app
        if not app.standing or app.controller is None:
            return False
        if len(app.screen_stack) == 1:
            return not self.pane.filter.typing
        return bool(getattr(app.screen, "MAY_BE_ASKED", False))

    def answer(self) -> None:
        """All that wait, those too that were put off."""
        questions = self.app.store.questions
        if not self._asking and questions:
            wanted = set(questions)
            self._later.clear()
            self._ask(lambda: [key for key in questions if key in wanted - self._later])

    def _ask(self, waiting: Callable[[], list[str]]) -> None:
        self._asking = True
        self.app.open_dialog(partial(self._ask_all, waiting))

    async def _ask_all(self, waiting: Callable[[], list[str]], app: JackfieldApp) -> None:
        from tui.screens.elicitation import QuestionSheet

        try:
            tools = self.tools
            while keys := waiting():
                question = app.store.questions[keys[0]]
                sheet = QuestionSheet(question, tools, app.store, app.changes, len(keys))
                said = await app.push_screen_wait(sheet)
                if said is None:
                    self._later.add(question.id)
                    toast(app, f"{question.server} goes on waiting; Q answers")
                else:
                    # Its end is told by the core; until then it must not be asked again.
                    app.store.questions.pop(question.id, None)
                    app.tell_changes({"questions"})
        except NotReady:
            return
        finally:
            self._asking = False
            if app.standing:
                app.show_keys()
