"""The lists of a live server, kept fresh for as long as its session lives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio

from core.errors import CoreError
from core.mcp.client.session import ServerHello, Session
from core.mcp.faults import said_by
from core.mcp.inventory import (
    PROMPTS,
    RESOURCES,
    TEMPLATES,
    TOOLS,
    Fault,
    Kind,
    Listing,
    read_list,
)
from core.ports import Clock

LISTS: dict[str, tuple[str, Kind]] = {
    "tools": ("tools", TOOLS),
    "resources": ("resources", RESOURCES),
    "templates": ("resources", TEMPLATES),
    "prompts": ("prompts", PROMPTS),
}
"""By the name we keep a list under: the capability that promises it, and how it is read."""

_CHANGES = {
    "notifications/tools/list_changed": ("tools",),
    "notifications/resources/list_changed": ("resources", "templates"),
    "notifications/prompts/list_changed": ("prompts",),
}


def changed_by(method: str) -> tuple[str, ...]:
    """The lists that a notification makes stale."""
    return _CHANGES.get(method, ())


class Lists:
    """What one session has listed. `stale` may be called at any time; `keep` is a task."""

    def __init__(self, tools: Listing, clock: Clock, changed: Callable[[], None]) -> None:
        self._clock, self._changed = clock, changed
        self._known = {"tools": replace(tools, at=clock.now())}
        self._stale: set[str] = set()
        self._reading = False
        self._news = anyio.Event()

    def get(self, name: str) -> Listing | None:
        """As last read; None = not read."""
        return self._known.get(name)

    @property
    def reading(self) -> bool:
        """Something that was asked for has not come yet."""
        return self._reading or bool(self._stale)

    def stale(self, *names: str) -> None:
        """These are to be read anew, all when none is named."""
        self._stale.update(names or LISTS)
        self._news.set()

    async def keep(self, session: Session, hello: ServerHello, deadline: float) -> None:
        """Read what has become stale and what the server's capabilities promise, one by one."""
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            names, self._stale = self._stale, set()
            self._reading = True
            for name, (ability, kind) in LISTS.items():
                if name in names and ability in hello.capabilities:
                    self._known[name] = await self._read(session, name, kind, deadline)
                    self._changed()
            self._reading = False
            self._changed()

    async def _read(self, session: Session, name: str, kind: Kind, deadline: float) -> Listing:
        try:
            fresh = await read_list(
                session.request, kind, deadline=deadline, tolerant=True, refusable=True
            )
        except CoreError as error:
            kept = self._known.get(name, Listing())
            fault = Fault(rule="unread", message=said_by(error, kind.method))
            return replace(kept, faults=(fault,))
        return replace(fresh, at=self._clock.now())
