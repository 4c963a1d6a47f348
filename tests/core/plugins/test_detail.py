"""plugin/read of plugins in marketplace files."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import CoreError
from core.protocol.plugin_params import PluginReadParams
from core.protocol.plugins import PluginDetail
from tests.core.plugins.world import SCOPE, World, put, put_market, put_plugin

pytestmark = pytest.mark.anyio

SKILL = "---\nname: look\ndescription: Looks\n---\n"
HOOKS = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}
PARTS = {
    "skills/look/SKILL.md": SKILL,
    "hooks/hooks.json": HOOKS,
    ".mcp.json": {"mcpServers": {"srv": {"command": "serve"}}},
    ".app.json": {"apps": {"x": {"id": "app1", "category": "Tools"}}},
}


async def read(world: World, path: Path, name: str) -> PluginDetail:
    params = PluginReadParams(marketplace_path=str(path), plugin_name=name)
    return (await world.service.read(params, SCOPE)).plugin


async def refusal(world: World, path: Path, name: str) -> CoreError:
    with pytest.raises(CoreError) as caught:
        await read(world, path, name)
    return caught.value


async def test_a_plugin_is_told_with_its_parts(world: World):
    path = put_market(world.user, "p")
    put_plugin(world.user / "plugins/p", PARTS, description="about")
    told = await read(world, path, "p")
    assert (told.marketplace_name, told.description) == ("m", "about")
    assert [skill.name for skill in told.skills] == ["p:look"]
    assert [(hook.key, hook.event_name) for hook in told.hooks] == [
        ("p@m:hooks/hooks.json:stop:0:0", "stop")
    ]
    assert told.mcp_servers == ("srv",)
    assert told.apps == ()


async def test_apps_are_told_to_chatgpt_sign_ins_only(world: World):
    path = put_market(world.user, "p")
    put_plugin(world.user / "plugins/p", PARTS)
    world.account = "chatgpt"
    (app,) = (await read(world, path, "p")).apps
    assert (app.id, app.category) == ("app1", "Tools")


async def test_a_plugin_that_lies_elsewhere_says_how_to_get_to_it(world: World):
    source = {"source": "git-subdir", "url": "a/b", "path": "x", "ref": "main"}
    npm = {"source": "npm", "package": "@a/b", "version": "^1"}
    path = put_market(
        world.user, {"name": "p", "source": source}, {"name": "q", "source": npm, "category": "C"}
    )
    told = await read(world, path, "p")
    assert told.description == (
        "This is a cross-repo plugin. Install it to view more detailed information. The source "
        "of the plugin is https://github.com/a/b.git, path `x`, ref `main`."
    )
    told = await read(world, path, "q")
    assert told.description is not None
    assert told.description.endswith("The source of the plugin is @a/b, version `^1`.")


async def test_an_installed_copy_is_read_for_a_plugin_that_lies_elsewhere(world: World):
    path = put_market(world.user, {"name": "p", "source": {"source": "url", "url": "a/b"}})
    world.install("p@m", PARTS, copy="2.0", version="2.0")
    world.switch("p@m")
    told = await read(world, path, "p")
    assert told.summary.local_version == "2.0"
    assert [skill.name for skill in told.skills] == ["p:look"]


async def test_the_onboarding_skill_is_told_of_installed_and_enabled_plugins(world: World):
    path = put_market(world.user, "p")
    extensions = {"com.openai": {"onboardingSkill": "./skills/look/SKILL.md"}}
    put_plugin(world.user / "plugins/p", PARTS, extensions=extensions)
    assert (await read(world, path, "p")).onboarding_skill is None
    world.install("p@m")
    world.switch("p@m")
    told = (await read(world, path, "p")).onboarding_skill
    assert told is not None
    assert told.name == "p:look"


async def test_what_cannot_be_read_is_refused_in_the_real_words(world: World, tmp_path: Path):
    path = put_market(world.user, "gone", "empty", {"name": "bad name", "source": "./x"})
    (world.user / "plugins/empty").mkdir(parents=True)
    missing = tmp_path / "no.json"
    messages = {
        "gone": "path does not exist or is not a directory",
        "empty": "missing or invalid plugin.json",
        "other": "plugin `other` was not found in marketplace `m`",
        "bad name": "invalid plugin name: only ASCII letters, digits, `.`, `_`, and `-` are allowed",
    }
    for name, message in messages.items():
        assert (await refusal(world, path, name)).message == message
    refused = await refusal(world, missing, "p")
    assert refused.message == f"marketplace file `{missing}` does not exist"


async def test_a_broken_marketplace_is_refused_with_the_line(world: World, tmp_path: Path):
    path = put(tmp_path / "list.json", '{\n"name": }')
    refused = await refusal(world, path, "p")
    wanted = f"invalid marketplace file `{path}`: expected value at line 2 column 9"
    assert refused.message == wanted
    assert refused.evidence is not None
    assert (refused.evidence.file, refused.evidence.line) == (str(path), 2)


async def test_a_broken_manifest_says_in_its_hint_what_is_wrong(world: World):
    path = put_market(world.user, "p")
    manifest = put(world.user / "plugins/p/.codex-plugin/plugin.json", '{\n"version": 1}')
    refused = await refusal(world, path, "p")
    assert refused.message == "missing or invalid plugin.json"
    assert refused.hint == "invalid type: integer `1`, expected a string"
    assert refused.evidence is not None
    assert (refused.evidence.file, refused.evidence.line) == (str(manifest), 2)


async def test_nothing_is_read_where_plugins_are_turned_off(world: World):
    path = put_market(world.user, "p")
    world.configure("[features]\nplugins = false")
    assert (await refusal(world, path, "p")).message == "plugins feature is disabled"


async def test_a_shared_local_plugin_is_told_apart(world: World):
    path = put_market(world.user, "p")
    root = put_plugin(world.user / "plugins/p")
    put(world.home.share_paths_file, {"localPluginPathsByRemotePluginId": {"r1": str(root)}})
    context = (await read(world, path, "p")).summary.share_context
    assert context is not None
    assert context.remote_plugin_id == "r1"


async def test_a_broken_list_of_shared_plugins_is_told(world: World):
    path = put_market(world.user, "p")
    put_plugin(world.user / "plugins/p")
    file = put(world.home.share_paths_file, '{"localPluginPathsByRemotePluginId": {"r": "x"}}')
    refused = await refusal(world, path, "p")
    assert refused.message == (
        "failed to load plugin share local path mapping: failed to parse plugin share local path "
        f"mapping {file}: AbsolutePathBuf deserialized without a base path at line 1 column 46"
    )
