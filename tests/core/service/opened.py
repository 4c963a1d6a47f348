"""A whole core over a home of the test's own, with everything that it tells."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import open_core
from core.ports import Deps
from core.protocol import jackfield as wire
from core.protocol.events import Event, RefreshFinished
from core.protocol.rows import Domain, Row
from tests.fakes.seen import Seen


class CountingHttp:
    """Reaches nobody, and keeps every request that anybody tried to send."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        def refuse(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            raise httpx.ConnectError("nobody is there", request=request)

        return httpx.AsyncClient(transport=httpx.MockTransport(refuse), timeout=timeout)

    @property
    def tried(self) -> list[str]:
        """Where requests would have gone."""
        return [str(request.url) for request in self.requests]


@dataclass
class Opened:
    """An open core, its client, and what has happened."""

    client: CoreClient
    events: Seen[Event] = field(default_factory=Seen[Event])

    async def start(self, *, consent_all: bool = False) -> None:
        params = wire.PanelStartParams(consent_all=consent_all)
        await self.client.call(methods.JACKFIELD_PANEL_START, params)

    async def rows(self, domain: Domain) -> wire.RowsResult:
        return await self.client.call(methods.JACKFIELD_ROWS, wire.RowsParams(domain=domain))

    async def by_id(self, domain: Domain) -> dict[str, Any]:
        rows: tuple[Row, ...] = (await self.rows(domain)).rows
        return {row.id: row for row in rows}

    async def refresh(self, domain: Domain, *, forced: bool = False) -> str:
        """Ask for it; its id once its end has been told."""
        params = wire.RefreshParams(domain=domain, forced=forced)
        asked = await self.client.call(methods.JACKFIELD_REFRESH, params)
        await self.until(
            lambda: any(event.id == asked.refresh_id for event in self.of(RefreshFinished))
        )
        return asked.refresh_id

    def of(self, kind: type[Any], **members: object) -> list[Any]:
        """Events of a kind that have these members."""
        return [
            event
            for event in self.events
            if isinstance(event, kind)
            and all(getattr(event, name) == value for name, value in members.items())
        ]

    async def until(self, enough: Callable[[], object], seconds: float = 10.0) -> None:
        await self.events.until(enough, seconds)


@asynccontextmanager
async def opened(deps: Deps) -> AsyncGenerator[Opened]:
    """Nothing is started yet."""
    async with open_core(deps) as core:
        made = Opened(core.client())
        core.hub.listen(made.events.append)
        with anyio.fail_after(30):
            yield made
