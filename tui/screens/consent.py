"""The trust page: every new or changed program with its exact command; nothing is ever cut."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from core.protocol.jackfield import ConsentItem
from tui.signs import SignName
from tui.text import Part
from tui.views.base import Place, plural
from tui.widgets.field import Tick
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import ButtonRow, Sheet

WAITS = frozenset({"new", "changed"})
INDENT = 4


class ConsentSheet(Sheet[dict[str, bool] | None]):
    """Asks once for all that is new or changed. Answers item id → yes or no; None = not now.

    What was agreed to before stands last and ticked; what was declined is not ticked.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "tick one", id="row.switch"),
        Binding("up,k", "app.focus_previous", "the one before", show=False),
        Binding("down,j", "app.focus_next", "the next", show=False),
        Binding("pageup", "page(-1)", "one page up", show=False),
        Binding("pagedown", "page(1)", "one page down", show=False),
        Binding("escape", "close", "cancel, nothing starts", id="form.close"),
    ]
    DEFAULT_CSS = """
    ConsentSheet {
        & #box #body .program { height: auto; margin: 1 1 0 0; }
    }
    """

    def __init__(self, items: Sequence[ConsentItem], place: Place) -> None:
        waiting = [item for item in items if item.status in WAITS]
        super().__init__(f"Start {plural(len(waiting), 'new or changed program')}?")
        # New and changed ones first; within that, as the core lists them.
        self._items = sorted(items, key=lambda item: item.status not in WAITS)
        self._place = place

    def body(self) -> ComposeResult:
        yield PageView(self._intro, id="intro")
        for item in self._items:
            with Vertical(classes="program"):
                ticked = item.status != "declined"
                yield Tick(_label(item), ticked=ticked, id=f"tick-{self._items.index(item)}")
                yield PageView(lambda page, item=item: self._program(page, item))

    def below(self) -> ComposeResult:
        yield ButtonRow([("", "Cancel"), ("agree", "Start what is ticked")])

    def _intro(self, page: Page) -> None:
        page.text(
            "These programs run on this machine with your rights, or receive what the model "
            "sends. Nothing has been started."
        )

    def _program(self, page: Page, item: ConsentItem) -> None:
        place = self._place
        starts = item.url if item.kind == "http" else shlex.join(item.command)
        if item.was:
            _change(page, "\n".join(item.was), starts)
        else:
            page.exact(starts, indent=INDENT)
        sign, said = _status(item)
        page.add(" " * INDENT, page.glyphs.part(sign), (said, "muted"))
        facts = [f"runs in {place.path(item.cwd)}"] if item.cwd else []
        if item.env_names:
            facts.append(f"gets {', '.join(item.env_names)}")
        if where := place.of(item.origin):
            facts.append(f"from {where}")
        if item.plugin_id:
            facts.append(f"brought by {item.plugin_id}")
        for fact in facts:
            page.text(fact, "muted", indent=INDENT)

    def action_page(self, by: int) -> None:
        """Scroll through long commands."""
        body = self.query_one("#body")
        body.scroll_relative(y=by * max(1, body.size.height - 1), animate=False)

    def action_tick(self) -> None:
        """Tick the program that the cursor is on."""
        if isinstance(self.focused, Tick):
            self.focused.action_tick()

    @on(ButtonRow.Chosen)
    def _chosen(self, event: ButtonRow.Chosen) -> None:
        event.stop()
        self.dismiss(self.answers() if event.id else None)

    def answers(self) -> dict[str, bool]:
        """What is ticked, by item."""
        ticks = list(self.query(Tick))
        return {item.id: tick.ticked for item, tick in zip(self._items, ticks, strict=True)}


def _change(page: Page, was: str, becomes: str) -> None:
    """What it was and what it is now, indented; nothing of it is cut."""
    inner = Page(page.width - INDENT, page.glyphs)
    inner.change(was, becomes)
    page.lines += [Content.assemble(" " * INDENT, line) for line in inner.lines]


def _label(item: ConsentItem) -> list[Part]:
    kind = "connects to a server" if item.kind == "http" else "starts a program"
    return [(item.name, "strong"), (f"  {kind}", "muted")]


def _status(item: ConsentItem) -> tuple[SignName, str]:
    match item.status:
        case "new":
            return "needs", "new"
        case "changed":
            return "needs", "changed since you agreed"
        case "agreed":
            return "works", "as you agreed"
        case _:
            return "off", "declined before"
