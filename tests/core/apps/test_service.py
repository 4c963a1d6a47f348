from __future__ import annotations

from typing import Any

import pytest

from core.errors import InvalidRequest
from core.protocol.apps import AppInstalledParams, AppListParams, AppReadParams
from tests.core.apps.world import apps_world
from tests.fakes.chatgpt_backend import tool

pytestmark = pytest.mark.anyio


async def test_pages_are_cut_by_index_and_checked_after_loading(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": key, "name": key} for key in "abc"]]

        async def ask(**params: Any) -> Any:
            return await world.service.list(AppListParams(**params), world.scope())

        first = await ask(limit=2)
        assert ([app.id for app in first.data], first.next_cursor) == (["a", "b"], "2")
        second = await ask(cursor="2", limit=2)
        assert ([app.id for app in second.data], second.next_cursor) == (["c"], None)
        assert [app.id for app in (await ask(limit=0)).data] == ["a"]
        assert (await ask(cursor="3")).data == ()
        for cursor, message in (
            ("4", "cursor 4 exceeds total apps 3"),
            ("x", "invalid cursor: x"),
            ("-1", "invalid cursor: -1"),
            ("1.0", "invalid cursor: 1.0"),
            (" 1", "invalid cursor:  1"),
            ("", "invalid cursor: "),
            ("٣", "invalid cursor: ٣"),
        ):
            with pytest.raises(InvalidRequest) as caught:
                await ask(cursor=cursor)
            assert caught.value.message == message


async def test_without_a_sign_in_not_even_the_cursor_is_looked_at(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        (world.codex_home / "auth.json").unlink()
        scope = world.scope()
        result = await world.service.list(AppListParams(cursor="x"), scope)
        assert (result.data, result.next_cursor) == ((), None)
        read = await world.service.read(AppReadParams(app_ids=["a", "b", "a"]), scope)
        assert (read.apps, read.missing_app_ids) == ((), ("a", "b"))
        installed = await world.service.installed(AppInstalledParams(force_refresh=True), scope)
        assert installed.apps == ()


async def test_updates_leave_before_the_answer(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A"}]]
        world.hosted.tools = [tool("a")]
        log: list[tuple[str, Any]] = []
        result = await world.service.list(AppListParams(), world.scope(log))
        assert {method for method, _ in log} == {"app/list/updated"}
        assert log[-1][1].data == result.data


async def test_the_details_of_an_app_bring_all_layers_together_and_ask_nobody(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.pages = [[{"id": "a", "name": "A", "description": "about"}]]
        world.hosted.tools = [tool("a")]
        await world.apps.refresh(forced=True)
        await world.installed.refresh(forced=False)
        asked = len(world.backend.requests)
        detail = await world.service.detail("a")
        assert detail["app"]["accessible"] is True
        assert detail["directory"]["description"] == "about"
        assert detail["installed"]["callable"] is True
        assert [row["id"] for row in detail["tools"]] == ["codex_apps/a_tool"]
        assert await world.service.detail("nobody") == {
            "app": None,
            "directory": None,
            "installed": None,
            "tools": [],
            "snapshotRead": None,
        }
        assert len(world.backend.requests) == asked


async def test_the_details_of_a_tool_hold_its_declaration(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.hosted.tools = [tool("a", "App A")]
        await world.installed.refresh(forced=True)
        detail = world.service.tool_detail("codex_apps/a_tool")
        assert detail is not None
        assert detail["app"] == "App A"
        assert detail["tool"]["owner"] == "a"
        assert detail["declaration"]["inputSchema"] == {"type": "object"}
        assert world.service.tool_detail("codex_apps/nothing") is None
