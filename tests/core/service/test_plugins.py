"""plugin/*, skills/* and hooks/list as a client asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from core.config.edit import ConfigEditor
from core.errors import CoreError, InvalidParams
from core.ports import Deps
from core.protocol.plugin_params import (
    PluginListParams,
    PluginReadParams,
    PluginReconcileParams,
    PluginSearchParams,
    PluginShareDeleteParams,
    PluginShareListParams,
    PluginSkillReadParams,
)
from core.protocol.plugins import PluginReconcileResult
from core.protocol.skill_params import (
    HooksListParams,
    SkillsConfigWriteParams,
    SkillsExtraRootsSetParams,
    SkillsListParams,
)
from core.service.plugins import PluginService
from tests.core.plugins.world import SCOPE, World, put, put_market, put_plugin

pytestmark = pytest.mark.anyio

NEEDS_CHATGPT = "chatgpt authentication required for remote plugin catalog"
NO_KEYS = f"{NEEDS_CHATGPT}; api key auth is not supported"


@pytest.fixture
def world(deps: Deps) -> World:
    return World(deps)


async def refusal(world: World, method: str, params: Any) -> str:
    handler = world.service.handlers()[method]
    with pytest.raises(CoreError) as caught:
        await handler(params, SCOPE)
    return caught.value.message


# --- what needs the backend ---


@pytest.mark.parametrize(("account", "reason"), [("none", NEEDS_CHATGPT), ("apiKey", NO_KEYS)])
async def test_the_catalog_is_refused_without_a_chatgpt_sign_in(
    world: World, account: str, reason: str
):
    world.account = account
    kinds = PluginListParams(marketplace_kinds=["workspace-directory"])
    told = await refusal(world, "plugin/list", kinds)
    assert told == f"list remote plugin catalog: {reason}"
    remote = PluginReadParams(remote_marketplace_name="r", plugin_name="p1")
    told = await refusal(world, "plugin/read", remote)
    assert told == f"read remote plugin details: {reason}"
    skill = PluginSkillReadParams(
        remote_marketplace_name="r", remote_plugin_id="p1", skill_name="s"
    )
    told = await refusal(world, "plugin/skill/read", skill)
    assert told == f"read remote plugin skill details: {reason}"
    told = await refusal(world, "plugin/share/list", PluginShareListParams())
    assert told == f"list remote plugin shares: {reason}"


async def test_the_catalog_is_not_offered_with_one_either(world: World):
    world.account = "chatgpt"
    told = await refusal(world, "plugin/share/list", PluginShareListParams())
    assert told.endswith("the remote plugin catalog is not offered by Jackfield")


async def test_what_can_be_no_remote_id_is_refused_first(world: World):
    remote = PluginReadParams(remote_marketplace_name="r", plugin_name="p 1")
    assert (await refusal(world, "plugin/read", remote)).startswith("invalid remote plugin id: ")
    gone = PluginShareDeleteParams(remote_plugin_id="p/1")
    assert await refusal(world, "plugin/share/delete", gone) == "invalid remote plugin id"
    skill = PluginSkillReadParams(remote_marketplace_name="r", remote_plugin_id="p", skill_name="")
    told = await refusal(world, "plugin/skill/read", skill)
    assert told == "invalid remote plugin skill name: cannot be empty"


async def test_where_plugins_are_turned_off_that_is_the_reason(world: World):
    world.configure("[features]\nplugins = false")
    remote = PluginReadParams(remote_marketplace_name="r", plugin_name="p")
    told = await refusal(world, "plugin/read", remote)
    assert told == "remote plugin read is not enabled for marketplace r"
    told = await refusal(world, "plugin/share/list", PluginShareListParams())
    assert told == "plugin sharing is not enabled"


async def test_read_needs_exactly_one_kind_of_marketplace(world: World):
    wanted = "plugin/read requires exactly one of marketplacePath or remoteMarketplaceName"
    neither = PluginReadParams(plugin_name="p")
    both = PluginReadParams(marketplace_path="/m", remote_marketplace_name="r", plugin_name="p")
    assert await refusal(world, "plugin/read", neither) == wanted
    assert await refusal(world, "plugin/read", both) == wanted


async def test_reconcile_has_nothing_to_do(world: World):
    result = await world.service.reconcile(PluginReconcileParams(), SCOPE)
    assert result == PluginReconcileResult()


# --- search ---


async def test_search_looks_at_local_plugins_of_the_person_only(world: World):
    put_market(world.user, "git-tools", "other")
    put_plugin(world.user / "plugins/git-tools")

    async def names(**params: Any) -> list[str]:
        asked = PluginSearchParams(search_term="git", **params)
        return [hit.plugin.name for hit in (await world.service.search(asked, SCOPE)).data]

    assert await names() == ["git-tools"]
    assert await names(scope="personal") == ["git-tools"]
    assert await names(scope="workspace") == []
    assert await names(cursor="x") == []


# --- skills and hooks ---


async def test_a_skill_is_switched_in_the_users_configuration(world: World):
    put(world.home.skills_dir / "a/SKILL.md", "---\ndescription: d\n---\n")
    world.configure("# mine\nmodel = 'x'")
    editor = ConfigEditor(world.configs, world.deps)
    service = PluginService(world.lists, world.configs, world.deps.cwd, editor=editor)

    async def enabled() -> bool:
        (entry,) = (await service.skills_list(SkillsListParams(), SCOPE)).data
        return entry.skills[0].enabled

    off = SkillsConfigWriteParams(name="a", enabled=False)
    assert not (await service.skills_config_write(off, SCOPE)).effective_enabled
    assert not await enabled()
    text = world.home.config_file.read_text()
    assert text.startswith("# mine\nmodel = 'x'\n")
    await service.skills_config_write(off, SCOPE)
    assert world.home.config_file.read_text() == text
    await service.skills_config_write(SkillsConfigWriteParams(name="a", enabled=True), SCOPE)
    assert await enabled()
    assert "enabled = false" not in world.home.config_file.read_text()


@pytest.mark.parametrize("chosen", [{}, {"name": " "}, {"name": "a", "path": "/a"}])
async def test_a_skill_is_chosen_by_name_or_by_path(world: World, chosen: dict[str, Any]):
    params = SkillsConfigWriteParams(enabled=False, **chosen)
    with pytest.raises(InvalidParams, match="requires exactly one of path or name"):
        await world.service.skills_config_write(params, SCOPE)


async def test_more_roots_for_skills_count_until_they_are_replaced(world: World):
    root = world.deps.cwd / "more"
    put(root / "extra/SKILL.md", "---\ndescription: d\n---\n")

    async def names() -> list[str]:
        (entry,) = (await world.service.skills_list(SkillsListParams(), SCOPE)).data
        return [skill.name for skill in entry.skills]

    for roots, expected in (([str(root)], ["extra"]), ([], [])):
        await world.service.skills_extra_roots_set(
            SkillsExtraRootsSetParams(extra_roots=roots), SCOPE
        )
        assert await names() == expected


async def test_each_directory_has_an_entry_called_as_it_was_asked_for(world: World):
    asked = ["/nowhere", str(world.deps.cwd)]
    skills = (await world.service.skills_list(SkillsListParams(cwds=asked), SCOPE)).data
    hooks = (await world.service.hooks_list(HooksListParams(cwds=asked), SCOPE)).data
    assert [entry.cwd for entry in skills] == asked
    assert [entry.cwd for entry in hooks] == asked


async def test_hooks_are_asked_for_by_thread_or_by_directory(world: World):
    params = HooksListParams(cwds=["/x"], thread_id="t")
    assert await refusal(world, "hooks/list", params) == "specify either threadId or cwds"
