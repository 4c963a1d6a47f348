from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.compose import Core, open_core
from core.errors import CoreError, InternalError, InvalidRequest
from core.ports import Deps
from core.protocol.events import Event, OperationProgress
from core.protocol.marketplaces import (
    MarketplaceAddParams,
    MarketplaceRemoveParams,
    MarketplaceUpgradeParams,
)
from core.protocol.plugin_params import (
    PluginInstallParams,
    PluginListParams,
    PluginUninstallParams,
)
from core.scope import Caller, RequestScope
from core.service.plugin_changes import PluginChanges, PluginSet, Step, step
from core.threads.policy import CODEX
from tests.core.plugins.install.world import URL, Workshop, workshop
from tests.core.plugins.world import put, put_market, put_plugin

pytestmark = pytest.mark.anyio
SCOPE = RequestScope(caller=Caller(policy=CODEX))
FILE = ".agents/plugins/marketplace.json"


class Bench:
    """The service over a workshop, with what it has told."""

    def __init__(self, shop: Workshop) -> None:
        self.shop = shop
        self.events: list[Event] = []
        self.steps: list[str] = []
        names = ("manifests", "skills", "servers", "hooks")
        plugin_set = PluginSet(*((name, self._step(name)) for name in names))
        self.service = PluginChanges(
            shop.deps,
            shop.configs,
            lambda: "none",
            shop.installer,
            shop.adder,
            shop.remover,
            shop.upgrader,
            plugin_set,
            self.events.append,
        )
        self.home = shop.home.home
        self.market = put_market(self.home, "p", "broken")
        put_plugin(self.home / "plugins/p", version="1")

    def _step(self, name: str) -> Step:
        return step(lambda: self.steps.append(name))

    async def install(self, name: str = "p") -> Any:
        params = PluginInstallParams(marketplace_path=str(self.market), plugin_name=name)
        return await self.service.install(params, SCOPE)

    async def uninstall(self, plugin_id: str = "p@m") -> Any:
        return await self.service.uninstall(PluginUninstallParams(plugin_id=plugin_id), SCOPE)

    def told(self) -> list[tuple[str, str, str]]:
        """Verb, subject and state of every step of an operation, each once in a row."""
        rows: list[tuple[str, str, str]] = []
        for event in self.events:
            assert isinstance(event, OperationProgress)
            row = (event.verb, event.subject, event.state)
            if not rows or rows[-1] != row:
                rows.append(row)
        return rows


@asynccontextmanager
async def bench_of(deps: Deps, root: Path) -> AsyncGenerator[Bench]:
    async with workshop(deps, root) as shop:
        yield Bench(shop)


@pytest.fixture
async def bench(deps: Deps, tmp_path: Path) -> AsyncGenerator[Bench]:
    async with bench_of(deps, tmp_path) as made:
        yield made


async def refused(call: Awaitable[Any]) -> CoreError:
    with pytest.raises(CoreError) as caught:
        await call
    return caught.value


ONCE = ["manifests", "skills", "servers", "hooks"]


@pytest.mark.needs("git")
async def test_every_cause_makes_the_layers_stale_once_and_in_order(bench: Bench):
    bench.shop.repository("mk.git", {FILE: {"name": "gm", "plugins": []}})
    add = MarketplaceAddParams(source=f"{URL}mk.git")
    causes: dict[str, Callable[[], Awaitable[Any]]] = {
        "install": bench.install,
        "install again": bench.install,
        "uninstall": bench.uninstall,
        "add": lambda: bench.service.add(add, SCOPE),
        "upgrade": lambda: bench.service.upgrade(MarketplaceUpgradeParams(), SCOPE),
        "remove": lambda: bench.service.remove(
            MarketplaceRemoveParams(marketplace_name="gm"), SCOPE
        ),
    }
    for cause, run in causes.items():
        bench.steps.clear()
        await run()
        assert bench.steps == ONCE, cause


@pytest.mark.needs("git")
async def test_what_changes_nothing_makes_nothing_stale(bench: Bench):
    put_market(bench.home / "mk", name="loc")
    add = MarketplaceAddParams(source="~/mk")
    await bench.service.add(add, SCOPE)
    bench.steps.clear()
    assert (await bench.service.add(add, SCOPE)).already_added
    upgraded = await bench.service.upgrade(MarketplaceUpgradeParams(), SCOPE)
    assert upgraded.model_dump(by_alias=True) == {
        "selectedMarketplaces": [],
        "upgradedRoots": [],
        "errors": [],
    }
    await refused(bench.install("broken"))
    assert bench.steps == []


async def test_a_layer_that_fails_does_not_hold_up_the_next():
    done: list[str] = []

    async def fail(cause: str, scope: RequestScope) -> None:
        raise InternalError("no")

    await PluginSet(("first", fail), ("second", step(lambda: done.append("x")))).changed("c", SCOPE)
    assert done == ["x"]


async def test_an_operation_is_told_from_its_beginning_to_its_end(bench: Bench):
    answer = await bench.install()
    assert (answer.auth_policy, answer.apps_needing_auth) == ("ON_INSTALL", ())
    await refused(bench.install("broken"))
    await bench.uninstall()
    assert bench.told() == [
        ("install", "p@m", "running"),
        ("install", "p@m", "done"),
        ("install", "broken@m", "running"),
        ("install", "broken@m", "failed"),
        ("uninstall", "p@m", "running"),
        ("uninstall", "p@m", "done"),
    ]
    failed = next(one for one in bench.events if getattr(one, "state", "") == "failed")
    assert isinstance(failed, OperationProgress)
    assert failed.note == "missing plugin.json"


async def test_a_cancelled_operation_is_told_as_such(bench: Bench):
    with anyio.CancelScope() as scope:
        scope.cancel()
        await bench.service.remove(MarketplaceRemoveParams(marketplace_name="x"), SCOPE)
    assert bench.told()[-1] == ("remove", "x", "cancelled")


@pytest.mark.parametrize(
    ("path", "remote", "message"),
    [
        (
            None,
            None,
            "plugin/install requires exactly one of marketplacePath or remoteMarketplaceName",
        ),
        (
            "/x",
            "y",
            "plugin/install requires exactly one of marketplacePath or remoteMarketplaceName",
        ),
        (
            None,
            "y",
            "read remote plugin details before install: "
            "chatgpt authentication required for remote plugin catalog",
        ),
        ("/nowhere/x.json", None, "marketplace file `/nowhere/x.json` does not exist"),
    ],
)
async def test_what_cannot_be_asked_for(
    bench: Bench, path: str | None, remote: str | None, message: str
):
    params = PluginInstallParams(
        marketplace_path=path, remote_marketplace_name=remote, plugin_name="p"
    )
    error = await refused(bench.service.install(params, SCOPE))
    assert isinstance(error, InvalidRequest)
    assert error.message == message
    assert bench.events == []


@pytest.mark.parametrize(
    ("plugin_id", "message"),
    [
        (
            "p",
            "resolve remote plugin before uninstall: "
            "chatgpt authentication required for remote plugin catalog",
        ),
        ("a b", "invalid remote plugin id"),
        ("", "invalid remote plugin id"),
        ("@m", "invalid remote plugin id"),
        ("a@b@c", "invalid remote plugin id"),
        ("a@b.c", "invalid remote plugin id"),
    ],
)
async def test_ids_that_are_no_plugins_of_this_machine(bench: Bench, plugin_id: str, message: str):
    assert (await refused(bench.uninstall(plugin_id))).message == message


async def test_a_broken_configuration_is_told_as_the_real_one_does(bench: Bench):
    put(bench.shop.home.config_file, "x = [\n")
    assert (await refused(bench.uninstall())).message == (
        "failed to clear plugin config: TOML parse error at line 1, column 6\n"
        "  |\n1 | x = [\n  |      ^\nunclosed array, expected `]`\n"
    )


async def test_a_directory_in_the_place_of_the_configuration(bench: Bench):
    bench.shop.home.config_file.mkdir(parents=True)
    error = await refused(bench.uninstall())
    assert isinstance(error, InternalError)
    assert error.message == "failed to clear plugin config: Is a directory (os error 21)"


async def test_a_read_only_core_changes_nothing(deps: Deps, tmp_path: Path):
    async with bench_of(replace(deps, read_only=True), tmp_path) as bench:
        for call in (
            bench.install(),
            bench.uninstall(),
            bench.service.add(MarketplaceAddParams(source="~/x"), SCOPE),
            bench.service.remove(MarketplaceRemoveParams(marketplace_name="x"), SCOPE),
            bench.service.upgrade(MarketplaceUpgradeParams(), SCOPE),
        ):
            assert (await refused(call)).message == "Jackfield runs read-only"
        assert not bench.shop.home.codex_home.joinpath("plugins").exists()


# --- the whole core ---


async def ask(core: Core, method: str, params: Any, scope: RequestScope = SCOPE) -> Any:
    return await core.dispatcher.handle(method, params, scope)


def versions(home: Path) -> list[str]:
    folder = home / ".codex/plugins/cache/m/p"
    return sorted(os.listdir(folder)) if folder.exists() else []


async def test_a_forced_list_waits_for_the_upgrade_of_a_plugin_under_the_same_path(
    deps: Deps, home: Path
):
    path = put_market(home, "p")
    put_plugin(home / "plugins/p", version="1")
    async with open_core(deps) as core:
        params = PluginInstallParams(marketplace_path=str(path), plugin_name="p")
        await ask(core, "plugin/install", params)
        put_plugin(home / "plugins/p", version="2")
        await ask(core, "plugin/list", PluginListParams(force_refetch=True))
        assert versions(home) == ["2"]


async def test_the_panels_list_installs_nothing(deps: Deps, home: Path):
    put_market(home, "p")
    put_plugin(home / "plugins/p", version="1")
    put(home / ".codex/config.toml", '[plugins."p@m"]\n')
    async with open_core(deps) as core:
        client = core.client()
        from core.method_table import PLUGIN_LIST

        await client.call(PLUGIN_LIST, PluginListParams(force_refetch=True))
        assert versions(home) == []


async def test_an_unforced_list_installs_after_its_answer(deps: Deps, home: Path):
    put_market(home, "p")
    put_plugin(home / "plugins/p", version="1")
    put(home / ".codex/config.toml", '[plugins."p@m"]\n')
    later: list[Callable[[], None]] = []
    scope = replace(SCOPE, after_answer=later.append)
    async with open_core(deps) as core:
        await ask(core, "plugin/list", PluginListParams(), scope)
        assert versions(home) == []
        for run in later:
            run()
        # A forced list takes its turn after the background's.
        await ask(core, "plugin/list", PluginListParams(force_refetch=True))
        assert versions(home) == ["1"]
