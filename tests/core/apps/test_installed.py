from __future__ import annotations

from typing import Any

import pytest

from core.apps.installed import REFRESH_FAILED
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError, InternalError
from core.protocol.apps import AppInstalledParams
from core.protocol.events import InstalledChanged, RefreshFailed, RefreshFinished
from core.service.apps import AppsService
from tests.core.apps.world import AppsWorld, apps_world
from tests.fakes.chatgpt_backend import tool

pytestmark = pytest.mark.anyio

TOOLS = [
    tool("zeta", "Z"),
    tool("alpha", "Alpha Tool"),
    tool("blocked", "Blocked"),
    tool("disabled", "Disabled"),
    tool("alpha", "Duplicate", "dup"),
    tool("", "Empty id", "empty"),
    {"name": "bare", "inputSchema": {"type": "object"}, "_meta": {}},
    tool("link-only", "Link Only", _codex_apps={"synthetic_link": True}),
    tool("app-only", "App only", ui={"visibility": ["app"]}),
    tool("nameless", " ", "nn"),
]
CONFIG = "[apps.blocked]\ndefault_tools_enabled = false\n[apps.disabled]\nenabled = false\n"


async def read(world: AppsWorld, *, forced: bool = False) -> Any:
    apps = await world.installed.read(await world.view(), forced=forced, policy=world.policy)
    return [(app.id, app.runtime_name, app.enabled, app.callable) for app in apps]


async def test_the_snapshot_is_empty_until_it_is_refreshed_once(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.configure(CONFIG)
        world.hosted.tools = list(TOOLS)
        assert await read(world) == []
        assert world.hosted.asked == []
        expected = [
            ("alpha", "Alpha Tool", True, True),
            ("app-only", "App only", True, False),
            ("blocked", "Blocked", True, False),
            ("disabled", "Disabled", False, False),
            ("nameless", None, True, True),
            ("zeta", "Z", True, True),
        ]
        assert await read(world, forced=True) == expected
        assert await read(world) == expected
        assert len(world.hosted.asked) == 1
        assert world.backend.requests == []


async def test_installed_apps_force_refresh_only_refreshes_the_tools_snapshot(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "alpha", "name": "Directory"}]]
        world.hosted.tools = [tool("alpha", "Runtime")]
        await world.list()
        asked, listed = len(world.backend.requests), len(world.hosted.asked)
        world.hosted.tools = [tool("alpha", "Renamed"), tool("beta", "Beta")]
        assert [app[:2] for app in await read(world, forced=True)] == [
            ("alpha", "Renamed"),
            ("beta", "Beta"),
        ]
        assert len(world.backend.requests) == asked
        assert len(world.hosted.asked) == listed + 1


async def test_installed_apps_thread_id_uses_the_effective_thread_config(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("alpha", "Alpha")]
        configs = ConfigStore(Home.of(deps), deps, {"apps.alpha.enabled": False})
        threads = {
            "off": configs.load(None),
            "read-only": ConfigStore(Home.of(deps), deps, {"sandbox_mode": "read-only"}).load(None),
            "full": ConfigStore(Home.of(deps), deps, {"sandbox_mode": "danger-full-access"}).load(
                None
            ),
        }
        service = AppsService(world.layer, Threads(threads))

        async def ask(thread: str | None, forced: bool = False) -> list[tuple[str, bool, bool]]:
            params = AppInstalledParams(thread_id=thread, force_refresh=forced)
            result = await service.installed(params, world.scope())
            return [(app.id, app.enabled, app.callable) for app in result.apps]

        assert await ask("full", forced=True) == [("alpha", True, True)]
        assert await ask("off") == [("alpha", False, False)]
        assert await ask(None) == [("alpha", True, True)]
        await ask("read-only", forced=True)
        full, read_only = world.hosted.asked
        assert full == read_only


class Threads:
    """Threads by id, each with a configuration of its own."""

    def __init__(self, configs: dict[str, Any]) -> None:
        self._configs = configs

    def config_of(self, thread_id: str) -> Any:
        return self._configs[thread_id]


async def test_an_emptied_catalogue_is_a_snapshot_too(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a")]
        assert await read(world, forced=True) != []
        world.hosted.tools = []
        assert await read(world, forced=True) == []
        assert await read(world) == []


async def test_installed_apps_failed_force_refresh_retains_the_previous_snapshot(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a")]
        before = await read(world, forced=True)
        world.hosted.failure = CoreError("HTTP 503 from apps.example")
        with pytest.raises(InternalError) as caught:
            await read(world, forced=True)
        assert caught.value.message == REFRESH_FAILED
        assert await read(world) == before
        await world.installed.refresh(forced=True)
        [failed] = world.of(RefreshFailed)
        assert (failed.domain, failed.message) == ("installed", "HTTP 503 from apps.example")
        finished = world.of(RefreshFinished)[-1]
        assert (finished.outcome, finished.kept_previous) == ("failed", True)
        assert list(world.installed.owner.current.rows) == ["a"]


async def test_each_read_tells_how_it_went_failed_ones_too(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:

        def last() -> Any:
            read = world.installed.last_read
            assert read is not None
            return read.disposition, read.retained, read.tools

        world.hosted.tools = [tool("a"), tool("b")]
        await read(world)
        assert last() == ("notRequested", False, 0)
        await read(world, forced=True)
        assert last() == ("success", False, 2)
        world.hosted.failure = CoreError("HTTP 503 from apps.example")
        with pytest.raises(InternalError):
            await read(world, forced=True)
        assert last() == ("error", True, 2)
        await world.installed.refresh(forced=True)
        assert last() == ("error", True, 2)
        world.configure("features.apps = false")
        await read(world, forced=True)
        assert last() == ("skippedAppsDisabled", True, 2)
        (world.codex_home / "auth.json").unlink()
        await read(world, forced=True)
        assert last() == ("notStarted", False, 0)
        detail = await world.service.detail("a")
        assert detail["snapshotRead"]["disposition"] == "notStarted"


async def test_the_snapshot_outlives_the_process(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a", "App A")]
        await read(world, forced=True)
        [kept] = (deps.cache_dir / "apps").glob("*-tools.json")
        content = kept.read_bytes()
        assert kept.stat().st_mode & 0o777 == 0o600
    async with apps_world(deps, home) as world:
        account = await world.account.backend_account()
        assert account is not None
        (deps.cache_dir / "apps" / f"{account.identity}-tools.json").write_bytes(content)
        assert await read(world) == [("a", "App A", True, True)]
        assert world.hosted.asked == []


async def test_with_the_feature_off_all_is_off_and_nobody_is_asked(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a")]
        await read(world, forced=True)
        world.configure("features.apps = false")
        assert await read(world, forced=True) == [("a", "A", False, False)]
        assert len(world.hosted.asked) == 1


async def test_rows_say_why_an_app_is_not_callable(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.configure(CONFIG)
        world.hosted.tools = list(TOOLS)
        await world.installed.refresh(forced=True)
        rows = world.installed.owner.current.rows
        assert {key: (row.callable, row.reason) for key, row in rows.items()} == {
            "alpha": (True, ""),
            "app-only": (False, "no tool: for the app's own page only"),
            "blocked": (False, "no tool: off, config.toml:3"),
            "disabled": (False, "off, config.toml:5"),
            "nameless": (True, ""),
            "zeta": (True, ""),
        }
        assert (rows["alpha"].tools, rows["alpha"].callable_tools) == (2, 2)
        assert (rows["blocked"].tools, rows["blocked"].callable_tools) == (1, 0)


async def test_the_snapshots_tools_are_rows_and_a_listener_hears_of_changes(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        heard: list[int] = []
        world.installed.listen(lambda: heard.append(len(world.installed.snapshot_tools())))
        world.hosted.tools = [
            {**tool("b", "B"), "annotations": {"destructiveHint": True}},
            {**tool("a", "A"), "title": "Do it"},
        ]
        await world.installed.refresh(forced=True)
        first, second = world.installed.snapshot_tools()
        assert (first.id, first.owner, first.source, first.title, first.effect) == (
            "codex_apps/a_tool",
            "a",
            "app",
            "Do it",
            "reads",
        )
        assert (second.owner, second.effect, second.callable) == ("b", "destroys", True)
        assert second.tokens > 10
        await world.installed.refresh(forced=True)
        assert heard == [2]
        world.configure("[apps.a]\nenabled = false")
        await world.installed.reconsider()
        assert heard == [2, 2]
        assert not world.installed.snapshot_tools()[0].callable


async def test_another_account_has_a_snapshot_of_its_own(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a")]
        await world.installed.refresh(forced=True)
        world.sign_in(user="user-2")
        await world.installed.refresh(forced=False)
        assert dict(world.installed.owner.current.rows) == {}
        assert world.of(InstalledChanged)[-1].removed == ("a",)
        assert await read(world) == []
        world.sign_in()
        assert await read(world) == [("a", "A", True, True)]


async def test_a_refresh_that_another_account_overtakes_is_thrown_away(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a")]
        ask = world.hosted.list_hosted_tools

        async def switch(*args: Any, **kwargs: Any) -> Any:
            tools = await ask(*args, **kwargs)
            world.sign_in(user="user-2")
            return tools

        world.hosted.list_hosted_tools = switch  # type: ignore[method-assign]
        await world.installed.refresh(forced=True)
        assert dict(world.installed.owner.current.rows) == {}
        assert await read(world) == []
