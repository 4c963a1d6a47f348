from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.plugins.compat_view.view import CompatibilityReader, Subject, installed_root
from core.plugins.entries import Entry
from core.plugins.marketplace_file import load
from core.ports import Deps
from core.protocol.jackfield_install import Compatibility, IgnoredPart, UsedPart
from tests.core.plugins.world import World, put, put_market, put_plugin

SKILL = "---\nname: look\ndescription: Looks twice\n---\nbody\n"


@pytest.fixture
def world(deps: Deps) -> World:
    return World(deps)


def entry_of(world: World, source: Any = "./plugins/p", **more: Any) -> tuple[Entry, Path]:
    path = put_market(world.user, {"name": "p", "source": source, **more})
    market = load(str(path), str(world.user), home=str(world.user))
    return market.entries[0], path


def view(world: World, source: Any = "./plugins/p", *, offered: bool = False) -> Compatibility:
    entry, path = entry_of(world, source)
    loaded = world.configs.load(None)
    subject = Subject(
        plugin_id="p@m",
        entry=entry,
        market_path=str(path),
        market_root=str(world.user),
        installed=installed_root(world.home, loaded, "p@m"),
    )
    return CompatibilityReader(world.home).read(subject, loaded, offered=offered)


def plugin(world: World, files: dict[str, Any] | None = None, **manifest: Any) -> Path:
    return put_plugin(world.user / "plugins/p", files, **manifest)


def part(seen: Compatibility, kind: str, name: str = "") -> UsedPart:
    (found,) = [
        one
        for one in seen.uses
        if one.kind == kind
        and (one.name.startswith(name) if kind == "server" else name in one.name)
    ]
    return found


def ignored(seen: Compatibility, what: str) -> IgnoredPart:
    (found,) = [one for one in seen.ignores if one.what == what]
    return found


def hooks(*handlers: dict[str, Any], event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": "Bash", "hooks": list(handlers)}]}}


def test_every_part_is_told_before_the_install(world: World):
    guard = {"type": "command", "command": 'bash "${CLAUDE_PLUGIN_ROOT}/hooks/guard.sh" --now'}
    servers = {
        "local": {"command": "serve", "args": ["a b"], "cwd": "srv", "env": {"KEY": "v4lue"}},
        "far": {"url": "https://mcp.example/mcp"},
    }
    plugin(
        world,
        {
            "skills/look/SKILL.md": SKILL,
            "hooks/hooks.json": hooks(guard),
            "hooks/guard.sh": "echo",
            ".mcp.json": {"mcpServers": servers},
            ".app.json": {"apps": {"x": {"id": "app_1"}}},
        },
        version="1.2.0",
    )
    seen = view(world)
    assert (seen.known, seen.installed, seen.version, seen.nothing) == (True, False, "1.2.0", False)
    assert seen.source == "./plugins/p"
    assert part(seen, "skill").name == "p:look"
    hook = part(seen, "hook")
    assert (hook.event, hook.matcher) == ("preToolUse", "Bash")
    assert hook.command == (guard["command"],)
    assert [name for name, _ in hook.files] == ["hooks/guard.sh"]
    assert hook.key == "p@m:hooks/hooks.json:pre_tool_use:0:0"
    local = part(seen, "server", "local")
    assert local.command == ("serve", "a b")
    assert local.cwd == f"{world.home.plugins_cache}/m/p/1.2.0/srv"
    assert local.env_names == ("KEY",)
    assert part(seen, "server", "far").sign_in == "oauth"
    assert part(seen, "app").notes == ("counts only with a ChatGPT sign-in",)
    assert "v4lue" not in json.dumps([repr(one) for one in seen.uses])


def test_a_part_keeps_its_identity_from_the_source_to_the_installed_copy(world: World):
    files = {
        "hooks/hooks.json": hooks({"type": "command", "command": "bash hooks/guard.sh"}),
        "hooks/guard.sh": "echo",
        ".mcp.json": {"mcpServers": {"s": {"command": "serve", "cwd": "."}}},
    }
    plugin(world, files, version="1")
    before = {one.name: one.id for one in view(world).programs}
    world.install("p@m", files, "1", version="1")
    world.switch("p@m")
    seen = view(world)
    assert seen.installed
    assert {one.name: one.id for one in seen.programs} == before
    assert not view(world, offered=True).installed


def test_of_the_agent_format_too(world: World):
    schema = "https://agent-plugins.org/schemas/1.0.0/"
    server = {"type": "stdio", "command": "./run", "args": ["${PLUGIN_ROOT}/x"]}
    files = {
        "plugin.json": {"$schema": f"{schema}plugin.schema.json", "name": "p", "version": "2.0.0"},
        "mcp.json": {"$schema": f"{schema}mcp.schema.json", "mcpServers": {"s": server}},
        "run": "",
        "hooks/hooks.json": hooks({"type": "command", "command": "x"}),
    }
    for path, content in files.items():
        put(world.user / "plugins/p" / path, content)
    seen = view(world)
    home = f"{world.home.plugins_cache}/m/p/2.0.0"
    assert part(seen, "server").command == (f"{home}/run", f"{home}/x")
    assert part(seen, "server").cwd == home
    assert ignored(seen, "hook file").names == ("hooks/hooks.json",)
    copy = world.home.plugins_cache / "m/p/2.0.0"
    for path, content in files.items():
        put(copy / path, content)
    world.switch("p@m")
    assert [one.id for one in view(world).programs] == [one.id for one in seen.programs]


@pytest.mark.parametrize("change", ["command", "script", "server"])
def test_another_command_or_script_is_another_program(world: World, change: str):
    def files(word: str) -> dict[str, Any]:
        run = f"bash hooks/guard.sh {word if change == 'command' else ''}"
        server = {"command": "serve", "env": {"KEY": word if change == "server" else ""}}
        return {
            "hooks/hooks.json": hooks({"type": "command", "command": run}),
            "hooks/guard.sh": word if change == "script" else "",
            ".mcp.json": {"s": server},
        }

    plugin(world, files("one"))
    before = {one.id for one in view(world).programs}
    plugin(world, files("two"))
    assert len({one.id for one in view(world).programs} - before) == 1


def test_what_codex_ignores_is_named_with_its_reason(world: World):
    unfilled = {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/s.js"]}
    far = {"url": "https://h.example", "headers": {"A": "b"}}
    plugin(
        world,
        {
            "commands/plain.md": "---\ndescription: Does it\n---\nDo it.\n",
            "commands/args.md": "---\ndescription: Does it\n---\nDo $ARGUMENTS.\n",
            "agents/helper.md": "hello",
            ".lsp.json": {"python": {}},
            ".mcp.json": {"mcpServers": {"s": unfilled, "far": far, "bad": {"command": 7}}},
            "hooks/hooks.json": {
                "hooks": {
                    "Stop": [{"hooks": [{"type": "prompt"}]}],
                    "Notification": [{"hooks": [{"type": "command", "command": "x"}]}],
                }
            },
        },
    )
    seen = view(world)
    made = part(seen, "skill")
    assert made.name == "p:source-command-plain"
    assert made.notes == ("made of the command plain when it is installed",)
    assert ignored(seen, "command").names == ("/args",)
    assert ignored(seen, "agent").names == ("helper",)
    assert ignored(seen, "language server").names == ("python",)
    assert ignored(seen, "variable").names == ("s",)
    assert "${CLAUDE_PLUGIN_ROOT} is not filled in" in ignored(seen, "variable").reason
    assert ignored(seen, "server").names == ("bad",)
    assert ignored(seen, "header set").names == ("far",)
    assert "headers" in ignored(seen, "header set").reason
    reasons = {one.reason: one.names for one in seen.ignores if one.what == "hook"}
    assert reasons["prompt hooks are not supported"] == ("stop",)
    assert reasons["Codex knows no such event"] == ("Notification",)


def test_a_plugin_for_claude_alone_is_nothing_for_codex(world: World):
    root = world.user / "plugins/p"
    put_plugin(root, {"agents/a.md": "x"}, place=".claude-plugin/plugin.json")
    seen = view(world)
    assert (seen.nothing, seen.refusal, seen.format) == (True, "", "claude")


def test_files_that_are_looked_for_elsewhere_are_told(world: World):
    servers = {
        "here": {"command": "node", "args": ["./server.js"]},
        "there": {"command": "./bin/run", "cwd": "."},
        "gone": {"command": "./bin/gone", "cwd": "."},
        "lost": {"command": "./bin/lost"},
    }
    plugin(world, {".mcp.json": servers, "server.js": "", "bin/run": ""})
    seen = view(world)
    session = "starts in the folder of the session, not in the plugin's"
    assert part(seen, "server", "here").notes == (
        session,
        "./server.js is looked for there, though the plugin has it",
    )
    assert part(seen, "server", "there").notes == ()
    assert part(seen, "server", "gone").notes == (
        "./bin/gone is not there: no such file in the plugin",
    )
    assert part(seen, "server", "lost").notes == (session, "./bin/lost is looked for there")


def test_what_lies_behind_a_link_is_not_used(world: World, tmp_path: Path):
    put(tmp_path / "elsewhere/far/SKILL.md", SKILL.replace("look", "far"))
    root = plugin(world, {"skills/look/SKILL.md": SKILL})
    (root / "skills/linked").symlink_to(tmp_path / "elsewhere")
    seen = view(world)
    assert [one.name for one in seen.uses] == ["p:look"]
    assert ignored(seen, "skill").names == ("p:far",)
    assert ignored(seen, "link").names == ("skills/linked",)


@pytest.mark.parametrize(
    "source",
    [
        {"source": "url", "url": "https://git.example/p.git"},
        {"source": "npm", "package": "p"},
    ],
)
def test_what_is_elsewhere_is_known_after_the_download(world: World, source: dict[str, str]):
    seen = view(world, source)
    assert (seen.known, seen.why, seen.refusal) == (False, "known after download", "")
    assert not seen.nothing


def test_a_checkout_of_the_same_repository_is_looked_into(world: World):
    url = "https://git.example/mk.git"
    world.configure(f'[marketplaces.mk]\nsource_type = "git"\nsource = "{url}"')
    checkout = world.home.marketplaces_dir / "mk"
    put_plugin(checkout / "sub/p", {"skills/look/SKILL.md": SKILL})
    seen = view(world, {"source": "git-subdir", "url": url, "path": "sub/p"})
    assert seen.known
    assert part(seen, "skill").name == "p:look"
    other = {"source": "git-subdir", "url": url, "path": "sub/p", "ref": "v2"}
    assert not view(world, other).known
    outside = {"source": "git-subdir", "url": url, "path": "out"}
    (checkout / "out").symlink_to(world.user)
    assert not view(world, outside).known


def test_a_broken_manifest_says_where_and_that_it_is_refused(world: World):
    put(world.user / "plugins/p/.codex-plugin/plugin.json", '{"name": 7}')
    seen = view(world)
    assert seen.nothing
    assert seen.refusal == "missing or invalid plugin.json"
    ((path, reason),) = seen.faults
    assert path.endswith("plugin.json")
    assert "expected a string" in reason


def test_a_missing_folder_is_told_as_it_is(world: World):
    seen = view(world, "./plugins/gone")
    assert not seen.known
    assert seen.refusal == f"no such directory: {world.user}/plugins/gone"
