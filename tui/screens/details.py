"""The details as a page of their own, where there is no room beside the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from tui.commands import Offer
from tui.panes.list_pane import ListPane
from tui.store import Changed
from tui.text import Hint
from tui.theme import app_of
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet

_OF_THE_APP = ("servers.sign-in", "servers.sign-out")
TITLES = {
    "marketplaces": "Plugin",
    "apps": "App",
    "tools": "Tool",
    "servers": "MCP server",
    "activity": "Event",
}


class DetailSheet(Sheet[str | None]):
    """The same text as the details pane, kept true while it is open.

    Answers with the id of the command that was asked for, or None.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('row.mend')", "mend", id="row.mend"),
        Binding("s", "dismiss('servers.sign-in')", "sign in", id="servers.sign-in"),
        Binding("S", "dismiss('servers.sign-out')", "sign out", id="servers.sign-out"),
        Binding("space", "dismiss('row.switch')", "on or off", id="row.switch"),
        Binding("c", "dismiss('row.copy')", "copy id", id="row.copy"),
        Binding("up,k", "scroll_page(-1)", "scroll", show=False, id="list.up"),
        Binding("down,j", "scroll_page(1)", "scroll", show=False, id="list.down"),
        Binding("escape", "close", "back", id="form.close"),
    ]

    def __init__(self, pane: ListPane, changes: Signal[set[Changed]]) -> None:
        super().__init__(TITLES[pane.view.TAB])
        self._pane, self._changes = pane, changes
        self._key = pane.selected or ""

    def body(self) -> ComposeResult:
        yield PageView(self.build)

    def build(self, page: Page) -> None:
        self._pane.view.write(self._key, page)

    def on_mount(self) -> None:
        """Follow the store, and the clock of what is starting."""
        self._changes.subscribe(self, self._store_changed)
        if self._pane.view.ticking():
            self.set_interval(1.0, self.redraw)

    def _store_changed(self, changed: set[Changed]) -> None:
        if changed & {*self._pane.view.DOMAINS, "details"}:
            self.redraw()

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """The row's own words for the keys."""
        shown, tail = super().hints()
        labels = {
            self._key_of(offer.id): offer.label for offer in self._offers().values() if offer.label
        }
        return [Hint(hint.key, labels.get(hint.key, hint.label)) for hint in shown], tail

    def _offers(self) -> dict[str, Offer]:
        """The row's, and what the app offers on it."""
        ask = getattr(app_of(self), "command_offer", None)
        asked = [ask(id) for id in _OF_THE_APP] if ask is not None else []
        offers = [*asked, *self._pane.view.offers(self._key)]
        return {offer.id: offer for offer in offers if offer is not None}

    def _key_of(self, id: str) -> str:
        bound = (b for b in self.BINDINGS if isinstance(b, Binding) and b.id == id)
        return next((binding.key for binding in bound), "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what applies to the row is shown."""
        if action != "dismiss" or not parameters:
            return True
        offer = self._offers().get(str(parameters[0]))
        return offer is not None and not offer.why

    def action_scroll_page(self, by: int) -> None:
        """Move the text by a line."""
        self.query_one("#body").scroll_relative(y=by, animate=False)
