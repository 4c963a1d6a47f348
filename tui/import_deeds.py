"""Looking a folder over, and taking servers and plugins over from other agents."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tui.commands import Offer
from tui.family import Family

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.import_controller import ImportController


class ImportDeeds(Family):
    """Both are in the palette; a marketplace's row offers its own folder."""

    DEEDS: ClassVar = {"folders.validate": "validate", "agents.import": "take_over"}

    def offers(self) -> list[Offer]:
        """A folder to begin with, where the row has one."""
        folder = self._folder()
        if not folder:
            return []
        return [Offer("folders.validate", "validate its folder", about=self.app.place.path(folder))]

    def _folder(self) -> str:
        """The folder of the selected marketplace or plugin, or ""."""
        pane = self.pane
        if pane.view.TAB != "marketplaces" or pane.selected is None:
            return ""
        row = pane.view.subject(pane.selected)
        return str(getattr(row, "root", "")) if row is not None else ""

    def validate(self) -> None:
        """Ask for a folder, and show what is wrong with it."""
        from tui.import_controller import ImportController

        calls = ImportController(self.controller, self.app.tell)
        self.app.open_dialog(partial(_validate, calls, self._folder()))

    def take_over(self) -> None:
        """Show what other agents have; what is chosen there is written."""
        from tui.import_controller import ImportController

        calls = ImportController(self.controller, self.app.tell)
        self.app.open_dialog(partial(_take_over, calls))


async def _validate(calls: ImportController, folder: str, app: JackfieldApp) -> None:
    from tui.screens.validate import ValidateSheet

    await app.push_screen_wait(ValidateSheet(calls.validate, app.place, folder))


async def _take_over(calls: ImportController, app: JackfieldApp) -> None:
    from tui.screens.importing import ImportSheet

    await app.push_screen_wait(ImportSheet(calls, app.place))
