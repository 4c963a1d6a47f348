"""Looking folders over and taking things over from other agents, as calls to the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield_import as wire
from core.protocol import jackfield_validate as looking
from tui.controller import Tell, Undoable

if TYPE_CHECKING:
    from tui.controller import Controller


class ImportController:
    """What came of it is told in one line, or answered as text for a sheet.

    Args:
        controller: Has the client, and keeps what can be undone.
    """

    def __init__(self, controller: Controller, tell: Tell) -> None:
        self._controller, self._tell = controller, tell
        self._client = controller.client

    async def validate(self, path: str) -> looking.ValidateResult | str:
        """What is wrong with a folder, or why it cannot be said."""
        try:
            params = looking.ValidateParams(path=path)
            return await self._client.call(methods.JACKFIELD_VALIDATE, params)
        except CoreError as error:
            return _said(error)

    async def scan(self) -> wire.ScanResult | str:
        """What other agents have, or why it cannot be said."""
        try:
            return await self._client.call(methods.JACKFIELD_IMPORT_SCAN, wire.ScanParams())
        except CoreError as error:
            return _said(error)

    async def apply(self, choices: Sequence[wire.ImportChoice]) -> wire.ApplyResult | str:
        """Write what was chosen; what was written is told, why nothing was is answered."""
        try:
            params = wire.ApplyParams(choices=tuple(choices))
            result = await self._client.call(methods.JACKFIELD_IMPORT_APPLY, params)
        except CoreError as error:
            return _said(error)
        failed = [outcome for outcome in result.outcomes if outcome.state == "failed"]
        told = result.message
        if result.undo is not None:
            names = ", ".join(outcome.name for outcome in result.outcomes[:3])
            self._controller.undoable.append(Undoable(result.undo, names))
            told += "   z undoes"
        if failed:
            told += f"; {failed[0].name}: {failed[0].message}"
        self._tell(told, fault=bool(failed))
        return result


def _said(error: CoreError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
