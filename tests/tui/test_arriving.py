"""Every list arrives in parts: told as intermediate and painted while other sources are awaited.

The real core under the real panel; every source waits at a door of its own, and one is opened.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest

from core.client.contract import CoreClient
from core.compose import open_core
from core.demo import DemoWorld, demo_world
from core.plugins import reading
from core.plugins.discovery import Candidate, Place
from core.protocol.events import Event, RefreshEvent, RefreshFinished, RefreshStarted, StateChanged
from core.protocol.rows import Domain
from tests.tui.panel import WIDE, Panel
from tui.app import JackfieldApp

pytestmark = pytest.mark.anyio

KEYS = {"marketplaces": "1", "apps": "2", "tools": "3", "servers": "4"}


class Shelves:
    """Doors in front of the folders of marketplaces: a disk that answers when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._doors: dict[str, threading.Event] = {}
        self._lock = threading.Lock()
        self._all = False
        real = reading.resolve

        def resolve(candidate: Candidate) -> Place | None:
            assert self._door(candidate.label).wait(30), f"{candidate.label} was never released"
            return real(candidate)

        monkeypatch.setattr(reading, "resolve", resolve)

    def _door(self, label: str) -> threading.Event:
        with self._lock:
            door = self._doors.setdefault(label, threading.Event())
            if self._all:
                door.set()
            return door

    def hold(self) -> None:
        with self._lock:
            self._doors, self._all = {}, False

    def release(self, label: str) -> None:
        self._door(label).set()

    def release_all(self) -> None:
        with self._lock:
            self._all = True
            for door in self._doors.values():
                door.set()


@dataclass
class Gated:
    """A panel over a core whose every source is held."""

    panel: Panel
    world: DemoWorld
    shelves: Shelves
    events: list[Event]

    def refreshes(self, domain: Domain, kind: type[RefreshEvent]) -> list[RefreshEvent]:
        return [e for e in self.events if isinstance(e, kind) and e.domain == domain]

    def phases(self, domain: Domain, row: str) -> list[str]:
        """Of the events that brought a row, in order."""
        return [
            event.phase
            for event in self.events
            if isinstance(event, StateChanged)
            and event.domain == domain
            and any(row == changed.id for changed in event.upserted)
        ]

    def release_all(self) -> None:
        self.shelves.release_all()
        self.world.gates.release_all()
        for name in ("atlas-docs", "billing", "browser-lab", "metrics", "review-index"):
            self.world.gates.release(f"server/{name}")

    async def arrived(self, domain: Domain, row: str, painted: str) -> None:
        """It is there, told as intermediate and painted, and the refresh still runs."""
        await self.panel.until(lambda: self.phases(domain, row) and self.panel.line(painted))
        assert set(self.phases(domain, row)) <= {"cached", "intermediate"}
        assert self.phases(domain, row)[-1] == "intermediate"
        (started, *_) = self.refreshes(domain, RefreshStarted)
        assert isinstance(started, RefreshStarted) and len(started.sources) > 1
        assert self.refreshes(domain, RefreshFinished) == []

    async def ended(self, domain: Domain) -> None:
        await self.panel.until(lambda: self.refreshes(domain, RefreshFinished))
        started, finished = (
            self.refreshes(domain, kind)[0] for kind in (RefreshStarted, RefreshFinished)
        )
        assert started.id == finished.id


@pytest.fixture
def shelves(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelves]:
    made = Shelves(monkeypatch)
    yield made
    made.release_all()


@asynccontextmanager
async def gated(shelves: Shelves, tab: str) -> AsyncGenerator[Gated]:
    async with demo_world(delays=False, gates=True) as world, open_core(world.deps()) as core:

        async def connect() -> CoreClient:
            return core.client()

        app = JackfieldApp(connect, consent_all=True)
        app.animation_level = "none"
        events: list[Event] = []
        core.hub.listen(events.append)
        async with app.run_test(size=WIDE, notifications=True) as pilot:
            made = Gated(Panel(app, pilot, None), world, shelves, events)  # type: ignore[arg-type]
            await made.panel.press(KEYS[tab])
            try:
                with anyio.fail_after(30):
                    yield made
            finally:
                made.release_all()


async def test_a_marketplace_is_a_row_while_others_are_awaited(shelves: Shelves) -> None:
    async with gated(shelves, "marketplaces") as here:
        await here.panel.until(lambda: here.refreshes("plugins", RefreshStarted))
        assert here.phases("plugins", "code-review@acme-tools") == []
        shelves.release("acme-tools")
        await here.arrived("plugins", "code-review@acme-tools", "code-review")
        assert here.refreshes("marketplaces", RefreshFinished) == []
        shelves.release("field-kit")
        await here.panel.until(lambda: here.panel.line("field-kit"))
        assert here.refreshes("plugins", RefreshFinished) == []
        here.release_all()
        await here.ended("plugins")
        await here.ended("marketplaces")


async def test_a_page_of_apps_is_rows_while_others_are_awaited(shelves: Shelves) -> None:
    async with gated(shelves, "apps") as here:
        await here.panel.until(lambda: here.refreshes("apps", RefreshStarted))
        assert here.panel.lines() == []
        here.world.gates.release("directory/1")
        await here.panel.until(lambda: here.panel.lines())
        first = next(iter(here.panel.app.store.apps.rows.values()))
        await here.arrived("apps", first.id, first.name)
        here.world.gates.release("tools")
        here.release_all()
        await here.ended("apps")


async def test_the_tools_of_one_server_are_rows_while_other_servers_are_awaited(
    shelves: Shelves,
) -> None:
    async with gated(shelves, "tools") as here:
        await here.panel.until(lambda: here.refreshes("inventory", RefreshStarted))
        assert here.panel.lines() == []
        here.world.gates.release("server/billing")
        await here.arrived("inventory", "billing/list_invoices", "list_invoices")
        here.release_all()
        await here.ended("inventory")


async def test_a_server_is_connected_while_others_are_awaited(shelves: Shelves) -> None:
    async with gated(shelves, "servers") as here:
        await here.panel.until(lambda: here.panel.line("billing"))
        assert "starting" in here.panel.line("billing")
        here.world.gates.release("server/billing")
        await here.panel.until(lambda: "connected" in here.panel.line("billing"))
        await here.arrived("servers", "billing", "billing")
        assert "starting" in here.panel.line("atlas-docs")
        here.release_all()
        await here.ended("servers")
