"""The demo's apps through the real layers: sign-in, directory, hosted server, rows."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from core.apps.layer import AppLayer, build_app_layer
from core.auth.account import Account
from core.config.paths import Home
from core.config.store import ConfigStore
from core.demo import DemoWorld, demo_world
from core.mcp.headers_helper import HeadersHelper
from core.mcp.hosted import HostedLister
from core.mcp.links import Plumbing
from core.mcp.slots import HandshakeSlots
from core.process import Processes
from core.protocol.events import RefreshFinished, RefreshProgress
from tests.fakes.seen import Seen

pytestmark = pytest.mark.anyio
DOORS = [f"directory/{page}" for page in range(1, 10)]


class NoPlugins:
    def named_apps(self, cwd: Path | None) -> tuple[Any, ...]:
        return ()


@dataclass
class Demo:
    world: DemoWorld
    account: Account
    layer: AppLayer
    events: Seen[Any]
    group: Any

    def finished(self) -> list[RefreshFinished]:
        return [it for it in self.events if isinstance(it, RefreshFinished) and it.domain == "apps"]

    def progress(self, refresh: str) -> set[tuple[str, int, int | None]]:
        return {
            (it.source, it.done, it.total)
            for it in self.events
            if isinstance(it, RefreshProgress) and it.id == refresh
        }


@asynccontextmanager
async def demo(*, gates: bool = False) -> AsyncGenerator[Demo]:
    events: Seen[Any] = Seen()
    async with demo_world(delays=False, gates=gates) as world:
        deps = world.deps()
        configs = ConfigStore(Home.of(deps), deps)
        account = Account(
            deps=deps,
            load=configs.load,
            auth_file=world.codex_home / "auth.json",
            codex_home=world.codex_home,
            emit=events.append,
        )
        processes = Processes()
        plumbing = Plumbing(
            processes=processes,
            http=deps.http,
            helper=HeadersHelper(processes, {}, deps.clock),
            version="0",
        )
        async with anyio.create_task_group() as group:
            layer = build_app_layer(
                deps=deps,
                codex_home=world.codex_home,
                load=configs.load,
                accounts=account,
                hosted=HostedLister(plumbing, HandshakeSlots()),
                plugins=NoPlugins(),
                emit=events.append,
                spawn=group.start_soon,
            )
            yield Demo(world, account, layer, events, group)
            group.cancel_scope.cancel()
        await processes.aclose()


async def test_apps_come_linked_and_switched_as_the_demo_says() -> None:
    async with demo() as it:
        with anyio.fail_after(20):
            await it.layer.apps.refresh(forced=True, refresh_id="r")
            await it.layer.installed.reconsider()
        rows = it.layer.apps.owner.current.rows
        assert len(rows) == 66
        assert sum(row.accessible for row in rows.values()) == 11
        design = rows["design-desk"]
        assert (design.enabled, Path(design.enabled_at.file or "").name) == (False, "config.toml")
        assert design.enabled_at.line
        finder = rows["people-finder"]
        assert (finder.enabled, finder.enabled_at.layer) == (False, "requirements")
        installed = it.layer.installed.owner.current.rows
        facts = {
            key: (row.enabled, row.callable, f"{row.callable_tools}/{row.tools}")
            for key, row in installed.items()
        }
        assert facts["boardroom"] == (True, True, "12/14")
        assert facts["mailroom"] == (True, False, "0/3")
        assert facts["survey-garden"] == (True, True, "3/4")
        assert facts["widget-only"] == (True, False, "0/2")
        assert facts["design-desk"][:2] == (False, False)


async def test_a_refetch_can_be_stopped_at_any_page_and_shows_what_has_come() -> None:
    async with demo(gates=True) as it:
        gates = it.world.gates
        gates.release(*DOORS, "workspace/1", "tools")
        with anyio.fail_after(20):
            await it.layer.apps.refresh(forced=True, refresh_id="first")
        assert ("directory", 9, 9) in it.progress("first")
        assert ("tools", 62, 62) in it.progress("first")
        gates.hold("directory/5", "tools")

        async def refetch() -> None:
            await it.layer.apps.refresh(forced=True, refresh_id="again")

        it.group.start_soon(refetch)
        await it.events.until(lambda: ("directory", 4, 9) in it.progress("again"))
        with anyio.fail_after(10):
            assert await anyio.to_thread.run_sync(gates.wait_for, "directory/5")
            assert await anyio.to_thread.run_sync(gates.wait_for, "tools")
        await it.events.until(lambda: not it.layer.apps.owner.current.rows["calendar-desk"].cached)
        rows = it.layer.apps.owner.current.rows
        assert "Now with rooms" in rows["calendar-desk"].description
        assert rows["vendor-gate"].cached
        gates.release("directory/5", "tools")
        await it.events.until(lambda: len(it.finished()) == 2)
        [_, ended] = it.finished()
        assert (ended.id, ended.outcome) == ("again", "ok")
        assert (ended.added, ended.changed, ended.removed) == (1, 2, 1)


async def test_the_account_of_the_demo_is_read_whole() -> None:
    async with demo() as it:
        state = await it.account.state()
        assert state.login is not None
        assert (state.login.email, state.login.plan) == ("dev@example.com", "team")
        assert state.routing is not None
        assert state.routing.name == "Northwind Team"
