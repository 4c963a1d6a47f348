"""A family of commands: what one part of the product does on keys, in a module of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

from tui.commands import Offer

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.controller import Controller
    from tui.panes.list_pane import ListPane
    from tui.store import Changed

# Work on one thing at a time and in the order of the keys; reading beside it.
WRITING, READING = "writing", "reading"


class NotReady(Exception):
    """The core does not stand yet."""


class Family:
    """Commands that belong together; `tui.deeds` lists the families.

    Attributes:
        DEEDS: By command id the method that does it, with an argument after a blank.
        TABS: Tabs where it answers; empty = all. Two families may share a command on two tabs.
    """

    DEEDS: ClassVar[Mapping[str, str]] = {}
    TABS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, app: JackfieldApp) -> None:
        self.app = app

    def offers(self) -> list[Offer]:
        """What it offers on the selected row, most wanted first."""
        return []

    def why_not(self, id: str) -> str:
        """Why a command of it that was not offered does nothing here; "" = it does something."""
        return ""

    def news(self, changed: set[Changed]) -> None:
        """Those tables of the store have changed."""

    @property
    def pane(self) -> ListPane:
        """The open tab."""
        return self.app.pane

    @property
    def controller(self) -> Controller:
        """The way to the core; `NotReady` when there is none yet."""
        controller = self.app.controller
        if controller is None:
            raise NotReady
        return controller

    def work(self, deed: Callable[[], Awaitable[None]], group: str = WRITING) -> None:
        """Run it beside the screen."""
        self.app.run_worker(deed, group=group, exit_on_error=True)

    def deed(self, id: str) -> Callable[[], Awaitable[None] | None]:
        """What a command of `DEEDS` runs."""
        name, _, argument = self.DEEDS[id].partition(" ")
        do: Callable[..., Awaitable[None] | None] = getattr(self, name)
        return lambda: do(*([argument] if argument else []))
