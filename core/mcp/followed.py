"""Resources whose changes somebody follows: what a server says of them becomes an occurrence."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from core.mcp.client.session import Incoming
from core.ports import Clock
from core.protocol.events import Event, ResourceUpdated

UPDATED = "notifications/resources/updated"


class Around(Protocol):
    """Where a connection lives."""

    @property
    def clock(self) -> Clock: ...
    @property
    def emit(self) -> Callable[[Event], None] | None: ...


def tell_followed(followed: Collection[str], message: Incoming, name: str, around: Around) -> None:
    """Emit `ResourceUpdated` when the message tells a change of a followed resource."""
    uri = message.params.get("uri") if message.method == UPDATED else None
    if isinstance(uri, str) and uri in followed and around.emit is not None:
        around.emit(ResourceUpdated(at=around.clock.now(), name=name, uri=uri))
