"""Arguments of a prompt, or variables of a resource template: texts, completed by the server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from core.protocol.jackfield_tools import PromptGetResult
from tui.forms.asking import Asking
from tui.forms.form import Field
from tui.theme import app_of
from tui.tool_controller import Refused, ToolController
from tui.views.call_page import write_block, write_cut
from tui.views.details import items_of, object_of, text_of
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast


class ArgumentsSheet(Sheet[dict[str, str] | None]):
    """Asks for texts.

    Args:
        ref: What they belong to, as completion/complete wants it; None where nothing completes.
    """

    SIZE = "medium"
    MAY_BE_ASKED: ClassVar = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "form_submit", "go on", id="form.submit", priority=True),
        Binding("ctrl+t", "form_test", "complete", id="form.test", priority=True),
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    ArgumentsSheet Asking { padding-top: 1; }
    """

    def __init__(
        self,
        title: str,
        about: str,
        schema: Mapping[str, Any],
        server: str,
        tools: ToolController,
        ref: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(title, server)
        self._about, self._server = about, server
        self._tools, self._ref = tools, ref
        self._asking = Asking(schema)
        self._found: tuple[str, ...] = ()
        self._for: tuple[Field, str] | None = None

    def body(self) -> ComposeResult:
        """What it is about, and the form."""
        yield PageView(self.build)
        yield self._asking

    def build(self, page: Page) -> None:
        """What is asked for."""
        page.text(self._about or "No description.", "muted", limit=4)

    def on_mount(self) -> None:
        """Begin with the first field."""
        super().on_mount()
        self.call_after_refresh(self._asking.begin)

    @work(group="submit", exclusive=True)
    async def action_form_submit(self) -> None:
        """Take what is filled in."""
        value = await self._asking.value()
        if value is not None:
            self.dismiss({name: text for name, text in value.items() if isinstance(text, str)})

    @work(group="complete", exclusive=True)
    async def action_form_test(self) -> None:
        """Put in what the server proposes; once more: the next of its proposals."""
        view, form = self._asking.view, self._asking.form
        field = view.focused_field if view is not None else None
        if view is None or form is None or field is None or self._ref is None:
            return
        if self._for == (field, field.text) and self._found:
            at = (self._found.index(field.text) + 1) % len(self._found)
        else:
            value, name = form.read().value, str(field.name)
            known = {key: text for key, text in value.items() if key != name}
            try:
                self._found = await self._tools.complete(
                    self._server, self._ref, name, field.text, known
                )
            except Refused as why:
                toast(app_of(self), f"Not completed: {why}")
                return
            at = 0
        if not self._found:
            toast(app_of(self), f"{self._server} proposes nothing for {field.label}")
            return
        field.text = self._found[at]
        self._for = (field, field.text)
        await view.rebuild(field)
        self.set_status(f"{at + 1} of {len(self._found)} proposals")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only where the server completes."""
        return action != "form_test" or self._ref is not None


def prompt_schema(prompt: Mapping[str, Any]) -> dict[str, Any]:
    """What a form asks for; arguments of prompts are texts."""
    arguments = items_of(prompt.get("arguments"))
    properties = {
        text_of(argument, "name"): {
            "type": "string",
            "title": text_of(argument, "title"),
            "description": text_of(argument, "description"),
        }
        for argument in arguments
    }
    required = [text_of(one, "name") for one in arguments if one.get("required") is True]
    return {"type": "object", "properties": properties, "required": required}


def write_prompt(page: Page, name: str, result: PromptGetResult) -> None:
    """The messages of a prompt."""
    count = len(result.messages)
    page.title(name, "1 message" if count == 1 else f"{count} messages")
    if result.description:
        page.text(result.description, "muted", limit=4)
    for message in result.messages:
        page.gap()
        page.add((text_of(message, "role"), "strong-accent"))
        write_block(page, dict(object_of(message.get("content"))))
    write_cut(page, result.cut)
