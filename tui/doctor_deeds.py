"""The check-up of this home and this machine, from the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from core import method_table as methods
from tui.family import Family

if TYPE_CHECKING:
    from tui.app import JackfieldApp


class DoctorDeeds(Family):
    """`app.doctor`."""

    DEEDS: ClassVar = {"app.doctor": "doctor"}

    def why_not(self, id: str) -> str:
        controller = self.app.controller
        if controller is None:
            return "the core is still being opened"
        return controller.client.capabilities.lacks(methods.JACKFIELD_DOCTOR)

    def doctor(self) -> None:
        """Open the sheet; it asks the core by itself."""
        self.app.open_dialog(_examine)


async def _examine(app: JackfieldApp) -> None:
    from tui.screens.doctor import DoctorSheet

    if app.controller is not None:
        await app.push_screen_wait(DoctorSheet(app.controller.client, app.place))
