"""What is told while the lists of servers and tools are read: every source, every step, the end."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from core.errors import CoreError
from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.ports import Deps
from core.protocol.events import (
    InventoryChanged,
    RefreshEvent,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
    ServersChanged,
    StateChanged,
)
from tests.core.mcp.fakes import FakeMaker, Script, tool
from tests.core.threads.world import World, world
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

NAMES = ("one", "three", "two")
CONFIG = "".join(f'[mcp_servers.{name}]\ncommand = "{name}"\n' for name in NAMES)
Make = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def make(deps: Deps) -> Make:
    def make(config: str = CONFIG, **more: Any) -> AbstractAsyncContextManager[World]:
        more.setdefault("ping_every", 0)
        return world(replace(deps, clock=FakeClock(auto=False)), config, **more)

    return make


def of(here: World, kind: type[Any], refresh: str = "") -> list[Any]:
    return [event for event in here.events if isinstance(event, kind) and refresh in ("", event.id)]


def phases(here: World, kind: type[StateChanged]) -> list[str]:
    return [event.phase for event in here.events if isinstance(event, kind)]


def dead(code: int = 3) -> SessionClosed:
    return SessionClosed(CloseReason(exit_code=code, tail=("boom",)))


async def ended(here: World, *refreshes: str) -> None:
    await here.until(lambda: {event.id for event in of(here, RefreshFinished)} >= set(refreshes))


async def test_the_first_start_is_a_refresh_of_both_lists_with_every_server_as_a_source(
    make: Make,
) -> None:
    async with make() as here:
        await here.panel.open(consent_all=True)
        started = of(here, RefreshStarted)
        assert [(event.domain, event.sources, event.forced) for event in started] == [
            ("servers", NAMES, False),
            ("inventory", NAMES, False),
        ]
        await ended(here, *(event.id for event in started))
        for event in of(here, RefreshFinished):
            assert (event.outcome, event.kept_previous) == ("ok", False)
        assert [event.added for event in of(here, RefreshFinished)] == [3, 3]


async def test_what_has_answered_is_an_intermediate_event_while_others_are_awaited(
    make: Make,
) -> None:
    maker = FakeMaker(two=Script())
    gate = maker.scripts["two"].gate("initialize")
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", three="connected", two="starting")
        assert set(phases(here, ServersChanged)) == {"intermediate"}
        assert set(phases(here, InventoryChanged)) == {"intermediate"}
        assert set(here.tools) == {"one/t", "three/t"}
        assert of(here, RefreshFinished) == []
        assert here.board.servers.current.phase == "intermediate"
        gate.set()
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        for kind in (ServersChanged, InventoryChanged):
            assert phases(here, kind)[-1] == "final"
            assert phases(here, kind).count("final") == 1
        assert list(here.tools) == ["one/t", "three/t", "two/t"]


async def test_what_waits_for_a_yes_is_no_source_and_becomes_one_with_it(make: Make) -> None:
    async with make() as here:
        await here.panel.open()
        (first, _) = of(here, RefreshStarted)
        assert first.sources == ("configuration",)
        await ended(here, first.id)
        assert here.board.servers.current.phase == "final"
        await here.agree("two")
        latest = of(here, RefreshStarted)[-2:]
        assert [event.sources for event in latest] == [("two",), ("two",)]
        await ended(here, *(event.id for event in latest))


async def test_a_home_without_servers_is_told_as_read_and_empty(make: Make) -> None:
    async with make("") as here:
        await here.panel.open()
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        assert phases(here, ServersChanged) == ["final"]
        assert phases(here, InventoryChanged) == ["final"]


async def test_a_server_that_fails_is_told_as_a_failed_source_of_both_lists(make: Make) -> None:
    maker = FakeMaker(
        two=Script(refuse=[dead()]),
        three=Script(refuse=[HttpFailed(CloseReason(http_status=401, challenge=("Bearer",)))]),
    )
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        failed = {(event.domain, event.source): event.message for event in of(here, RefreshFailed)}
        assert failed["servers", "two"] == failed["inventory", "two"] == "exited 3 — boom"
        assert {domain for domain, source in failed if source == "three"} == {
            "servers",
            "inventory",
        }
        assert {event.outcome for event in of(here, RefreshFinished)} == {"partly"}
        assert not any(event.kept_previous for event in of(here, RefreshFinished))


async def test_no_secret_is_told_of_a_failed_source(make: Make) -> None:
    config = '[mcp_servers.one]\ncommand = "x"\nenv = { KEY = "s3cret-value" }\n'
    closed = SessionClosed(CloseReason(exit_code=1, tail=("bad key s3cret-value",)))
    async with make(config, maker=FakeMaker(one=Script(refuse=[closed]))) as here:
        await here.panel.open(consent_all=True)
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        assert {event.outcome for event in of(here, RefreshFinished)} == {"failed"}
        assert "s3cret-value" not in repr(of(here, RefreshEvent))


@pytest.mark.parametrize(("domain", "other"), [("servers", "inventory"), ("inventory", "servers")])
async def test_a_forced_refresh_names_its_sources_and_ends_when_the_last_has_listed_again(
    make: Make, domain: Any, other: str
) -> None:
    maker = FakeMaker(**{name: Script() for name in NAMES})
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected", three="connected")
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        here.events.clear()
        gate = maker.scripts["two"].gate("tools/list")
        for script in maker.scripts.values():
            script.tools = [tool("fresh")]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: here.panel.refresh("r1", forced=True, domain=domain))
            await here.until(lambda: {"one/fresh", "three/fresh"} <= set(here.tools))
            started = of(here, RefreshStarted)
            assert [(event.id, event.domain) for event in started][0] == ("r1", domain)
            assert {event.domain for event in started} == {domain, other}
            assert all(event.sources == NAMES and event.forced for event in started)
            assert set(phases(here, InventoryChanged)) == {"intermediate"}
            assert {"one/t", "two/t", "three/t"} <= set(here.tools), "rows leave at the end"
            told = {event.source for event in of(here, RefreshProgress)}
            assert told == {"one", "three"}
            assert of(here, RefreshFinished) == []
            gate.set()
        assert set(here.tools) == {"one/fresh", "three/fresh", "two/fresh"}
        assert phases(here, InventoryChanged)[-1] == "final"
        done = {event.domain: event for event in of(here, RefreshFinished)}
        assert done[domain].id == "r1" and done[domain].outcome == "ok"
        assert (done["inventory"].added, done["inventory"].removed) == (3, 3)


async def test_tools_that_cannot_be_listed_again_are_kept_and_that_is_told(make: Make) -> None:
    maker = FakeMaker(one=Script(), two=Script(), three=Script())
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected", three="connected")
        maker.scripts["two"].replies["tools/list"] = [CoreError("it broke")]
        await here.panel.refresh("r1", forced=True, domain="inventory")
        assert "two/t" in here.tools
        (failed,) = of(here, RefreshFailed, "r1")
        assert failed.source == "two" and "it broke" in failed.message
        (done,) = of(here, RefreshFinished, "r1")
        assert (done.outcome, done.kept_previous) == ("partly", True)


async def test_only_the_servers_that_were_named_are_asked(make: Make) -> None:
    async with make() as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected", three="connected")
        await here.panel.refresh("r1", forced=True, names=["two/t"], domain="inventory")
        await here.panel.refresh("r2", forced=True, names=["one"])
        (first,) = of(here, RefreshStarted, "r1")
        (second,) = of(here, RefreshStarted, "r2")
        assert (first.sources, second.sources) == (("two",), ("one",))
        assert here.maker.latest("two").methods.count("tools/list") == 2
        assert here.maker.latest("three").methods.count("tools/list") == 1


async def test_a_server_that_ends_while_it_is_asked_does_not_hold_up_the_end(make: Make) -> None:
    maker = FakeMaker(one=Script(), two=Script(), three=Script())
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected", three="connected")
        maker.scripts["two"].gate("tools/list")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: here.panel.refresh("r1", forced=True))
            await here.until(lambda: maker.latest("two").methods.count("tools/list") == 2)
            maker.latest("two").die(CloseReason(exit_code=9))
        (done,) = of(here, RefreshFinished, "r1")
        assert done.outcome == "partly"


async def test_a_switched_off_server_takes_its_tools_along_though_another_still_starts(
    make: Make,
) -> None:
    maker = FakeMaker(two=Script())
    maker.scripts["two"].gate("initialize")
    async with make(maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", three="connected")
        here.write(CONFIG.replace('command = "one"', 'command = "one"\nenabled = false'))
        await here.panel.follow()
        assert set(here.tools) == {"three/t"}
        assert here.rows["one"].status == "disabled"


async def test_what_was_only_looked_at_again_does_not_count_as_changed(make: Make) -> None:
    async with make() as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected", three="connected")
        await ended(here, *(event.id for event in of(here, RefreshStarted)))
        here.deps.clock.tick(5)  # type: ignore[attr-defined]
        await here.panel.refresh("r1", forced=True, domain="inventory")
        done = [event for event in of(here, RefreshFinished) if event.id.startswith("r1")]
        assert [(event.added, event.changed, event.removed) for event in done] == [(0, 0, 0)] * 2
