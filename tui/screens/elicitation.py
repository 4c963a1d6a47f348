"""A server asks the person something: a form, or a page to visit. Nothing is opened by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from core.protocol.events import ElicitationRequested
from tui.forms.asking import Asking
from tui.screens.links import host_of, show_page
from tui.store import Changed, ViewStore
from tui.text import Hint
from tui.theme import app_of
from tui.tool_controller import Action, Refused, ToolController
from tui.views.details import object_of
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp

CLOSES = 2.0  # seconds that a question which was taken back is still shown
MESSAGE_LINES = 12
Said = Literal["answered", "declined", "withdrawn"]


class QuestionSheet(Sheet[Said | None]):
    """One question. None = later: the server goes on waiting.

    Args:
        waiting: How many questions wait, this one among them.
    """

    SIZE = "medium"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "form_submit", "answer", id="form.submit", priority=True),
        Binding("ctrl+d", "decline", "decline", priority=True),
        Binding("o", "open", "open the page"),
        Binding("c", "copy", "copy the URL"),
        Binding("escape", "close", "later", id="form.close"),
    ]
    DEFAULT_CSS = """
    QuestionSheet Asking { padding-top: 1; }
    """

    def __init__(
        self,
        question: ElicitationRequested,
        tools: ToolController,
        store: ViewStore,
        changes: Signal[set[Changed]],
        waiting: int = 1,
    ) -> None:
        super().__init__(
            f"{question.server} asks", f"1 of {waiting} questions" if waiting > 1 else ""
        )
        self._question, self._tools = question, tools
        self._store, self._changes = store, changes
        self._withdrawn = self._done = False
        schema: Any = question.requested_schema or {}
        fields = bool(object_of(schema.get("properties")))
        self._asking = Asking(schema, titled=True) if question.mode != "url" and fields else None

    def body(self) -> ComposeResult:
        """Who asks what; then the form."""
        yield PageView(self.build)
        if self._asking is not None:
            yield self._asking

    def build(self, page: Page) -> None:
        """Who asks, in whose words."""
        if self._withdrawn:
            page.state("off", "withdrawn", f"{self._question.server} no longer waits for an answer")
            return
        # Whole, however long: a cut command could hide who asks.
        page.exact(self._place, "strong")
        page.gap()
        page.text(f"“{self._question.message}”", limit=MESSAGE_LINES)
        if self._question.mode == "url":
            self._write_page(page)
        elif self._asking is None:
            page.gap()
            page.text("It asks for nothing but a yes or a no.", "muted")

    def _write_page(self, page: Page) -> None:
        url = self._question.url or ""
        page.section("A page to visit", "nothing is opened by itself")
        page.fact("host", host_of(url) or "none; it cannot be opened", "strong")
        page.exact(url, "link", indent=2)

    @property
    def _place(self) -> str:
        """Where the question comes from: a host, or a program on this machine."""
        row = self._store.servers.rows.get(self._question.server)
        if row is None or not row.target:
            return self._question.server
        return host_of(row.target) if row.transport == "http" else row.target

    def on_mount(self) -> None:
        """Follow the question, which the server may take back."""
        super().on_mount()
        self._changes.subscribe(self, self._followed)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if self._asking is not None:
            self._asking.begin()

    def _followed(self, changed: set[Changed]) -> None:
        gone = self._question.id not in self._store.questions
        if "questions" in changed and gone and not self._withdrawn and not self._done:
            self._withdrawn = True
            if self._asking is not None:
                self._asking.display = False
            self.redraw()
            self.refresh_bindings()
            self.set_timer(CLOSES, self._leave)

    def _leave(self) -> None:
        if self.is_current:
            self.dismiss("withdrawn")

    # -- answers

    @work(group="answer", exclusive=True)
    async def action_form_submit(self) -> None:
        """Send what is filled in."""
        content = await self._asking.value() if self._asking is not None else {}
        if content is not None:
            await self._send("accept", content if self._question.mode != "url" else None)

    @work(group="answer", exclusive=True)
    async def action_decline(self) -> None:
        """Say no; the server hears it."""
        await self._send("decline")

    async def _send(self, action: Action, content: dict[str, Any] | None = None) -> None:
        self._done = True
        try:
            await self._tools.answer(self._question.id, action, content)
        except Refused as why:
            toast(app_of(self), f"{self._question.server}: not answered: {why}", fault=True)
            self.dismiss("withdrawn")
            return
        self.dismiss("answered" if action == "accept" else "declined")

    def action_close(self) -> None:
        """Not now: the server goes on waiting."""
        self.dismiss("withdrawn" if self._withdrawn else None)

    # -- the page

    @work(group="open", exclusive=True)
    async def action_open(self) -> None:
        """Open the page, whose host stands above."""
        if self._question.url:
            await show_page(cast("JackfieldApp", app_of(self)), self._tools, self._question.url)

    def action_copy(self) -> None:
        """Copy the whole URL."""
        app_of(self).copy_to_clipboard(self._question.url or "")
        toast(app_of(self), "Copied: the URL")

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """Answering first."""
        shown, tail = super().hints()
        return self.in_order(shown), tail

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Pages have other keys than forms."""
        if self._withdrawn:
            return action == "close"
        if action in ("open", "copy"):
            return self._question.mode == "url" and bool(self._question.url)
        return True
