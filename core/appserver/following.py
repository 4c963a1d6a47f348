"""A client that follows what happens in the core: `jackfield/subscribe` and what comes of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, cast

import anyio
import msgspec

from core.appserver.outgoing import Outgoing
from core.channels import EventHub
from core.protocol.events import Event
from core.protocol.jackfield_wire import EVENTS, EventsParams

log = logging.getLogger(__name__)


class Following:
    """Tells one client of events, at the pace at which it reads."""

    def __init__(self, outgoing: Outgoing) -> None:
        self._outgoing = outgoing
        self._hub: EventHub | None = None
        self._wanted = anyio.Event()
        self._stands = anyio.Event()

    async def begin(self, hub: EventHub) -> None:
        """Follow from now on; returns once nothing is missed any more. May be called again."""
        self._hub = hub
        self._wanted.set()
        await self._stands.wait()

    async def run(self) -> None:
        """Wait for `begin`, then tell, until the core closes or this is cancelled."""
        await self._wanted.wait()
        if self._hub is None:
            return
        async with self._hub.subscribe() as subscription:
            self._stands.set()
            async for batch in subscription.batches():
                self._tell(batch)
                # While a client does not read, what happens is folded where it waits.
                await self._outgoing.room()

    def _tell(self, events: Sequence[Event]) -> None:
        try:
            self._outgoing.notify(EVENTS, EventsParams(events=tuple(events)))
        except UnicodeEncodeError:  # a path that is no UTF-8
            plain = tuple(_encodable(msgspec.to_builtins(event)) for event in events)
            self._outgoing.notify(EVENTS, EventsParams(events=plain))


def _encodable(value: Any) -> Any:
    """The same without lone surrogates, which JSON in UTF-8 cannot carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {_encodable(key): _encodable(one) for key, one in pairs.items()}
    if isinstance(value, list | tuple):
        return [_encodable(one) for one in cast("Sequence[Any]", value)]
    return value
