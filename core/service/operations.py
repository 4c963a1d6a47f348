"""What runs on a plugin or a marketplace: told from its beginning to its end, and cancelled."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import anyio

from core.errors import CoreError, InvalidRequest
from core.ports import Clock
from core.protocol.events import Event, OperationProgress
from core.protocol.jackfield import Done, IdParams
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.service.config import ConfigDelta

_STEP = 0.02
Progress = Callable[[float | None, str], None]
"""Takes how far something is, 0–1 or None, and what it does at the moment, in a word or two."""


class Cancelled(InvalidRequest):
    """The person has ended it; what was there before is as it was."""

    def __init__(self, verb: str, subject: str) -> None:
        super().__init__(f"{verb} {subject}: cancelled")


@dataclass
class Owed:
    """What a running operation still owes the other layers.

    Attributes:
        told: A configuration that it wrote has not been followed yet.
    """

    told: bool = False


_owed: ContextVar[Owed | None] = ContextVar("owed", default=None)


_PLUGINS = frozenset({"plugins", "marketplaces"})


def owed() -> Owed | None:
    """Of the operation that this task is in; None outside of one."""
    return _owed.get()


class Operations:
    """Everything that runs, by what it runs on.

    Args:
        emit: Takes `OperationProgress`, whose `subject` is a plugin's or a marketplace's id.

    Attributes:
        settle: Lets the layers follow what an operation has written and not told by its end.
    """

    def __init__(self, clock: Clock, emit: Callable[[Event], None]) -> None:
        self.settle: Callable[[], Awaitable[None]] | None = None
        self._clock = clock
        self._emit = emit
        self._numbers = count(1)
        self._running: dict[str, set[anyio.CancelScope]] = {}
        self._debts: list[Owed] = []

    def takes(self, delta: ConfigDelta) -> bool:
        """Whether a change of the configuration is that of an operation, which lets everybody
        follow at its end.
        """
        debt = owed()
        if debt is not None:
            debt.told = True
        elif delta.seen and delta.tables <= _PLUGINS:
            for one in self._debts:
                one.told = True
            return bool(self._debts)
        return debt is not None

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/operation/cancel": self.cancel}

    async def cancel(self, params: IdParams, scope: RequestScope) -> Done:
        """End what runs on a plugin or a marketplace; its own request then fails.

        Raises:
            InvalidRequest: Nothing runs there.
        """
        if not (running := self._running.get(params.id)):
            raise InvalidRequest(f"nothing runs on {params.id}")
        for one in tuple(running):
            one.cancel()
        return Done()

    @asynccontextmanager
    async def run(self, verb: str, subject: str) -> AsyncGenerator[Progress]:
        """Tell how something goes for as long as the block lasts.

        Raises:
            Cancelled: Somebody has asked for its end.
        """
        told = _Telling(self._clock, self._emit, f"{verb}-{next(self._numbers)}", verb, subject)
        running = self._running.setdefault(subject, set())
        scope = anyio.CancelScope()
        running.add(scope)
        told.tell("running")
        debt = Owed()
        self._debts.append(debt)
        before = _owed.set(debt)
        try:
            with scope:
                yield told.progress
        except CoreError as error:
            told.tell("failed", note=error.message)
            raise
        except BaseException:
            told.tell("cancelled")
            raise
        finally:
            _owed.reset(before)
            self._debts.remove(debt)
            if debt.told and self.settle is not None:
                with anyio.CancelScope(shield=True):
                    await self.settle()
            running.discard(scope)
            if not running and self._running.get(subject) is running:
                del self._running[subject]
        if scope.cancelled_caught:
            told.tell("cancelled")
            raise Cancelled(verb, subject)
        told.tell("done")


class _Telling:
    def __init__(
        self, clock: Clock, emit: Callable[[Event], None], id: str, verb: str, subject: str
    ) -> None:
        self._clock, self._emit = clock, emit
        self._id, self._verb, self._subject = id, verb, subject
        self._share = -1.0

    def progress(self, share: float | None, note: str) -> None:
        """Say how far it is; steps under two percent are left out."""
        if share is None:
            self.tell("running", note=note)
        elif share - self._share >= _STEP:
            self._share = share
            self.tell("running", share, note)

    def tell(self, state: str, share: float | None = None, note: str = "") -> None:
        """Say it to everybody."""
        self._emit(
            OperationProgress(
                at=self._clock.now(),
                id=self._id,
                subject=self._subject,
                verb=self._verb,
                state=state,
                share=share,
                note=note,
            )
        )
