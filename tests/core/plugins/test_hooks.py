"""Hooks of plugins: read, listed and never run (words observed in Codex 0.171.0)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.plugins.hook_list import HookOwner, listed
from core.plugins.hooks import HookSets, hook_keys, plugin_hooks
from core.protocol.hooks import HookMetadata
from tests.core.plugins.world import manifest_at, put, put_plugin

COMMAND = {"type": "command", "command": "x"}


def hooks_of(root: Path, content: Any = None, **manifest: Any) -> HookSets:
    put_plugin(root, **manifest)
    if content is not None:
        put(root / "hooks/hooks.json", content)
    return plugin_hooks(manifest_at(root))


def event(name: str, *handlers: Any, **group: Any) -> dict[str, Any]:
    return {"hooks": {name: [{"hooks": list(handlers), **group}]}}


def list_them(
    sets: HookSets, root: Path, state: dict[str, Any] | None = None
) -> tuple[list[HookMetadata], list[str]]:
    warnings = list(sets.warnings)
    owner = HookOwner("p@m", "plugin", "p@m", str(root), "/data")
    hooks = list(listed(sets, owner, state or {}, 0, warnings))
    return hooks, [warning.replace(str(root), "ROOT") for warning in warnings]


def test_a_command_hook_is_listed_with_its_key_and_digest(tmp_path: Path):
    root = tmp_path / "p"
    hooks, warnings = list_them(hooks_of(root, event("PreToolUse", COMMAND, matcher="Bash")), root)
    (hook,) = hooks
    assert hook.key == "p@m:hooks/hooks.json:pre_tool_use:0:0"
    assert (hook.event_name, hook.matcher, hook.timeout_sec) == ("preToolUse", "Bash", 600)
    digest = "8b3de0db500a24df6d2c8ddb5e04090edd5f3066951d7e252357fb79bb6bbd16"
    assert hook.current_hash == f"sha256:{digest}"
    assert (hook.enabled, hook.trust_status) == (True, "untrusted")
    assert warnings == []


def test_a_hook_that_calls_a_tool_has_its_own_digest(tmp_path: Path):
    root = tmp_path / "p"
    handler = {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}}
    ((hook,), _) = list_them(hooks_of(root, event("PreToolUse", handler)), root)
    assert (hook.handler_type, hook.server, hook.tool) == ("mcpTool", "s", "t")
    digest = "adbc4c477a9752b3b9915a7b59c18ceb44c30a7f31f5a299be9eb6431ba7949f"
    assert hook.current_hash == f"sha256:{digest}"


def test_the_stored_digest_decides_on_trust_and_the_switch_on_enabled(tmp_path: Path):
    root = tmp_path / "p"
    sets = hooks_of(root, event("Stop", COMMAND))
    ((hook,), _) = list_them(sets, root)
    for stored, status in ((hook.current_hash, "trusted"), ("sha256:old", "modified")):
        state = {hook.key: {"trusted_hash": stored, "enabled": False}}
        ((again,), _) = list_them(sets, root, state)
        assert (again.trust_status, again.enabled) == (status, False)


def test_places_in_commands_are_filled_in(tmp_path: Path):
    root = tmp_path / "p"
    command = "${CLAUDE_PLUGIN_ROOT}/x ${CLAUDE_PLUGIN_DATA} ${PLUGIN_ROOT} $OTHER"
    sets = hooks_of(root, event("Stop", {"type": "command", "command": command}))
    ((hook,), _) = list_them(sets, root)
    assert hook.command == f"{root}/x /data {root} $OTHER"


def test_limits_of_short_events_are_clamped_and_told(tmp_path: Path):
    root = tmp_path / "p"
    handlers = [{**COMMAND, "timeout": seconds} for seconds in (9, 0, 2)]
    sets = hooks_of(root, event("SessionEnd", *handlers, COMMAND))
    hooks, warnings = list_them(sets, root)
    assert [hook.timeout_sec for hook in hooks] == [3, 1, 2, 1]
    assert warnings == ["clamping SessionEnd hook timeout to 3s in ROOT/hooks/hooks.json"]


@pytest.mark.parametrize(
    ("name", "handler", "warning"),
    [
        (
            "PreToolUse",
            {"type": "prompt"},
            "skipping prompt hook in ROOT/hooks/hooks.json: prompt hooks are not supported yet",
        ),
        (
            "PreToolUse",
            {"type": "command", "command": " "},
            "skipping empty hook command in ROOT/hooks/hooks.json",
        ),
        (
            "Stop",
            {**COMMAND, "additionalContextLimit": 4},
            "ignoring additionalContextLimit for Stop hook in ROOT/hooks/hooks.json: "
            "this event cannot emit additionalContext",
        ),
    ],
)
def test_what_codex_ignores_is_told(
    tmp_path: Path, name: str, handler: dict[str, Any], warning: str
):
    root = tmp_path / "p"
    _, warnings = list_them(hooks_of(root, event(name, handler)), root)
    assert warnings == [warning]


@pytest.mark.parametrize(
    ("matcher", "fault", "marks"),
    [
        ("(", "unclosed group", "^"),
        ("a)", "unopened group", " ^"),
        ("*x", "repetition operator missing expression", "^"),
        ("[a", "unclosed character class", "^"),
        ("a\\1", "backreferences are not supported", " ^^"),
        (
            "(?=x)",
            "look-around, including look-ahead and look-behind, is not supported",
            "^^^",
        ),
    ],
)
def test_a_matcher_that_is_no_pattern_leaves_its_hooks_out(
    tmp_path: Path, matcher: str, fault: str, marks: str
):
    root = tmp_path / "p"
    hooks, warnings = list_them(hooks_of(root, event("PreToolUse", COMMAND, matcher=matcher)), root)
    assert hooks == []
    (warning,) = warnings
    assert warning.endswith(f"regex parse error:\n    {matcher}\n    {marks}\nerror: {fault}")


@pytest.mark.parametrize(
    "matcher", ["", "*", "Bash|Edit", "mcp__.*", "[a-z]{2,3}", "(?i)x", "a\\."]
)
def test_good_matchers_are_kept(tmp_path: Path, matcher: str):
    root = tmp_path / "p"
    ((hook,), warnings) = list_them(
        hooks_of(root, event("PreToolUse", COMMAND, matcher=matcher)), root
    )
    assert (hook.matcher, warnings) == (matcher, [])


def test_events_without_matcher_ignore_one(tmp_path: Path):
    root = tmp_path / "p"
    ((hook,), warnings) = list_them(hooks_of(root, event("Stop", COMMAND, matcher="(")), root)
    assert (hook.matcher, warnings) == (None, [])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", "EOF while parsing an object at line 1 column 1"),
        (
            '{"PreToolUse":[]}',
            "unknown field `PreToolUse`, expected `description` or `hooks` at line 1 column 13",
        ),
        (
            '{"hooks":{"Stop":[{"hooks":[{"type":"magic"}]}]}}',
            "unknown variant `magic`, expected one of `command`, `mcp_tool`, `prompt`, `agent` "
            "at line 1 column 43",
        ),
        (
            '{"hooks":{"Stop":[{"hooks":[{"type":"command"}]}]}}',
            "missing field `command` at line 1 column 47",
        ),
        (
            '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x","timeout":-1}]}]}}',
            "invalid value: integer `-1`, expected u64 at line 1 column 74",
        ),
    ],
)
def test_a_hooks_file_that_is_refused_says_why(tmp_path: Path, content: str, fault: str):
    sets = hooks_of(tmp_path / "p", content)
    assert sets.sets == []
    path = tmp_path / "p/hooks/hooks.json"
    assert sets.warnings == [f"failed to parse plugin hooks config {path}: {fault}"]


def test_unknown_events_are_passed_over(tmp_path: Path):
    sets = hooks_of(tmp_path / "p", {"hooks": {"Tomorrow": 7, "Stop": [{"hooks": [COMMAND]}]}})
    assert list(hook_keys(sets, "p@m")) == [("p@m:hooks/hooks.json:stop:0:0", "stop")]


def test_hooks_may_stand_in_the_manifest(tmp_path: Path):
    sets = hooks_of(tmp_path / "p", hooks=[event("Stop", COMMAND), event("SessionStart", COMMAND)])
    assert [key for key, _ in hook_keys(sets, "p@m")] == [
        "p@m:plugin.json#hooks[0]:stop:0:0",
        "p@m:plugin.json#hooks[1]:session_start:0:0",
    ]


def test_a_manifest_may_name_hook_files_in_place_of_the_usual_one(tmp_path: Path):
    root = tmp_path / "p"
    put(root / "a.json", event("Stop", COMMAND))
    put(root / "hooks/hooks.json", event("SessionEnd", COMMAND))
    sets = hooks_of(root, hooks=["./a.json", "./gone.json", "../x.json"])
    assert list(hook_keys(sets, "p@m")) == [("p@m:a.json:stop:0:0", "stop")]
    assert sets.warnings == [
        f"failed to read plugin hooks config {root}/gone.json: "
        "No such file or directory (os error 2)"
    ]


def test_an_agent_plugin_has_no_hooks(tmp_path: Path):
    root = tmp_path / "p"
    schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    put(root / "plugin.json", {"$schema": schema, "name": "p"})
    put(root / "hooks/hooks.json", event("Stop", COMMAND))
    assert plugin_hooks(manifest_at(root)) == HookSets()


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (["command", "x", None, 5, True, "said"], ("command", "x", 5)),
        (["mcp_tool", "s", "t"], ("mcpTool", None, 600)),
    ],
)
def test_the_array_form_of_a_handler_is_taken_as_the_real_reader_takes_it(
    tmp_path: Path, handler: list[Any], told: tuple[str, str | None, int]
):
    root = tmp_path / "p"
    ((hook,), _) = list_them(hooks_of(root, event("PreToolUse", handler)), root)
    assert (hook.handler_type, hook.command or None, hook.timeout_sec) == told


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ('"command":"x","command":"y"', "duplicate field `command`"),
        ('"command":7', "invalid type: integer `7`, expected a string"),
        ('"command":"x","async":1', "invalid type: integer `1`, expected a boolean"),
        ('"command":"x","timeout":1.5', "invalid type: map, expected u64"),
        ('"command":"x","type":"command"', "duplicate field `type`"),
    ],
)
def test_a_handler_of_wrong_types_refuses_the_file(tmp_path: Path, members: str, fault: str):
    text = f'{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command",{members}}}]}}]}}}}'
    (warning,) = hooks_of(tmp_path / "p", text).warnings
    assert f": {fault} at line 1 column " in warning


def test_a_hooks_file_that_is_no_text_is_told(tmp_path: Path):
    (warning,) = hooks_of(tmp_path / "p", b"\xff").warnings
    assert warning.endswith("hooks.json: stream did not contain valid UTF-8")


def test_inline_hooks_of_another_shape_leave_the_usual_file(tmp_path: Path):
    put(tmp_path / "p/hooks/hooks.json", event("SessionEnd", COMMAND))
    shapes: list[Any] = [7, {"Stop": []}, [{"hooks": 7}]]
    for written in shapes:
        sets = hooks_of(tmp_path / "p", hooks=written)
        assert [name for _, name in hook_keys(sets, "p@m")] == ["sessionEnd"]
