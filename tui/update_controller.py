"""Updates, pins, the way back and left-overs, as calls to the core; no widgets here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_plugins as plugins
from tui.controller import Tell, Undoable
from tui.plugin_controller import last_words
from tui.views.base import plural

if TYPE_CHECKING:
    from tui.controller import Controller

_COUNTED = (
    ("updated", "updated"),
    ("unchanged", "the newest already"),
    ("skipped", "pinned"),
    ("failed", "failed"),
    ("cancelled", "cancelled"),
)


class UpdateController:
    """What came of each wish is told in one line.

    Args:
        controller: Has the client, and keeps what can be undone.
    """

    def __init__(self, controller: Controller, tell: Tell) -> None:
        self._controller, self._tell = controller, tell
        self._client = controller.client

    async def update(self, ids: Sequence[str] | None) -> None:
        """Bring plugins to what is offered; None = all with an update, pinned ones left out."""
        params = plugins.UpdateParams(ids=None if ids is None else tuple(ids), fetch=True)
        try:
            result = await self._client.call(methods.JACKFIELD_PLUGIN_UPDATE, params)
        except CoreError as error:
            self._failed("not updated", error)
            return
        for subject, why in result.faults:
            self._tell(f"{subject}: not brought up to date: {last_words(why)}", fault=True)
        outcomes = result.outcomes
        for one in outcomes:
            if one.outcome == "failed":
                self._tell(f"{one.name}: not updated: {last_words(one.message)}", fault=True)
        if not outcomes:
            self._tell("Every installed plugin is the newest that its marketplace offers")
        elif len(outcomes) > 1:
            self._tell(_summary(outcomes))
        else:
            for one in outcomes:
                if one.outcome != "failed":
                    self._tell(_told(one))

    async def pin(self, ids: Sequence[str], *, pinned: bool) -> None:
        """Keep plugins as they are, or no longer."""
        told: list[str] = []
        for plugin_id in ids:
            params = plugins.PinParams(id=plugin_id, pinned=pinned)
            try:
                result = await self._client.call(methods.JACKFIELD_PLUGIN_PIN, params)
            except CoreError as error:
                self._failed(f"{plugin_id}: not {'pinned' if pinned else 'unpinned'}", error)
                continue
            told.append(result.message)
        if len(told) == 1:
            self._tell(told[0])
        elif told:
            self._tell(f"{plural(len(told), 'plugin')} {'pinned' if pinned else 'unpinned'}")

    async def pin_marketplace(self, name: str, *, pinned: bool) -> None:
        """Keep a git marketplace at its commit, or let it follow its branch again."""
        params = plugins.MarketplacePinParams(name=name, pinned=pinned)
        try:
            result = await self._client.call(methods.JACKFIELD_MARKETPLACE_PIN, params)
        except CoreError as error:
            self._failed(f"{name}: not {'pinned' if pinned else 'unpinned'}", error)
            return
        self._tell(result.message)

    async def roll_back(self, plugin_id: str) -> None:
        """Put the former version back."""
        params = plugins.RollbackParams(id=plugin_id)
        try:
            result = await self._client.call(methods.JACKFIELD_PLUGIN_ROLLBACK, params)
        except CoreError as error:
            self._failed(f"{plugin_id}: not rolled back", error)
            return
        self._tell(result.message)

    async def orphan(self, orphan_id: str) -> plugins.Orphan | None:
        """A left-over with what cleans it up; None when it is none any more."""
        try:
            result = await self._client.call(methods.JACKFIELD_ORPHANS, wire.NoParams())
        except CoreError as error:
            self._failed("The left-overs cannot be listed", error)
            return None
        found = next((one for one in result.orphans if one.id == orphan_id), None)
        if found is None:
            self._tell(f"{orphan_id} is not left over any more")
        return found

    async def clean(self, orphan: plugins.Orphan) -> None:
        """Clean up a left-over."""
        try:
            params = wire.IdParams(id=orphan.id)
            result = await self._client.call(methods.JACKFIELD_ORPHAN_CLEAN, params)
        except CoreError as error:
            self._failed(f"{orphan.name}: not cleaned up", error)
            return
        if result.undo is None:
            self._tell(f"{result.message}   it cannot be undone")
            return
        self._controller.undoable.append(Undoable(result.undo, orphan.name))
        self._tell(f"{result.message}   z undoes")

    def _failed(self, what: str, error: CoreError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        self._tell(f"{what}: {last_words(error.message)}{hint}", fault=True)


def _told(one: plugins.UpdateOutcome) -> str:
    if one.outcome == "updated":
        return f"{one.name} is updated: {one.message}"
    if one.outcome == "skipped":
        return f"{one.name} is {one.message}: not updated   p unpins"
    if one.outcome == "cancelled":
        return f"{one.name}: cancelled, {one.message}"
    return f"{one.name} {one.message}"


def _summary(outcomes: Sequence[plugins.UpdateOutcome]) -> str:
    counts = [(sum(one.outcome == word for one in outcomes), said) for word, said in _COUNTED]
    return f"Plugins: {', '.join(f'{count} {said}' for count, said in counts if count)}"
