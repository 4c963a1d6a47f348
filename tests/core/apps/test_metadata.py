from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from core.errors import InternalError, InvalidParams
from core.seams import NamedApp
from tests.core.apps.world import AppsWorld, apps_world
from tests.fakes.chatgpt_backend import Answer

pytestmark = pytest.mark.anyio
BATCH = "/ps/apps/batch"
TOOLS = [
    {"name": "act_a", "description": "Action A", "title": "T A", "is_read_only": True},
    {"name": "act_c", "description": "C", "is_enabled": False, "disabled_reason": "admin"},
]


def app(key: str, name: str, **members: Any) -> dict[str, Any]:
    return {"id": key, "name": name, "icon_url": "iu", "unknown": 1, "tools": TOOLS, **members}


async def read(world: AppsWorld, *keys: str, tools: bool = False) -> Any:
    return await world.metadata.read(keys, include_tools=tools, view=await world.view())


def as_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def bodies(world: AppsWorld) -> list[Any]:
    return [asked.body for asked in world.backend.requests]


async def test_app_read_de_duplicates_keeps_first_request_order_reports_partial_misses_and_reuses_cached_metadata(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha"), "beta": app("beta", "Be ta!")}
        result = await read(world, "beta", "missing", "alpha", "beta", "forbidden")
        assert [entry.id for entry in result.apps] == ["beta", "alpha"]
        assert result.missing_app_ids == ("missing", "forbidden")
        assert bodies(world) == [
            {"app_ids": ["beta", "missing", "alpha", "forbidden"], "include_tools": False}
        ]
        assert as_json(result.apps[0]) == {
            "id": "beta",
            "name": "Be ta!",
            "description": None,
            "iconUrl": "iu",
            "iconUrlDark": None,
            "distributionChannel": None,
            "installUrl": "https://chatgpt.com/apps/be-ta/beta",
            "pluginDisplayNames": [],
            "toolSummaries": None,
        }
        again = await read(world, "alpha", "beta", "alpha")
        assert [entry.id for entry in again.apps] == ["alpha", "beta"]
        assert len(bodies(world)) == 1


async def test_app_read_refetches_metadata_only_cache_entries_when_tools_are_requested(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha"), "beta": app("beta", "Beta")}
        await read(world, "alpha", "beta")
        await read(world, "beta", tools=True)
        both = await read(world, "alpha", "beta", tools=True)
        assert [len(entry.tool_summaries or ()) for entry in both.apps] == [2, 2]
        assert bodies(world)[1:] == [
            {"app_ids": ["beta"], "include_tools": True},
            {"app_ids": ["alpha"], "include_tools": True},
        ]


async def test_app_read_reuses_cached_metadata_and_asks_again_only_for_tools_and_misses(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha"), "beta": app("beta", "Beta")}
        await read(world, "alpha", "beta")
        await read(world, "beta", "alpha")
        assert len(bodies(world)) == 1
        with_tools = await read(world, "alpha", tools=True)
        assert as_json(with_tools.apps[0])["toolSummaries"] == [
            {
                "name": "act_a",
                "title": "T A",
                "description": "Action A",
                "isEnabled": True,
                "disabledReason": None,
                "isReadOnly": True,
            },
            {
                "name": "act_c",
                "title": None,
                "description": "C",
                "isEnabled": False,
                "disabledReason": "admin",
                "isReadOnly": False,
            },
        ]
        assert (await read(world, "alpha")).apps[0].tool_summaries is None
        assert (await read(world, "alpha", tools=True)).apps[0].tool_summaries
        assert len(bodies(world)) == 2
        await read(world, "nobody")
        await read(world, "nobody", "alpha")
        assert [body["app_ids"] for body in bodies(world)[2:]] == [["nobody"], ["nobody"]]


async def test_app_read_rejects_more_than_one_hundred_input_ids(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        (world.codex_home / "auth.json").unlink()
        with pytest.raises(InvalidParams) as caught:
            await read(world, *["a"] * 101)
        assert (caught.value.code, caught.value.message) == (
            -32602,
            "app/read accepts at most 100 appIds",
        )
        assert (await read(world, *["a"] * 100)).missing_app_ids == ("a",)


async def test_nothing_of_a_failed_answer_is_kept_and_what_was_known_stays(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha")}
        await read(world, "alpha")
        world.backend.answers["batch"] = Answer(500, b"forced")
        with pytest.raises(InternalError) as caught:
            await read(world, "alpha", "uncached")
        assert caught.value.message == (
            "failed to read app metadata: Request failed with status 500 Internal Server Error: "
            "forced"
        )
        assert [entry.id for entry in (await read(world, "alpha")).apps] == ["alpha"]
        world.backend.answers.clear()
        world.backend.apps["noname"] = {"id": "noname"}
        with pytest.raises(InternalError, match="metadata: Failed to parse JSON response"):
            await read(world, "noname")


async def test_ids_travel_as_they_are_and_answers_for_others_are_ignored(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"mine": app("other", "Other")}
        result = await read(world, "mine", " mine ")
        assert (result.apps, result.missing_app_ids) == ((), ("mine", " mine "))
        assert bodies(world)[0]["app_ids"] == ["mine", " mine "]


async def test_plugins_that_name_an_app_are_listed_sorted(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha")}
        world.plugins.named = [
            NamedApp(app_id="alpha", plugin_id="p@m", plugin_display_name=name)
            for name in ("Zebra", "Aardvark")
        ]
        result = await read(world, "alpha")
        assert result.apps[0].plugin_display_names == ("Aardvark", "Zebra")


async def test_another_account_is_asked_for_its_own(deps: Any, home: Any) -> None:
    async with apps_world(deps, home) as world:
        world.backend.apps = {"alpha": app("alpha", "Alpha")}
        await read(world, "alpha")
        world.sign_in(user="user-2")
        await read(world, "alpha")
        assert len(bodies(world)) == 2


async def test_with_apps_off_everything_is_missing_and_nobody_is_asked(
    deps: Any, home: Any
) -> None:
    async with apps_world(deps, home) as world:
        world.configure("features.apps = false")
        assert (await read(world, "a", "b", "a")).missing_app_ids == ("a", "b")
        assert bodies(world) == []
