"""Servers written, removed, switched and tried, over a real core and real processes."""

from __future__ import annotations

import json
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core import method_table as methods
from core.errors import InvalidRequest
from core.ports import Deps
from core.protocol import jackfield as wire
from core.protocol import jackfield_servers as servers
from core.protocol.events import OperationProgress, ServerHappened, ServersChanged
from tests.core.service.opened import Opened, opened
from tests.fakes import mcp_stdio

pytestmark = pytest.mark.anyio
MASK = "•••"
COMMAND, *ARGS = mcp_stdio.argv(spec={"tools": [mcp_stdio.tool("go"), mcp_stdio.tool("stop")]})
OTHER = (
    "# mine\n"
    "[mcp_servers.one]   # keep this\n"
    f"command = {json.dumps(COMMAND)}\n"
    f"args = {json.dumps(ARGS)}\n"
    'env = { API_TOKEN = "s3cret-value-9", REGION = "eu" }  # both\n'
    "\n"
    "[tui]\n"
    "theme = 'x'\n"
)


@pytest.fixture
def config(deps: Deps) -> Path:
    file = Path(deps.environ["HOME"]) / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(OTHER)
    return file


@asynccontextmanager
async def started(deps: Deps, **more: Any) -> AsyncGenerator[Opened]:
    async with opened(deps) as core:
        await core.start(**more)
        yield core


def status(core: Opened, name: str) -> str:
    """As the events have it; "" for a row that is not there."""
    found = ""
    for event in core.of(ServersChanged):
        found = "" if name in event.removed else found
        found = next((row.status for row in event.upserted if row.id == name), found)
    return found


async def until_status(core: Opened, name: str, wanted: str) -> None:
    await core.until(lambda: status(core, name) == wanted, 15)


def said(config: Path) -> str:
    return config.read_text()


def put(config: Path, text: str) -> None:
    config.write_text(text)


def entry(name: str, table: dict[str, Any], **more: Any) -> servers.ServerEntryParams:
    return servers.ServerEntryParams(name=name, table=table, **more)


async def read(core: Opened, name: str, **more: Any) -> servers.ServerTable:
    params = servers.ServerTableParams(name=name, **more)
    return await core.client.call(methods.JACKFIELD_SERVER_READ, params)


async def preview(core: Opened, params: servers.ServerEntryParams) -> servers.ServerPreview:
    return await core.client.call(methods.JACKFIELD_SERVER_PREVIEW, params)


async def write(core: Opened, params: servers.ServerEntryParams) -> servers.ServerWritten:
    return await core.client.call(methods.JACKFIELD_SERVER_WRITE, params)


async def undo(core: Opened, token: str | None) -> None:
    assert token is not None
    await core.client.call(methods.JACKFIELD_UNDO, wire.UndoParams(token=token))


async def attempt(core: Opened, table: dict[str, Any], id: str = "t") -> servers.ServerTested:
    params = servers.ServerTestParams(id=id, name="new", table=table)
    return await core.client.call(methods.JACKFIELD_SERVER_TEST, params)


# ── the table, to a form and back ──


async def test_a_table_is_read_with_its_secrets_masked(deps: Deps, config: Path):
    async with started(deps) as core:
        found = await read(core, "one")
        assert found.layer == "user" and found.origin.line == 2 and found.why_not == ""
        assert found.table["env"] == {"API_TOKEN": MASK, "REGION": MASK}
        assert found.table["command"] == COMMAND
        assert (await read(core, "nobody")).why_not == "no table of nobody is found"


async def test_what_comes_back_masked_stays_as_it_stands(deps: Deps, config: Path):
    async with started(deps) as core:
        table = dict((await read(core, "one")).table)
        table["env"] = {**table["env"], "REGION": "us"}
        table["startup_timeout_sec"] = 9
        done = await write(core, entry("one", table))
        assert done.message == "one is changed: config.toml:2"
        text = said(config)
        written = tomllib.loads(text)["mcp_servers"]["one"]
        assert written["env"] == {"API_TOKEN": "s3cret-value-9", "REGION": "us"}
        assert written["startup_timeout_sec"] == 9 and written["args"] == ARGS
        assert "# keep this" in text and "# both" in text and text.startswith("# mine\n")
        await undo(core, done.undo)
        assert said(config) == OTHER


async def test_a_masked_value_that_was_changed_is_refused(deps: Deps, config: Path):
    async with started(deps) as core:
        table = dict((await read(core, "one")).table)
        table["env"] = {"API_TOKEN": f"x{MASK}"}
        with pytest.raises(InvalidRequest, match=r"env\.API_TOKEN: write the masked value whole"):
            await write(core, entry("one", table))
        with pytest.raises(InvalidRequest, match="write the masked value whole"):
            await write(core, entry("new", {"command": "x", "args": [MASK]}))
        assert said(config) == OTHER


async def test_the_preview_shows_exactly_what_will_be_written(deps: Deps, config: Path):
    async with started(deps) as core:
        table = {"command": "npx", "args": ["-y", "it"], "env": {"GITHUB_TOKEN": "gh-123456"}}
        shown = await preview(core, entry("new", table, new=True))
        assert said(config) == OTHER
        assert shown.fault == "" and shown.file == str(config)
        added = [line.text for line in shown.lines if line.sign == "+"]
        assert "[mcp_servers.new]" in added and 'command = "npx"' in added
        assert "gh-123456" not in str(shown) and "s3cret" not in str(shown)
        assert any("env.GITHUB_TOKEN is a secret in clear" in each for each in shown.warnings)
        await write(core, entry("new", table, new=True))
        lines = said(config).splitlines()
        for line in shown.lines:
            if line.sign != "+":
                continue
            assert lines[line.line - 1].replace("gh-123456", MASK) == line.text


@pytest.mark.parametrize(
    ("name", "table", "fault", "key"),
    [
        ("", {"command": "x"}, "a name is needed", "name"),
        ("a b", {"command": "x"}, "only letters, digits and _ : @ / . - in a name", "name"),
        ("codex_apps", {"command": "x"}, "this name is reserved for the account's apps", "name"),
        ("one", {"command": "x"}, "config.toml has a server of that name already", "name"),
        ("n", {}, "a command or a URL is needed", ""),
        ("n", {"command": "x", "url": "https://h/"}, "url is not supported for stdio", ""),
    ],
)
async def test_what_cannot_be_used_is_not_written_and_says_why(
    deps: Deps, config: Path, name: str, table: dict[str, Any], fault: str, key: str
):
    async with started(deps) as core:
        shown = await preview(core, entry(name, table, new=True))
        assert (shown.fault, shown.fault_key) == (fault, key)
        with pytest.raises(InvalidRequest):
            await write(core, entry(name, table, new=True))
        assert said(config) == OTHER


@pytest.mark.parametrize(
    ("table", "warning"),
    [
        ({"command": "no-such-thing"}, "no program no-such-thing is found"),
        ({"command": "sh", "env_vars": ["NOT_SET_1"]}, "NOT_SET_1 is not set here"),
        ({"command": "sh", "cwd": "/no/such"}, "there is no folder /no/such"),
        ({"command": "sh", "args": ["${HOME}/x"]}, "args[0]: Codex hands ${HOME} on as it stands"),
        ({"command": "sh", "args": ["--api-key", "abc"]}, "an argument is a secret in clear"),
        ({"url": "https://u:p@h/"}, "the URL holds a secret in clear"),
        (
            {"url": "https://h/", "http_headers": {"Authorization": "Bearer abcdefgh"}},
            "bearer_token_env_var names a variable instead",
        ),
    ],
)
async def test_what_is_unwise_is_said_and_can_be_written(
    deps: Deps, config: Path, table: dict[str, Any], warning: str
):
    async with started(deps) as core:
        shown = await preview(core, entry("n", table))
        assert shown.fault == "" and any(warning in each for each in shown.warnings)


async def test_a_new_name_moves_the_table(deps: Deps, config: Path):
    async with started(deps) as core:
        table = dict((await read(core, "one")).table)
        shown = await preview(core, entry("two", table, was="one"))
        assert any("comments in the old one go with it" in each for each in shown.warnings)
        await write(core, entry("two", table, was="one"))
        tables = tomllib.loads(said(config))["mcp_servers"]
        assert list(tables) == ["two"] and tables["two"]["env"]["REGION"] == "eu"


async def test_single_members_change_and_the_rest_stays(deps: Deps, config: Path):
    async with started(deps) as core:
        await write(core, entry("one", {"startup_timeout_sec": 60.0}, merge=True))
        assert "startup_timeout_sec = 60.0\n" in said(config)
        await write(core, entry("one", {"startup_timeout_sec": None}, merge=True))
        assert said(config) == OTHER


async def test_a_project_s_file_is_written_where_it_is_trusted(deps: Deps, config: Path):
    project = Path(deps.environ["HOME"]) / "src"
    (project / ".git").mkdir(parents=True)
    deps = replace(deps, cwd=project)
    own = project / ".codex" / "config.toml"
    async with started(deps) as core:
        with pytest.raises(InvalidRequest, match="no project configuration can be written"):
            await write(core, entry("p", {"command": "sh"}, layer="project"))
    put(config, f'{OTHER}[projects."{project}"]\ntrust_level = "trusted"\n')
    async with started(deps) as core:
        assert (await read(core, "")).layers == {"user": str(config), "project": str(own)}
        done = await write(core, entry("p", {"command": "sh"}, layer="project", new=True))
        assert tomllib.loads(own.read_text()) == {"mcp_servers": {"p": {"command": "sh"}}}
        assert (await read(core, "p")).layer == "project"
        await until_status(core, "p", "review")
        await undo(core, done.undo)
        assert "p" not in own.read_text()


# ── what is written runs ──


async def test_a_server_that_was_seen_is_started_at_once(deps: Deps, config: Path):
    put(config, "")
    async with started(deps) as core:
        table = {"command": COMMAND, "args": ARGS}
        await write(core, entry("seen", table, new=True, agree=True))
        await write(core, entry("unseen", table, new=True))
        await until_status(core, "seen", "connected")
        assert status(core, "unseen") == "review"


async def test_a_removed_server_runs_on_until_it_is_ended(deps: Deps, config: Path):
    async with started(deps, consent_all=True) as core:
        await until_status(core, "one", "connected")
        with pytest.raises(InvalidRequest, match="one is configured"):
            await core.client.call(methods.JACKFIELD_SERVER_END, wire.NameParams(name="one"))
        params = servers.ServerRemoveParams(name="one")
        done = await core.client.call(methods.JACKFIELD_SERVER_REMOVE, params)
        assert done.message == "one is removed from config.toml:2; it runs on"
        assert said(config) == "# mine\n\n[tui]\ntheme = 'x'\n"
        row = (await core.by_id("servers"))["one"]
        assert (row.status, row.configured) == ("connected", False)
        assert row.reason == "running, no longer configured"
        await core.client.call(methods.JACKFIELD_SERVER_END, wire.NameParams(name="one"))
        await until_status(core, "one", "")
        await undo(core, done.undo)
        assert said(config) == OTHER
        await until_status(core, "one", "connected")


async def test_removing_ends_it_where_that_was_asked_for(deps: Deps, config: Path):
    async with started(deps, consent_all=True) as core:
        await until_status(core, "one", "connected")
        params = servers.ServerRemoveParams(name="one", end=True)
        done = await core.client.call(methods.JACKFIELD_SERVER_REMOVE, params)
        assert done.message == "one is removed from config.toml:2"
        await until_status(core, "one", "")
        with pytest.raises(InvalidRequest, match="one is not removed: no table of one is found"):
            await core.client.call(methods.JACKFIELD_SERVER_REMOVE, params)


# ── tools ──


async def test_several_tools_are_switched_in_one_write(deps: Deps, config: Path):
    async with started(deps, consent_all=True) as core:
        await until_status(core, "one", "connected")
        off = servers.ToolSwitch(server="one", tools=("go", "stop"), enabled=False)
        done = await core.client.call(methods.JACKFIELD_SERVER_TOOLS_SWITCH, off)
        assert done.message == "2 tools of one: off, config.toml:6"
        assert 'disabled_tools = ["go", "stop"]\n' in said(config)
        row = (await core.by_id("servers"))["one"]
        assert (row.tools, row.tools_total, row.status) == (0, 2, "connected")
        again = await core.client.call(methods.JACKFIELD_SERVER_TOOLS_SWITCH, off)
        assert again.undo is None and again.message == "2 tools of one: off already"
        on = servers.ToolSwitch(server="one", tools=("go",), enabled=True)
        await core.client.call(methods.JACKFIELD_SERVER_TOOLS_SWITCH, on)
        assert 'disabled_tools = ["stop"]\n' in said(config)


async def test_approval_is_written_for_a_server_and_for_a_tool(deps: Deps, config: Path):
    async with started(deps) as core:

        async def approve(**more: Any) -> servers.ServerWritten:
            params = servers.ApprovalParams(server="one", **more)
            return await core.client.call(methods.JACKFIELD_SERVER_APPROVAL, params)

        done = await approve(mode="prompt")
        assert done.message == "one: approval is prompt, config.toml:6"
        await approve(tool="go", mode="approve")
        table = tomllib.loads(said(config))["mcp_servers"]["one"]
        assert table["default_tools_approval_mode"] == "prompt"
        assert table["tools"] == {"go": {"approval_mode": "approve"}}
        await approve(tool="go")
        await approve()
        assert "approval" not in said(config)
        assert (await approve()).undo is None
        with pytest.raises(InvalidRequest, match="no MCP server `x`"):
            params = servers.ApprovalParams(server="x", mode="auto")
            await core.client.call(methods.JACKFIELD_SERVER_APPROVAL, params)


# ── tests before saving ──


async def test_a_good_server_is_found_speaks_lists_and_ends(deps: Deps, config: Path):
    async with started(deps) as core:
        result = await attempt(core, {"command": COMMAND, "args": ARGS})
        assert result.ok and result.reason == ""
        assert [(step.what, step.outcome) for step in result.steps] == [
            ("found", "ok"), ("speaks", "ok"), ("lists", "ok"), ("ended", "ok"),
        ]  # fmt: skip
        assert result.steps[1].text == "fake 1, protocol 2025-06-18"
        assert result.tools == ("go", "stop") and result.tokens > 5
        notes = [e.note for e in core.of(OperationProgress, state="running") if e.note]
        assert notes[0].startswith("found: ") and notes[2].startswith("lists: 2 tools")
        assert said(config) == OTHER
        assert "new" not in await core.by_id("servers")


async def test_a_server_that_will_not_end_is_said_to_need_force(deps: Deps, config: Path):
    command, *args = mcp_stdio.argv("stubborn")
    async with started(deps) as core:
        result = await attempt(core, {"command": command, "args": args})
        assert result.ok and result.steps[-1].outcome == "care"
        assert result.steps[-1].text == "only with SIGKILL"


@pytest.mark.parametrize(
    ("table", "what", "reason"),
    [
        ({"command": "no-such-thing"}, "found", "no program no-such-thing is found"),
        ({"command": "sh", "cwd": "/no/such"}, "found", "there is no folder /no/such"),
        (
            {"command": "sh", "args": ["-c", "echo boom: missing key >&2; exit 3"]},
            "speaks",
            "exited 3 — boom: missing key",
        ),
        (
            {"command": "sleep", "args": ["60"], "startup_timeout_sec": 0.2},
            "speaks",
            "no answer to initialize in 0.2 s",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, "speaks", "connection refused by 127.0.0.1:9"),
    ],
)
async def test_a_test_that_fails_names_the_step_and_the_reason(
    deps: Deps, config: Path, table: dict[str, Any], what: str, reason: str
):
    async with started(deps) as core:
        result = await attempt(core, table)
        assert not result.ok and result.reason == reason
        assert (result.steps[-1].what, result.steps[-1].outcome) == (what, "failed")


async def test_secrets_of_what_is_tried_are_masked(deps: Deps, config: Path):
    script = "echo token is $API_TOKEN >&2; exit 1"
    table = {"command": "sh", "args": ["-c", script], "env": {"API_TOKEN": "hush-hush-42"}}
    async with started(deps) as core:
        result = await attempt(core, table)
        assert f"token is {MASK}" in result.stderr
        assert "hush" not in str(result) and "hush" not in str(list(core.events))


async def test_a_test_can_be_ended(deps: Deps, config: Path):
    async with started(deps) as core:
        found: list[servers.ServerTested] = []

        async def run() -> None:
            found.append(await attempt(core, {"command": "sleep", "args": ["60"]}, id="long"))

        cancel = wire.IdParams(id="long")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run)
            await core.until(lambda: core.of(OperationProgress, id="test-long", state="running"))
            await core.until(lambda: any("found" in e.note for e in core.of(OperationProgress)))
            await core.client.call(methods.JACKFIELD_SERVER_TEST_CANCEL, cancel)
        assert found[0].cancelled and not found[0].ok
        with pytest.raises(InvalidRequest, match="does not run any more"):
            await core.client.call(methods.JACKFIELD_SERVER_TEST_CANCEL, cancel)


# ── traffic ──


async def traffic(core: Opened, name: str, **more: Any) -> servers.TrafficResult:
    params = servers.TrafficParams(name=name, **more)
    return await core.client.call(methods.JACKFIELD_SERVER_TRAFFIC, params)


async def test_messages_stderr_and_states_stand_in_one_order(deps: Deps, config: Path):
    script = f'echo hello s3cret-value-9 >&2; exec {COMMAND} "$@"'
    table = {
        "command": "sh",
        "args": ["-c", script, "x", *ARGS],
        "env": {"API_TOKEN": "s3cret-value-9"},
    }
    async with started(deps) as core:
        await write(core, entry("talks", table, agree=True))
        await until_status(core, "talks", "connected")
        found = await traffic(core, "talks")
        shown = [(line.kind, line.method) for line in found.lines]
        assert shown[:2] == [("state", "starting"), ("out", "initialize")]
        assert ("in", "initialize") in shown and ("in", "tools/list") in shown
        (said,) = [line.text for line in found.lines if line.kind == "stderr"]
        assert said == f"hello {MASK}"
        assert [line.number for line in found.lines] == list(range(1, len(found.lines) + 1))
        assert found.lost == 0 and "talks" in found.names
        last = found.lines[-1].number
        assert (await traffic(core, "talks", after=last)).lines == ()
        newest = await traffic(core, "talks", limit=2)
        assert [line.number for line in newest.lines] == [last - 1, last]
        assert newest.lost == last - 2


async def test_a_server_that_starts_says_its_last_line_on_its_row(deps: Deps, config: Path):
    table = {"command": "sh", "args": ["-c", "echo installing 214 packages >&2; sleep 60"]}
    async with started(deps) as core:
        await write(core, entry("slow", table, agree=True))
        await core.until(lambda: core.of(ServerHappened, name="slow", what="stderr"))
        row = (await core.by_id("servers"))["slow"]
        assert (row.status, row.stderr_tail) == ("starting", ("installing 214 packages",))
        (told,) = core.of(ServerHappened, name="slow", what="stderr")
        assert told.text == "installing 214 packages"
