"""What the person asked for, as calls to the core; no widgets here.

Each method says in one line what came of it, through `tell`; only what the person did is told.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import anyio
import msgspec

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol.events import RefreshFinished
from core.protocol.facts import Evidence
from core.protocol.rows import Domain
from tui.switching import SwitchTarget

if TYPE_CHECKING:
    from core.client.contract import CoreClient

UNDO_KEPT = 50
FINISHED_KEPT = 32


class Tell(Protocol):
    """Shows one line to the person; `fault` keeps it longer and in the errors."""

    def __call__(self, text: str, *, fault: bool = False) -> None: ...


@dataclass(frozen=True)
class Decided:
    """A switch that another layer decides; asking again with `layer="user"` writes all the same."""

    target: SwitchTarget
    by: Evidence
    message: str


class Undoable(NamedTuple):
    """A change that can be taken back."""

    token: str
    name: str


AskUser = Callable[[Decided], Awaitable[bool]]


class Controller:
    """The person's wishes.

    Attributes:
        undoable: Changes that `undo` takes back, the last first.
    """

    def __init__(self, client: CoreClient, tell: Tell) -> None:
        self.client = client
        self._tell = tell
        self.undoable: deque[Undoable] = deque(maxlen=UNDO_KEPT)
        # The row may have turned over before the answer that can be undone has come.
        self._turn = anyio.Lock()
        self._asked: dict[str, str] = {}
        self._finished: deque[RefreshFinished] = deque(maxlen=FINISHED_KEPT)

    async def switch(self, target: SwitchTarget, ask: AskUser) -> None:
        """Turn it over; where another layer decides, ask before writing the user's file."""
        async with self._turn:
            await self._switch(target, ask)

    async def _switch(self, target: SwitchTarget, ask: AskUser) -> None:
        params = wire.SwitchParams(kind=target.kind, id=target.id, enabled=not target.enabled)
        try:
            result = await self.client.call(methods.JACKFIELD_SWITCH, params)
            if result.decided_by is not None and not result.written:
                decided = Decided(target, result.decided_by, result.message)
                if not await ask(decided):
                    return
                params = wire.SwitchParams(
                    kind=target.kind, id=target.id, enabled=not target.enabled, layer="user"
                )
                result = await self.client.call(methods.JACKFIELD_SWITCH, params)
        except CoreError as error:
            self._failed(f"{target.name}: not switched", error)
            return
        if result.undo is not None:
            self.undoable.append(Undoable(result.undo, target.name))
            self._tell(f"{result.message}   z undoes")
        else:
            self._tell(result.message)

    async def undo(self) -> None:
        """Take the last change back; one that is being made is waited for."""
        async with self._turn:
            await self._undo()

    async def _undo(self) -> None:
        if not self.undoable:
            self._tell("Nothing to undo")
            return
        change = self.undoable.pop()
        try:
            await self.client.call(methods.JACKFIELD_UNDO, wire.UndoParams(token=change.token))
        except CoreError as error:
            self._failed(f"{change.name}: not undone", error)
            return
        self._tell(f"Undone: {change.name} is as it was before")

    async def refresh(
        self,
        domains: Sequence[Domain],
        noun: str,
        *,
        forced: bool,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Read lists anew in the background; the end of the first one is told."""
        for domain in domains:
            params = wire.RefreshParams(
                domain=domain, forced=forced, ids=None if ids is None else tuple(ids)
            )
            try:
                result = await self.client.call(methods.JACKFIELD_REFRESH, params)
            except CoreError as error:
                self._failed(f"{noun}: not refreshed", error)
                return
            if result.refresh_id and domain == domains[0]:
                self._asked[result.refresh_id] = noun
        for event in list(self._finished):
            self.finished(event)

    def finished(self, event: RefreshFinished) -> None:
        """A refresh ended; told when the person asked for it, whichever comes first."""
        noun = self._asked.pop(event.id, None)
        if noun is None:
            if event not in self._finished:
                self._finished.append(event)
            return
        from tui.views.happenings import finished_toast

        self._tell(finished_toast(noun, event), fault=event.outcome == "failed")

    async def reconnect(self, names: Sequence[str] | None) -> None:
        """Start servers anew; None = all that have failed."""
        params = wire.NamesParams(names=None if names is None else tuple(names))
        try:
            await self.client.call(methods.JACKFIELD_SERVER_RECONNECT, params)
        except CoreError as error:
            self._failed(f"{', '.join(names or ('servers',))}: not reconnected", error)

    async def cancel(self, name: str) -> None:
        """End a server's start."""
        try:
            await self.client.call(methods.JACKFIELD_SERVER_CANCEL, wire.NameParams(name=name))
        except CoreError as error:
            self._failed(f"{name}: not cancelled", error)

    async def detail(self, kind: str, id: str) -> dict[str, Any]:
        """More about a row than the row says; {} when the core has no more.

        A failure is part of the page, not a toast: nobody asked for anything.
        """
        try:
            if kind == "server":
                params = wire.NameParams(name=id)
                result = await self.client.call(methods.JACKFIELD_SERVER_DETAIL, params)
                return {**result.detail, **await self._sign_in(result.detail, params)}
            else:
                method = {
                    "plugin": methods.JACKFIELD_PLUGIN_DETAIL,
                    "app": methods.JACKFIELD_APP_DETAIL,
                    "tool": methods.JACKFIELD_TOOL_DETAIL,
                }[kind]
                result = await self.client.call(method, wire.IdParams(id=id))
        except CoreError as error:
            return {"unavailable": error.message}
        return result.detail

    async def _sign_in(self, detail: dict[str, Any], params: wire.NameParams) -> dict[str, Any]:
        """What is stored for a server with a URL, for its details."""
        if "url" not in detail:
            return {}
        try:
            state = await self.client.call(methods.JACKFIELD_LOGIN_CREDENTIALS, params)
        except CoreError:
            return {}
        return {"signIn": msgspec.to_builtins(state)}

    async def consent(self) -> tuple[wire.ConsentItem, ...]:
        """All programs, those that wait for a yes first."""
        try:
            result = await self.client.call(methods.JACKFIELD_CONSENT_READ, wire.NoParams())
        except CoreError as error:
            self._failed("The programs cannot be listed", error)
            return ()
        return result.items

    async def answer(self, answers: dict[str, bool]) -> None:
        """Yes or no for programs."""
        try:
            await self.client.call(
                methods.JACKFIELD_CONSENT_WRITE, wire.ConsentAnswers(answers=answers)
            )
        except CoreError as error:
            self._failed("The answer was not kept", error)
            return
        agreed = sum(answers.values())
        self._tell(f"{agreed} agreed to, {len(answers) - agreed} not started")

    def _failed(self, what: str, error: CoreError) -> None:
        hint = f"; {error.hint}" if error.hint else ""
        self._tell(f"{what}: {error.message}{hint}", fault=True)
