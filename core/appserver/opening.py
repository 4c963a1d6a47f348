"""What stands behind the wire, and the time before it stands there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import anyio

from core.channels import EventHub
from core.scope import RequestScope


class Handlers(Protocol):
    """What a session needs of `core.service.dispatch.Dispatcher`."""

    @property
    def methods(self) -> frozenset[str]: ...

    async def handle(self, name: str, params: object, scope: RequestScope) -> Any: ...


class Gate(Protocol):
    """What stands between a request and its handler: the real server's strictness."""

    async def check(self, method: str, params: Any) -> None:
        """Raise CoreError where the real server would refuse before it looks any further."""
        ...

    async def warnings(self) -> list[dict[str, Any]]:
        """`params` of each `configWarning` that follows the handshake."""
        ...


class Opening:
    """A core that is on its way; everything but the handshake waits for it.

    Loading the core takes longer than all else at the start, and the handshake needs none of it.

    Attributes:
        hasty: The handshake is answered before the core is there. Not where the core may yet
            find that nothing may be answered.
        hub: What happens in it, where clients may follow that.
        read_only: It refuses writes.
        gone: To be told the number of a connection that has ended.
    """

    def __init__(self, *, hasty: bool = False) -> None:
        self.hasty = hasty
        self.hub: EventHub | None = None
        self.read_only = False
        self.gone: Callable[[int], None] = _forgotten
        self._core: tuple[Handlers, Gate] | None = None
        self._changed = anyio.Event()

    def done(
        self,
        handlers: Handlers,
        gate: Gate,
        *,
        hub: EventHub | None = None,
        read_only: bool = False,
        gone: Callable[[int], None] | None = None,
    ) -> None:
        """The core stands."""
        self.hub, self.read_only, self.gone = hub, read_only, gone or _forgotten
        self._core = handlers, gate
        self._changed.set()

    @property
    def core(self) -> tuple[Handlers, Gate] | None:
        """The core's two sides, once it stands."""
        return self._core

    async def wait(self) -> tuple[Handlers, Gate]:
        """Wait until it stands."""
        while self._core is None:
            await self._changed.wait()
        return self._core


def _forgotten(connection: int) -> None:
    """Nobody remembers connections."""
