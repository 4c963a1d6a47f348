"""The page of an app: shown, copied or opened, and only when somebody asks for it."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tui.family import Family
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from core.protocol.rows import AppRow
    from tui.app import JackfieldApp


class AppDeeds(Family):
    """`o` on an app. The view of the tab offers it."""

    DEEDS: ClassVar = {"row.open": "open_page"}
    TABS = ("apps",)

    def _app(self) -> AppRow | None:
        key = self.pane.selected
        return self.app.store.apps.rows.get(key) if key is not None else None

    def why_not(self, id: str) -> str:
        return "no app is selected" if self._app() is None else "it has no page"

    def open_page(self) -> None:
        """Show where it leads, then open or copy it."""
        row = self._app()
        if row is not None and row.install_url:
            _ = self.controller  # there must be a core
            self.app.open_dialog(partial(_page_of, row=row))


async def _page_of(app: JackfieldApp, row: AppRow) -> None:
    from tui.screens.links import host_of, show_page
    from tui.tool_controller import ToolController
    from tui.widgets.confirm import Choice, Confirm

    url = row.install_url
    said = f"It opens in your browser. There {row.name} is linked to the account, or unlinked."
    choices = [
        Choice("open", f"Open {host_of(url)}", url, sign="none"),
        Choice("copy", "Copy the link"),
    ]
    answer = await app.push_screen_wait(Confirm(f"Open the page of {row.name}?", said, choices))
    if answer == "copy":
        app.copy_to_clipboard(url)
        toast(app, "Copied: the link")
    elif answer == "open" and app.controller is not None:
        await show_page(app, ToolController(app.controller.client, time.monotonic), url)
