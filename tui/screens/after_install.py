"""What is left to do after an install: apps to link, servers to sign in to."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from tui.plugin_controller import Aftermath
from tui.widgets.page import Page
from tui.widgets.sheet import Sheet


class AfterInstall(Sheet[str]):
    """Answers with the page that is to be opened, `servers`, or None."""

    SIZE = "medium"
    FULL = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open", "open the page", id="row.open"),
        Binding("s", "servers", "to the servers", id="servers.sign-in"),
        Binding("escape", "close", "later", id="form.close"),
    ]

    def __init__(self, after: Aftermath) -> None:
        super().__init__("Installed; something is left to do")
        self._after = after

    def build(self, page: Page) -> None:
        """Apps with their pages, then servers."""
        if self._after.apps:
            page.section("Apps to link first")
            for app in self._after.apps:
                page.item("needs", app.name)
                if app.url:
                    page.link(app.url, indent=2)
        if self._after.servers:
            page.section("Servers that may ask for a sign-in")
            for name in self._after.servers:
                page.item("needs", name)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what there is something for."""
        if action == "open":
            return any(app.url for app in self._after.apps)
        return bool(self._after.servers) if action == "servers" else True

    def action_open(self) -> None:
        """The first page."""
        self.dismiss(next(app.url for app in self._after.apps if app.url))

    def action_servers(self) -> None:
        """To the list of servers."""
        self.dismiss("servers")
