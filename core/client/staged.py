"""The client of a core that is still being loaded: what can be answered is answered."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, TypeVar

import anyio

from core.channels import Subscription
from core.client.contract import Capabilities, CoreClient
from core.errors import Unavailable
from core.method_table import JACKFIELD_PANEL_START, METHODS
from core.methods import Method

if TYPE_CHECKING:
    from core.client.in_process import InProcessClient

P = TypeVar("P")
R = TypeVar("R")


class StagedClient:
    """See `CoreClient`. Calls that need the whole core wait until it stands.

    Args:
        early: A client of the part that stands already.
        begin: The panel starts: fill the first lists.
    """

    def __init__(self, early: InProcessClient, begin: Callable[[], None]) -> None:
        self._early, self._begin = early, begin
        self._settled = anyio.Event()
        self._whole: CoreClient | None = None
        self._why = ""
        here = early.capabilities
        self.capabilities = Capabilities(
            methods=frozenset(METHODS),
            name=here.name,
            version=here.version,
            read_only=here.read_only,
        )

    def stands(self, client: CoreClient) -> None:
        """The whole core is there."""
        self._whole = client
        self.capabilities = client.capabilities
        self._settled.set()

    def fails(self, why: str) -> None:
        """The rest cannot be opened; what stands goes on."""
        self._why = why
        self._settled.set()

    async def call(self, method: Method[P, R], params: P) -> R:
        if self._whole is None:
            if not self._early.capabilities.lacks(method):
                return await self._early.call(method, params)
            if method.name == JACKFIELD_PANEL_START.name:
                self._begin()
            await self._settled.wait()
        if self._whole is None:
            raise Unavailable(self._why)
        return await self._whole.call(method, params)

    def subscribe(self) -> AbstractAsyncContextManager[Subscription]:
        return self._early.subscribe()

    async def aclose(self) -> None:
        await self._early.aclose()
        if self._whole is not None:
            await self._whole.aclose()
