"""skills/list and hooks/list over a whole home."""

from __future__ import annotations

from pathlib import Path

from core.plugins.hooks_list import HookLists
from core.plugins.skills_list import SkillLists
from core.protocol.skills import SkillMetadata
from tests.core.plugins.world import World, put

HOOKS = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}


def put_skill(directory: Path) -> None:
    put(directory / "SKILL.md", f"---\nname: {directory.name}\ndescription: d\n---\n")


def lists(world: World) -> SkillLists:
    return SkillLists(world.home, world.configs, world.deps.cwd)


def skills(world: World) -> dict[str, SkillMetadata]:
    entry = lists(world).entry(str(world.deps.cwd))
    return {skill.name: skill for skill in entry.skills}


def test_skills_of_every_scope_are_listed_with_it(world: World):
    put(world.deps.cwd / ".git/HEAD", "x")
    put_skill(world.deps.cwd / ".codex/skills/repo")
    put_skill(world.deps.cwd / ".agents/skills/agents")
    put_skill(world.home.skills_dir / "user")
    put_skill(world.home.skills_dir / ".system/builtin")
    put_skill(world.home.system_dir / "skills/admin")
    put_skill(world.install("p@m") / "skills/plug")
    world.switch("p@m")
    found = skills(world)
    assert {name: skill.scope for name, skill in found.items()} == {
        "repo": "repo",
        "agents": "repo",
        "user": "user",
        "builtin": "system",
        "admin": "admin",
        "p:plug": "user",
    }
    assert found["p:plug"].plugin_id == "p@m"


def test_skills_of_directories_above_count_up_to_the_repository(world: World, tmp_path: Path):
    put(tmp_path / "repo/.git/HEAD", "x")
    put_skill(tmp_path / "repo/.codex/skills/top")
    put_skill(tmp_path / "repo/a/.codex/skills/inner")
    put_skill(tmp_path / ".codex/skills/outside")
    entry = lists(world).entry(str(tmp_path / "repo/a"))
    assert [skill.name for skill in entry.skills] == ["inner", "top"]


def test_the_users_rules_switch_skills(world: World):
    put_skill(world.home.skills_dir / "a")
    put_skill(world.home.skills_dir / "b")
    world.configure('[[skills.config]]\nname = "b"\nenabled = false')
    assert {name: skill.enabled for name, skill in skills(world).items()} == {"a": True, "b": False}


def test_built_in_skills_can_be_turned_off_as_a_whole(world: World):
    put_skill(world.home.skills_dir / ".system/builtin")
    world.configure("[skills.bundled]\nenabled = false")
    assert skills(world) == {}


def test_a_broken_skill_is_an_error_beside_the_others(world: World):
    put_skill(world.home.skills_dir / "good")
    put(world.home.skills_dir / "bad/SKILL.md", "x")
    entry = lists(world).entry(str(world.deps.cwd))
    assert [skill.name for skill in entry.skills] == ["good"]
    assert [error.path for error in entry.errors] == [str(world.home.skills_dir / "bad/SKILL.md")]


def hooks(world: World) -> HookLists:
    return HookLists(world.home, world.configs, world.deps.cwd)


def test_hooks_of_layers_come_before_those_of_plugins(world: World):
    put(world.home.codex_home / "hooks.json", HOOKS)
    world.install("p@m", {"hooks/hooks.json": HOOKS})
    world.switch("p@m")
    entry = hooks(world).entry(str(world.deps.cwd))
    assert [(hook.source, hook.display_order) for hook in entry.hooks] == [
        ("user", 0),
        ("plugin", 1),
    ]
    assert entry.hooks[0].key == f"{world.home.codex_home}/hooks.json:stop:0:0"
    assert (entry.warnings, entry.errors) == ((), ())


def test_two_representations_in_one_layer_are_warned_of(world: World):
    put(world.home.codex_home / "hooks.json", HOOKS)
    world.configure('[[hooks.Stop]]\nhooks = [{ type = "command", command = "y" }]')
    entry = hooks(world).entry(str(world.deps.cwd))
    assert [hook.command for hook in entry.hooks] == ["x", "y"]
    (warning,) = entry.warnings
    assert warning.startswith("loading hooks from both ")


def test_a_hook_can_be_switched_and_trusted_by_the_configuration(world: World):
    put(world.home.codex_home / "hooks.json", HOOKS)
    (hook,) = hooks(world).entry(str(world.deps.cwd)).hooks
    world.configure(
        f'[hooks.state."{hook.key}"]\nenabled = false\ntrusted_hash = "{hook.current_hash}"'
    )
    (hook,) = hooks(world).entry(str(world.deps.cwd)).hooks
    assert (hook.enabled, hook.trust_status) == (False, "trusted")


def test_there_are_no_hooks_where_they_are_turned_off(world: World):
    put(world.home.codex_home / "hooks.json", HOOKS)
    world.configure("[features]\nhooks = false")
    assert hooks(world).entry(str(world.deps.cwd)).hooks == ()


def test_a_configuration_that_codex_refuses_is_told_in_place_of_skills_and_hooks(world: World):
    put_skill(world.home.skills_dir / "a")
    world.configure("model = 7")
    entry = lists(world).entry(str(world.deps.cwd))
    assert entry.skills == ()
    (error,) = entry.errors
    assert error.message.startswith("failed to reload config: ")
    (fault,) = hooks(world).entry(str(world.deps.cwd)).errors
    assert fault.message == error.message
