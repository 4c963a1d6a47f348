"""After every change of the set of plugins the layers follow: all of them, once, in one order."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from core import method_table as methods
from core.errors import CoreError
from core.ports import Deps
from core.protocol.jackfield import PanelStartParams, SwitchParams
from core.protocol.marketplaces import MarketplaceAddParams, MarketplaceRemoveParams
from core.protocol.plugin_params import PluginListParams, PluginUninstallParams
from core.scope import Caller, RequestScope
from core.threads.policy import CODEX
from tests.core.plugins.world import put_market, put_plugin
from tests.core.service.lifecycle import Life, life_of
from tests.fakes import mcp_stdio

pytestmark = pytest.mark.anyio
ORDER = ["plugins", "skills", "servers", "hooks"]
Cause = Callable[[Life], Awaitable[Any]]


@pytest.fixture
async def life(deps: Deps, home: Path) -> AsyncGenerator[Life]:
    async with life_of(deps, home) as made:
        await made.installed("p", "q")
        life_source(made, "2")
        await made.ask(methods.JACKFIELD_PANEL_START, PanelStartParams())
        yield made


def life_source(life: Life, version: str) -> None:
    life.source("p", version, version=f"{version}.0.0")


def _scope() -> RequestScope:
    return RequestScope(caller=Caller(policy=CODEX))


async def _uninstall(life: Life) -> None:
    await life.ask(methods.PLUGIN_UNINSTALL, PluginUninstallParams(plugin_id="q@m"))


async def _switch(life: Life) -> None:
    params = SwitchParams(kind="plugin", id="q@m", enabled=False)
    await life.ask(methods.JACKFIELD_SWITCH, params)


async def _add(life: Life) -> None:
    put_market(life.home / "mk", name="loc")
    await life.ask(methods.MARKETPLACE_ADD, MarketplaceAddParams(source="~/mk"))


async def _remove(life: Life) -> None:
    await life.ask(methods.MARKETPLACE_REMOVE, MarketplaceRemoveParams(marketplace_name="loc"))


async def _forced_list(life: Life) -> None:
    params = PluginListParams(force_refetch=True)
    await life.core.dispatcher.handle("plugin/list", params, _scope())


async def _clean(life: Life) -> None:
    put_plugin(life.home / ".codex/plugins/cache/gone/x/1.0.0", name="x")
    await life.clean("x@gone")


CAUSES: dict[str, Cause] = {
    "install": lambda life: life.install("q"),
    "uninstall": _uninstall,
    "config": _switch,
    "marketplace/add": _add,
    "update": lambda life: life.update(),
    "refresh": _forced_list,
    "orphan/clean": _clean,
}


def followed(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Cause and step of everything that was told to the layers, changes seen on disk aside."""
    told = (record.getMessage().rpartition(": ") for record in caplog.records)
    return [(cause, name) for cause, _, name in told if name in ORDER and cause != "files"]


@pytest.mark.parametrize("cause", CAUSES)
async def test_the_layers_follow_once_and_in_order(
    life: Life, caplog: pytest.LogCaptureFixture, cause: str
):
    caplog.set_level(logging.DEBUG, "core.service.plugin_changes")
    await CAUSES[cause](life)
    with anyio.fail_after(5):
        while len(followed(caplog)) < len(ORDER):
            await anyio.lowlevel.checkpoint()
    assert followed(caplog) == [(cause, name) for name in ORDER]


async def test_a_rollback_makes_the_layers_follow_once(
    life: Life, caplog: pytest.LogCaptureFixture
):
    await life.update()
    caplog.set_level(logging.DEBUG, "core.service.plugin_changes")
    await life.roll_back()
    assert followed(caplog) == [("rollback", name) for name in ORDER]


async def test_the_removal_of_a_marketplace_makes_the_layers_follow_once(
    life: Life, caplog: pytest.LogCaptureFixture
):
    await _add(life)
    caplog.set_level(logging.DEBUG, "core.service.plugin_changes")
    await _remove(life)
    assert followed(caplog) == [("marketplace/remove", name) for name in ORDER]


async def test_what_changes_nothing_makes_nobody_follow(
    life: Life, caplog: pytest.LogCaptureFixture
):
    await life.update()
    caplog.set_level(logging.DEBUG, "core.service.plugin_changes")
    await life.update("p@m")
    await life.pin()
    await _forced_list(life)
    assert followed(caplog) == []


async def test_what_was_written_by_an_operation_that_failed_is_followed_all_the_same(
    life: Life, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    from core.plugins.install.installer import Installer

    async def fail(self: Installer, market: str, plugin: str) -> None:
        raise CoreError("no")

    monkeypatch.setattr(Installer, "remove_copies", fail)
    caplog.set_level(logging.DEBUG, "core.service.plugin_changes")
    with pytest.raises(CoreError, match="no"):
        await _uninstall(life)
    assert followed(caplog) == [("config", name) for name in ORDER]


# --- the servers themselves


async def server(life: Life, name: str, *, gone: bool = False) -> Any:
    """The row of a server, once it is connected; or None once there is none."""
    with anyio.fail_after(20):
        while True:
            row = (await life.rows("servers")).get(name)

            if gone and row is None:
                return None
            if not gone and row is not None and row.status == "connected":
                return row
            await anyio.lowlevel.checkpoint()


def with_server(life: Life, plugin: str, name: str, version: str = "1.0.0") -> None:
    command, *args = mcp_stdio.argv()
    entry = {"mcpServers": {name: {"command": command, "args": args}}}
    put_plugin(life.home / "plugins" / plugin, {".mcp.json": entry}, version=version)


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_servers_start_stay_and_end_as_their_plugins_come_change_and_go(
    deps: Deps, home: Path
):
    async with life_of(deps, home) as life:
        put_market(home, "p", "q")
        with_server(life, "p", "one")
        with_server(life, "q", "two")
        await life.install("p")
        await life.ask(methods.JACKFIELD_PANEL_START, PanelStartParams(consent_all=True))
        one = await server(life, "one")
        assert "two" not in await life.rows("servers")
        await life.install("q")
        two = await server(life, "two")
        assert (await server(life, "one")).pid == one.pid
        with_server(life, "q", "three", "2.0.0")
        await life.update("q@m")
        three = await server(life, "three")
        await server(life, "two", gone=True)
        assert (await server(life, "one")).pid == one.pid
        await life.ask(methods.PLUGIN_UNINSTALL, PluginUninstallParams(plugin_id="p@m"))
        await server(life, "one", gone=True)
        assert (await server(life, "three")).pid == three.pid
        with anyio.fail_after(10):
            while runs(one.pid) or runs(two.pid):
                await anyio.lowlevel.checkpoint()
