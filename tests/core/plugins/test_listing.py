"""plugin/list and plugin/installed: what they find, and how faults stay where they belong."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import anyio
import pytest

from core.plugins import listing
from core.plugins.discovery import Candidate, Place
from core.plugins.state import PluginStates
from core.protocol.plugin_params import PluginInstalledParams, PluginListParams
from core.protocol.plugins import GitSource, PluginListResult, PluginSummary
from tests.core.plugins.world import (
    CODEX_PLACE,
    SCOPE,
    World,
    ids,
    put,
    put_market,
    put_plugin,
)

pytestmark = pytest.mark.anyio


def the(result: PluginListResult, plugin_id: str) -> PluginSummary:
    (plugin,) = [
        plugin
        for market in result.marketplaces
        for plugin in market.plugins
        if plugin.id == plugin_id
    ]
    return plugin


async def test_an_invalid_marketplace_file_is_skipped_and_its_error_reported(
    world: World, tmp_path: Path
):
    bad = put(tmp_path / CODEX_PLACE, '{"name": "bad",\n  "plugins": [oops]}')
    result = await world.listed(tmp_path)
    assert result.marketplaces == ()
    (error,) = result.marketplace_load_errors
    assert error.marketplace_path == str(bad)
    reason = "expected value at line 2 column 15"
    assert error.message == f"invalid marketplace file `{bad}`: {reason}"


async def test_valid_marketplaces_stay_when_another_fails_to_load(world: World, tmp_path: Path):
    put_market(world.user, "a", name="mine")
    put(tmp_path / "bad" / CODEX_PLACE, "[")
    put_market(tmp_path / "good", "b", name="good")
    world.add_market(tmp_path / "bad", "bad")
    world.add_market(tmp_path / "good", "good")
    result = await world.listed()
    assert ids(result) == ["a@mine", "b@good"]
    assert len(result.marketplace_load_errors) == 1


async def test_install_and_enabled_state_come_from_config(world: World):
    put_market(world.user, "on", "off", "cached", "wanted", "plain")
    for name in ("on", "off", "cached"):
        world.install(f"{name}@m")
    world.switch("on@m", True)
    world.switch("off@m", False)
    world.switch("wanted@m", True)
    result = await world.listed()
    state = {
        plugin.name: (plugin.installed, plugin.enabled) for plugin in result.marketplaces[0].plugins
    }
    assert state == {
        "on": (True, True),
        "off": (True, False),
        "cached": (False, False),
        "wanted": (False, True),
        "plain": (False, False),
    }


async def test_marketplaces_come_home_first_and_then_by_path(world: World, tmp_path: Path):
    for name in ("zeta", "alpha"):
        put_market(tmp_path / name, "p", name=name)
        world.add_market(tmp_path / name, name)
    put_market(world.user, "p", name="mine")
    assert ids(await world.listed()) == ["p@mine", "p@alpha", "p@zeta"]


async def test_a_plugin_id_is_listed_once_the_first_marketplace_wins(world: World, tmp_path: Path):
    put_market(world.user, "p", name="same")
    put_market(tmp_path / "other", "p", "q", name="same")
    world.add_market(tmp_path / "other", "same")
    assert ids(await world.listed()) == ["p@same", "q@same"]


async def test_a_marketplace_without_a_usable_plugin_is_not_listed(world: World):
    put_market(world.user, {"name": "x", "source": {"source": "github", "repo": "a/b"}})
    result = await world.listed()
    assert result.marketplaces == ()
    assert result.marketplace_load_errors == ()


async def test_a_local_plugin_tells_what_its_manifest_says(world: World):
    put_market(
        world.user,
        {"name": "p", "source": "./plugins/p", "category": "Tools"},
        interface={"displayName": "Mine"},
    )
    put_plugin(
        world.user / "plugins/p", version="1.2", keywords=["k"], interface={"displayName": "Pea"}
    )
    result = await world.listed()
    interface = result.marketplaces[0].interface
    assert interface is not None
    assert interface.display_name == "Mine"
    plugin = the(result, "p@m")
    assert (plugin.local_version, plugin.keywords) == ("1.2", ("k",))
    assert plugin.interface is not None
    assert (plugin.interface.display_name, plugin.interface.category) == ("Pea", "Tools")


async def test_a_plugin_whose_manifest_is_broken_is_listed_bare(world: World):
    put_market(world.user, "p")
    put(world.user / "plugins/p/.codex-plugin/plugin.json", "{")
    plugin = the(await world.listed(), "p@m")
    assert (plugin.local_version, plugin.interface) == (None, None)


async def test_a_git_plugin_tells_what_its_installed_copy_says(world: World):
    put_market(world.user, {"name": "p", "source": {"source": "url", "url": "a/b"}})
    assert the(await world.listed(), "p@m").source == GitSource("https://github.com/a/b.git")
    world.install("p@m", version="3.0", copy="3.0")
    world.switch("p@m")
    plugin = the(await world.listed(), "p@m")
    assert (plugin.installed, plugin.local_version) == (True, "3.0")


async def test_a_repository_is_found_from_a_directory_inside(world: World, tmp_path: Path):
    put(tmp_path / "repo/.git/HEAD", "x")
    put_market(tmp_path / "repo", "p")
    inner = tmp_path / "repo/src"
    inner.mkdir()
    assert ids(await world.listed(inner)) == ["p@m"]
    assert ids(await world.listed()) == []


async def test_nothing_is_found_where_plugins_are_turned_off(world: World):
    put_market(world.user, "p")
    world.configure("[features]\nplugins = false")
    assert await world.listed() == PluginListResult(marketplaces=())


async def test_other_kinds_than_local_leave_the_local_ones_out(world: World):
    put_market(world.user, "p")
    params = PluginListParams(marketplace_kinds=["vertical"])
    world.account = "chatgpt"
    answer = await world.service.list(params, SCOPE)
    assert b"p@m" not in answer.body


async def test_installed_lists_what_is_installed_and_what_is_suggested_by_name(world: World):
    put_market(world.user, "in", "out", "hinted")
    world.install("in@m")
    world.switch("in@m")
    params = PluginInstalledParams(install_suggestion_plugin_names=["hinted"])
    result = await world.service.installed(params, SCOPE)
    assert [plugin.name for plugin in result.marketplaces[0].plugins] == ["in", "hinted"]


async def test_a_manifest_that_changes_is_read_again(world: World):
    put_market(world.user, "p")
    root = put_plugin(world.user / "plugins/p", version="1")
    assert the(await world.listed(), "p@m").local_version == "1"
    put_plugin(root, version="2.0")
    assert the(await world.listed(), "p@m").local_version == "2.0"


async def test_listing_writes_nothing(world: World, tmp_path: Path):
    put_market(world.user, "p")
    put_plugin(world.user / "plugins/p")
    world.add_market(tmp_path / "gone", "gone")

    def everything() -> list[tuple[str, int]]:
        return sorted(
            (path, os.stat(path).st_mtime_ns)
            for base, _, files in os.walk(world.user)
            for path in [base, *(os.path.join(base, file) for file in files)]
        )

    before = everything()
    await world.listed(tmp_path)
    assert everything() == before


async def test_a_candidate_that_is_nowhere_gives_nothing(world: World, tmp_path: Path):
    from core.plugins.workers import Turns

    candidate = Candidate(kind="local", root=str(tmp_path / "gone"), key="gone")
    states = PluginStates(world.home, [])
    assert world.lists.read_candidate(candidate, states, Turns(resting=False)) is None


async def test_a_marketplace_that_does_not_answer_is_told_and_delays_no_other(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    put_market(world.user, "p")
    world.add_market(tmp_path / "dead", "dead")
    free = threading.Event()
    real = listing.resolve

    def resolve(candidate: Candidate) -> Place | None:
        if candidate.key == "dead":
            free.wait(30)
        return real(candidate)

    monkeypatch.setattr(listing, "resolve", resolve)
    monkeypatch.setattr(listing, "DEADLINE", 0.2)
    try:
        with anyio.fail_after(10):
            result = await world.listed()
    finally:
        free.set()
    assert ids(result) == ["p@m"]
    (error,) = result.marketplace_load_errors
    assert error.marketplace_path == str(tmp_path / "dead")
    assert error.message == "failed to read marketplace file: no answer within 0 s"


async def test_a_project_whose_configuration_is_refused_is_told_and_takes_no_other_down(
    world: World, tmp_path: Path
):
    put(tmp_path / "bad/.git/HEAD", "x")
    put(tmp_path / "bad/.codex/config.toml", "model = 7")
    world.configure(f'[projects."{tmp_path / "bad"}"]\ntrust_level = "trusted"')
    put_market(tmp_path / "good", "p")
    result = await world.listed(tmp_path / "bad", tmp_path / "good")
    assert ids(result) == ["p@m"]
    (error,) = result.marketplace_load_errors
    assert error.marketplace_path == str(tmp_path / "bad")
    assert error.message.startswith("failed to reload config: ")
