"""Call a tool by hand: a form of its schema on the left, what came of it on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.timer import Timer

from tui.forms.asking import Asking
from tui.text import Hint
from tui.theme import app_of
from tui.tool_controller import Attempt, Refused, ToolController
from tui.views.call_page import Data, data_in, links_in, size, write_result
from tui.views.details import object_of, text_of
from tui.widgets.page import Page
from tui.widgets.page_view import Detail
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp

TICK = 0.2  # seconds between two looks at a running call
_ON_RESULT = frozenset({"open_link", "write", "copy"})


class TrySheet(Sheet[None]):
    """One tool. The call goes on when the sheet is closed, and is found again when it is opened.

    Args:
        tool_id: `SERVER/TOOL`.
        declaration: As its server gave it.
        destroys: It asks once more before it calls.
    """

    SIZE = "large"
    MAY_BE_ASKED: ClassVar = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "form_submit", "call", id="form.submit", priority=True),
        Binding("ctrl+e", "form_text", "raw JSON", id="form.text", priority=True),
        Binding("ctrl+r", "again", "last arguments", priority=True),
        Binding("ctrl+t", "form_test", "history", id="form.test", priority=True),
        Binding("ctrl+n", "add", "add item", priority=True),
        Binding("ctrl+d", "drop", "remove item", priority=True),
        Binding("o", "open_link", "open link"),
        Binding("w", "write", "write file"),
        Binding("c", "copy", "copy"),
        Binding("ctrl+x", "form_cancel", "cancel", id="form.cancel", priority=True),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    TrySheet {
        & > #box { height: 90%; }
        & > #box > #body { height: 1fr; overflow: hidden; }
        & #parts { height: 1fr; layout: horizontal; }
        & #left { width: 6fr; height: 1fr; scrollbar-size-vertical: 1; padding-right: 1; }
        & #result { width: 5fr; height: 1fr; padding: 0 0 0 1; }
        &.-narrow #parts { layout: vertical; }
        &.-narrow #left { width: 100%; height: auto; max-height: 50%; }
        &.-narrow #result { width: 100%; height: 1fr; margin-top: 1; }
    }
    """

    def __init__(
        self,
        tool_id: str,
        declaration: Mapping[str, Any],
        tools: ToolController,
        *,
        destroys: bool = False,
        effect: str = "",
    ) -> None:
        server, _, tool = tool_id.partition("/")
        super().__init__(f"Try {tool}", f"{server}{f', {effect}' if effect else ''}")
        self._tool_id, self._declaration = tool_id, declaration
        self._tools, self._destroys = tools, destroys
        self._asking = Asking(declaration.get("inputSchema", {}))
        self._left = VerticalScroll(self._asking, id="left", can_focus=False)
        self._result = Detail(self._write, id="result")
        self._timer: Timer | None = None
        self._seen: Attempt | None = None
        self._asked = False

    @property
    def _output_schema(self) -> Any:
        return self._declaration.get("outputSchema")

    @property
    def _attempt(self) -> Attempt | None:
        return self._tools.last(self._tool_id)

    def body(self) -> ComposeResult:
        """The form and the result; below one another where there is no room."""
        with Container(id="parts"):
            yield self._left
            yield self._result

    def on_mount(self) -> None:
        """Follow the calls of this tool."""
        self._tools.changed = self._changed
        self._changed()
        self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        """The call goes on without anybody looking."""
        self._tools.changed = lambda: None

    def _begin(self) -> None:
        if not self._asking.begin():
            self._result.focus()

    # -- the result

    def _changed(self) -> None:
        attempt = self._attempt
        running = attempt is not None and attempt.running
        if running and self._timer is None:
            self._timer = self.set_interval(TICK, self._result.redraw)
        elif not running and self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._result.show(self._write)
        if attempt is not None and attempt.result is not None and self._seen is not attempt:
            self._seen = attempt
            if self.is_current and attempt.result.outcome == "answered" and self._asked:
                self.set_focus(self._result)
        self.refresh_bindings()

    def _write(self, page: Page) -> None:
        attempt = self._attempt
        if attempt is None:
            self._write_tool(page)
        elif attempt.running:
            self._write_running(page, attempt)
        elif attempt.result is None:
            page.state("failed", "not called", attempt.refused)
        else:
            if attempt.number > 1:
                page.both([], [(f"call {attempt.number}", "muted")])
            write_result(page, attempt.result, attempt.output, self._output_schema is not None)
            if attempt.unchecked:
                page.gap()
                page.text(f"The arguments went unchecked: {attempt.unchecked}.", "muted")

    def _write_tool(self, page: Page) -> None:
        declared = self._declaration
        title = text_of(declared, "title") or text_of(
            object_of(declared.get("annotations")), "title"
        )
        page.title(title or self._tool_id.partition("/")[2])
        page.gap()
        page.text(text_of(declared, "description") or "No description.", "muted")
        page.gap()
        if self._destroys:
            page.state("problem", "destroys", "it says that this cannot be undone; asks first")
        page.keys(("ctrl+s", "calls it"))

    def _write_running(self, page: Page, attempt: Attempt) -> None:
        app = cast("JackfieldApp", app_of(self))
        passed = self._tools.passed(attempt)
        told = app.store.operations.get(attempt.tool_id)
        share = told.share if told is not None else None
        figure = "" if share is None else f", {share:.0%}"
        turn = int(passed / 0.25) if app.animation_level != "none" else 0
        page.state("busy", f"{passed:.1f} s{figure}", turn=turn)
        if share is not None:
            page.bar(share)
        if told is not None and told.note:
            page.text(told.note, "muted", limit=3)
        page.gap()
        page.keys(("ctrl+x", "cancels"), ("escape", "lets it go on"))

    # -- calling

    @work(group="submit", exclusive=True)
    async def action_form_submit(self) -> None:
        """Check what is filled in, and call."""
        if (attempt := self._attempt) is not None and attempt.running:
            toast(app_of(self), "It is running; ^x cancels")
            return
        arguments = await self._asking.value()
        if arguments is not None and await self._sure():
            self._call(arguments, self._asking.unchecked)

    async def _sure(self) -> bool:
        if not self._destroys:
            return True
        from tui.widgets.confirm import Choice, Confirm

        tool = self._tool_id.partition("/")[2]
        choice = Choice("call", "Call it", "it says that what it does cannot be undone")
        question = Confirm(f"Call {tool}?", "", [choice])
        return await app_of(self).push_screen_wait(question) == "call"

    def _call(self, arguments: Mapping[str, Any] | None, unchecked: str, again: str = "") -> None:
        self._asked = True
        attempt = self._tools.begin(self._tool_id, unchecked)
        call = partial(self._tools.call, attempt, arguments, self._output_schema, again)
        app_of(self).run_worker(call, group="calls")

    @work(group="cancel")
    async def action_form_cancel(self) -> None:
        """End the running call."""
        attempt = self._attempt
        if attempt is not None and attempt.running:
            try:
                await self._tools.cancel(attempt)
            except Refused as why:
                toast(app_of(self), f"{self._tool_id}: not cancelled: {why}")

    # -- the form

    async def action_form_text(self) -> None:
        """Raw JSON, or the form again."""
        await self._asking.toggle()
        self.refresh_bindings()

    @work(group="history", exclusive=True)
    async def action_again(self) -> None:
        """Fill in what was sent last."""
        try:
            calls = await self._tools.history(self._tool_id)
        except Refused as why:
            toast(app_of(self), str(why))
            return
        if not calls:
            toast(app_of(self), "This tool has not been called yet")
            return
        await self._fill(calls[0].arguments, calls[0].masked)

    @work(group="history", exclusive=True)
    async def action_form_test(self) -> None:
        """What was called before: fill it in, or call it again as it was."""
        from tui.screens.call_history import HistorySheet

        try:
            calls = await self._tools.history(self._tool_id)
        except Refused as why:
            toast(app_of(self), str(why))
            return
        chosen = await app_of(self).push_screen_wait(HistorySheet(calls))
        if chosen is None:
            return
        if not chosen.again:
            await self._fill(chosen.call.arguments, chosen.call.masked)
        elif await self._sure():
            self._call(None, "sent as it was", again=chosen.call.call_id)

    async def _fill(self, arguments: Mapping[str, Any] | None, masked: bool) -> None:
        await self._asking.fill(arguments or {})
        self._asking.begin()
        if masked:
            toast(app_of(self), "Secrets are masked: fill them in again")

    async def action_add(self) -> None:
        """Another item of the list that the cursor is in."""
        view = self._asking.view
        if view is None or (many := view.list_here) is None:
            return
        if full := view.form.full(many):
            toast(app_of(self), f"{many.label} takes no more: {full}")
            return
        await view.add_item(many)

    async def action_drop(self) -> None:
        """Take out the item that the cursor is in."""
        view = self._asking.view
        item = view.focused_item if view is not None else None
        if view is not None and item is not None:
            await view.remove_item(item)

    # -- what can be done with a result

    @property
    def _blocks(self) -> tuple[dict[str, Any], ...]:
        attempt = self._attempt
        return attempt.result.content if attempt is not None and attempt.result else ()

    @work(group="result")
    async def action_open_link(self) -> None:
        """Open the first link, after it has been shown where it leads."""
        from tui.screens.links import open_link

        links = links_in(self._blocks)
        if links:
            await open_link(cast("JackfieldApp", app_of(self)), self._tools, links)

    @work(group="result")
    async def action_write(self) -> None:
        """Write a picture, a sound or other bytes to a file."""
        if data := data_in(self._blocks):
            await save_data(cast("JackfieldApp", app_of(self)), data[0])

    def action_copy(self) -> None:
        """Copy the result's texts, or its structured content."""
        from tui.forms.form import json_text

        attempt = self._attempt
        if attempt is None or attempt.result is None:
            return
        result = attempt.result
        texts = [text_of(block, "text") for block in result.content if block.get("type") == "text"]
        whole = json_text(result.structured_content) if result.structured else "\n".join(texts)
        app_of(self).copy_to_clipboard(whole)
        toast(app_of(self), "Copied: the result")

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """As they are most wanted, not as Textual finds them."""
        shown, tail = super().hints()
        return self.in_order(shown), tail

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What means nothing now is not shown."""
        attempt = self._attempt
        running = attempt is not None and attempt.running
        view = self._asking.view
        match action:
            case "form_cancel":
                return running
            case "form_submit":
                return not running
            case "form_text":
                return self._asking.form is not None
            case "add":
                return view is not None and view.list_here is not None
            case "drop":
                return view is not None and view.focused_item is not None
            case _ if action in _ON_RESULT:
                return self._result.has_focus and self._may(action)
            case _:
                return True

    def _may(self, action: str) -> bool:
        if action == "open_link":
            return bool(links_in(self._blocks))
        return bool(data_in(self._blocks)) if action == "write" else bool(self._blocks)


async def save_data(app: JackfieldApp, data: Data) -> None:
    """Ask where to, and write the bytes there."""
    from base64 import b64decode

    from tui.screens.save_file import SaveSheet

    if app.place.read_only:
        toast(app, app.place.read_only)
        return
    try:
        content = b64decode(data.base64, validate=False)
    except ValueError:
        toast(app, "It is no base64: nothing is written", fault=True)
        return
    what = f"{data.mime or 'bytes'}, {size(len(content))}, as the server sent them"
    path = await app.push_screen_wait(SaveSheet(what, data.name, app.place, lambda: content))
    if path is not None:
        toast(app, f"Written: {app.place.path(str(path))}")
