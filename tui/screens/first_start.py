"""The note at the first start: what was found, what is read, written and started."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.signal import Signal

from tui.store import Changed, ViewStore
from tui.views.base import Place, plural
from tui.widgets.page import Page
from tui.widgets.sheet import ButtonRow, Sheet


class FirstStartSheet(Sheet[str | None]):
    """Answers with `review` when the programs shall be looked through, else None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "look around", id="form.close"),
    ]

    def __init__(self, store: ViewStore, place: Place, changes: Signal[set[Changed]]) -> None:
        super().__init__("Jackfield", "first start here")
        self._store, self._place, self._changes = store, place, changes

    def on_mount(self) -> None:
        """Follow the store."""
        self._changes.subscribe(self, self._store_changed)

    def _store_changed(self, changed: set[Changed]) -> None:
        self.redraw()

    def build(self, page: Page) -> None:
        store, place = self._store, self._place
        page.section("Found", "on this machine")
        found = ", ".join(
            (
                plural(len(store.servers.rows), "server"),
                plural(len(store.marketplaces.rows), "marketplace"),
                plural(sum(row.installed for row in store.plugins.rows.values()), "plugin"),
            )
        )
        page.item("works", place.path(place.codex_home) or "a Codex home", found)
        page.section("Reads")
        page.text(
            "config.toml, marketplaces, the plugin cache, auth.json, and the names of keyring "
            "items. Secrets are used, never shown."
        )
        page.section("Writes")
        if place.read_only:
            page.text("Nothing: it was started read-only.")
        else:
            page.text(
                "Only what you switch, add or remove: its own keys in config.toml, comments and "
                "order kept."
            )
        page.section("Starts")
        page.text(self._starts())

    def _starts(self) -> str:
        waiting = self._store.consent
        if self._place.starts_all:
            return "Every server that is turned on: it was started with --yes."
        if waiting:
            wait = "waits" if waiting == 1 else "wait"
            return (
                f"{plural(waiting, 'program')} {wait} for your yes; "
                "each is shown with its exact command first."
            )
        return "No server before you have agreed to its exact command."

    def below(self) -> ComposeResult:
        look = "Look around" if self._place.starts_all else "Look around, start nothing"
        yield ButtonRow([("", look), ("review", "Look at the programs")])

    @on(ButtonRow.Chosen)
    def _chosen(self, event: ButtonRow.Chosen) -> None:
        event.stop()
        self.dismiss(event.id or None)
