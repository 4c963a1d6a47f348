"""Keys on the MCP servers tab, over a real core, a real home and real stdio servers."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from core.compose import open_core
from core.ports import Deps
from tests.fakes import mcp_stdio
from tests.tui.panel import NARROW, WIDE, Panel
from tests.tui.test_installing import HOSTILE, Patient, said, sheet
from tui.app import JackfieldApp
from tui.screens.approval import ApprovalSheet
from tui.screens.save_file import SaveSheet
from tui.screens.server_form import ServerForm
from tui.screens.server_tools import ServerToolsSheet
from tui.screens.traffic import TrafficSheet
from tui.widgets.confirm import Confirm

pytestmark = pytest.mark.anyio
TOOLS = [
    mcp_stdio.tool("go", description=f"Goes {HOSTILE}", annotations={"readOnlyHint": True}),
    mcp_stdio.tool("stop", annotations={"destructiveHint": True}),
]
SPEC = {"tools": TOOLS, "instructions": "Be quick."}
COMMAND, *ARGS = mcp_stdio.argv(spec=SPEC)
LINE = " ".join(map(shlex.quote, (COMMAND, *mcp_stdio.argv(spec={"tools": TOOLS[1:]})[1:])))
TALKS = ["-c", f'echo "{HOSTILE} s3cret-value-9" >&2; exec {COMMAND} "$@"', "x", *ARGS]


@pytest.fixture
def config(deps: Deps) -> Path:
    file = Path(deps.environ["HOME"]) / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "# mine\n"
        "[mcp_servers.one]   # keep\n"
        'command = "sh"\n'
        f"args = {json.dumps(TALKS)}\n"
        'env = { API_TOKEN = "s3cret-value-9" }\n'
        "\n"
        "[mcp_servers.slow]\n"
        'command = "sh"\n'
        'args = ["-c", "echo installing 214 packages >&2; sleep 60"]\n'
    )
    return file


@asynccontextmanager
async def servers(
    deps: Deps, *, size: tuple[int, int] = WIDE, wait: bool = True, **options: Any
) -> AsyncGenerator[Panel]:
    options.setdefault("consent_all", True)
    async with open_core(deps) as core:
        client = core.client()

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, **{"read_only": False, **options})
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            p = Patient(app, pilot, cast("Any", client))
            await p.until(lambda: app.controller is not None)
            if not options["consent_all"]:
                await p.until(lambda: len(app.screen_stack) > 1)
                await p.press("escape")
                await p.until(lambda: len(app.screen_stack) == 1)
            await p.press("4")
            if wait:
                await status(p, "one", "connected")
            yield p


async def status(p: Panel, name: str, wanted: str) -> None:
    rows = p.app.store.servers.rows
    await p.until(lambda: name in rows and rows[name].status == wanted)
    await p.pilot.pause()


async def on(p: Panel, key: str) -> None:
    await p.until(lambda: p.pane.list.move_to(key))
    await p.pilot.pause()


def text(config: Path) -> str:
    return config.read_text()


def tables(config: Path) -> dict[str, Any]:
    return tomllib.loads(config.read_text()).get("mcp_servers", {})


async def until_said(p: Panel, screen: Any, what: str) -> None:
    await p.until(lambda: what in said(screen))


# ── add and edit ──


async def test_a_server_is_added_after_a_test_and_starts_at_once(deps: Deps, config: Path):
    before = text(config)
    async with servers(deps) as p:
        await p.press("a")
        form = await sheet(p, ServerForm)
        await until_said(p, form, "a name is needed")
        await p.type("new")
        form._fields["command"].value = LINE
        await until_said(p, form, "+ [mcp_servers.new]")
        await p.press("ctrl+t")
        await until_said(p, form, "by itself, once its input was closed")
        told = said(form)
        assert "● found" in told and "fake 1, protocol 2025-06-18" in told and "1 tool, ~" in told
        assert text(config) == before and "new" not in p.app.store.servers.rows
        await p.press("ctrl+s")
        await p.toast("new is added: config.toml:")
        await status(p, "new", "connected")
        assert p.pane.selected == "new"
        assert tables(config)["new"]["command"] == COMMAND
        await p.press("z")
        await p.toast("Undone")
        assert text(config) == before


async def test_saving_untested_is_allowed_and_said(deps: Deps, config: Path):
    async with servers(deps) as p:
        await p.press("a")
        form = await sheet(p, ServerForm)
        await p.type("other")
        form._fields["command"].value = "no-such-thing --flag"
        await until_said(p, form, "no program no-such-thing is found")
        await p.press("ctrl+s")
        await p.toast("other is added: config.toml:11, untested")
        await status(p, "other", "failed")


async def test_what_cannot_be_saved_says_why_and_writes_nothing(deps: Deps, config: Path):
    before = text(config)
    async with servers(deps) as p:
        await p.press("a")
        form = await sheet(p, ServerForm)
        await p.type("one")
        form._fields["command"].value = "sh"
        await until_said(p, form, "has a server of that name already")
        assert form._name.fault == "config.toml has a server of that name already"
        await p.press("ctrl+s")
        await until_said(p, form, "not saved")
        form._fields["command"].value = "sh 'open"
        await p.until(lambda: form._fields["command"].fault == "a quote is not closed")
        await p.press("escape")
        await p.until(lambda: p.app.screen is not form)
        assert text(config) == before


async def test_editing_changes_one_line_and_shows_no_secret(deps: Deps, config: Path):
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("E")
        form = await sheet(p, ServerForm)
        await until_said(p, form, "the file says all of it already")
        assert form._fields["env"].value == "API_TOKEN=•••"
        form._fields["startup_timeout_sec"].value = "45"
        await until_said(p, form, "+ startup_timeout_sec = 45")
        assert "s3cret" not in said(form)
        await p.press("ctrl+s")
        await p.toast("one is changed: config.toml:2, untested")
        assert "# keep" in text(config) and text(config).count("\n") == 10
        assert tables(config)["one"]["env"] == {"API_TOKEN": "s3cret-value-9"}
        await status(p, "one", "connected")


async def test_a_test_that_fails_shows_its_last_words_and_can_be_ended(deps: Deps, config: Path):
    async with servers(deps) as p:
        await p.press("a")
        form = await sheet(p, ServerForm)
        await p.type("bad")
        form._fields["command"].value = "sh -c 'echo boom: no key >&2; exit 3'"
        await p.press("ctrl+t")
        await until_said(p, form, "exited 3 — boom: no key")
        assert "✗ speaks MCP" in said(form) and "│ boom: no key" in said(form)
        form._fields["command"].value = "sleep 60"
        await p.press("ctrl+t")
        await until_said(p, form, "^x ends it")
        await until_said(p, form, "found: ")
        await p.press("ctrl+x")
        await until_said(p, form, "what it had started is ended")


async def test_the_form_fits_a_small_screen(deps: Deps, config: Path):
    async with servers(deps, size=NARROW) as p:
        await on(p, "one")
        await p.press("E")
        form = await sheet(p, ServerForm)
        await until_said(p, form, "the file says all of it already")
        assert form._said.region.height >= 6 and form._fields["command"].region.height == 1
        assert form._said.region.bottom <= 24


async def test_a_plugin_s_server_cannot_be_edited_and_says_whose_it_is(deps: Deps, config: Path):
    async with servers(deps, read_only=True) as p:
        await on(p, "one")
        await p.press("E")
        await p.toast("read-only")
        await p.press("x")
        await p.toast("read-only")
        assert len(p.app.screen_stack) == 1


# ── remove and end ──


async def test_a_server_is_removed_after_asking_and_comes_back(deps: Deps, config: Path):
    before = text(config)
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("x")
        asked = await sheet(p, Confirm)
        assert "config.toml:2" in said(asked) and "z puts the table back" in said(asked)
        await p.press("right", "enter")
        await p.toast("one is removed from config.toml:2")
        await p.until(lambda: "one" not in p.app.store.servers.rows)
        assert "# mine" in text(config) and "one" not in tables(config)
        await p.press("z")
        await status(p, "one", "connected")
        assert text(config) == before


async def test_what_runs_on_is_left_over_until_m_ends_it(deps: Deps, config: Path):
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("x")
        await sheet(p, Confirm)
        await p.press("right", "right", "enter")
        await p.toast("it runs on")
        await p.until(lambda: "left over" in p.line("one"))
        await on(p, "one")
        await p.until(lambda: "m end it" in p.keys)
        assert "Its table is gone" in p.details
        await p.press("m")
        await p.toast("one is ended")
        await p.until(lambda: "one" not in p.app.store.servers.rows)


async def test_cancel_is_focused_when_it_asks(deps: Deps, config: Path):
    before = text(config)
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("x")
        await sheet(p, Confirm)
        await p.press("enter")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        assert text(config) == before


# ── a start ──


async def test_a_start_shows_its_last_line_and_can_have_more_time(deps: Deps, config: Path):
    async with servers(deps) as p:
        await p.until(lambda: "installing 214 packages" in p.line("slow"))
        await on(p, "slow")
        await p.until(lambda: "L raise the limit" in p.keys and "^x cancel" in p.keys)
        assert "What it says" in p.details and "│ installing 214 packages" in p.details
        await p.press("L")
        await p.toast("slow is changed: config.toml:7; it has 60 s now")
        await p.until(lambda: p.app.store.servers.rows["slow"].limit == 60.0)
        assert tables(config)["slow"]["startup_timeout_sec"] == 60


# ── tools ──


async def test_single_tools_are_switched_from_their_server(deps: Deps, config: Path):
    before = text(config)
    async with servers(deps) as p:
        await on(p, "one")
        await p.until(lambda: "T its tools" in p.keys)
        await p.press("T")
        page = await sheet(p, ServerToolsSheet)
        rows = page._rows
        await p.until(lambda: len(rows.ids) == 2)
        assert "2 of 2 tools on" in page._sheet_status
        assert "\x1b" not in said(page) and "\u202e" not in said(page)
        await p.press("space")
        await p.until(lambda: "1 of 2 tools on" in page._sheet_status)
        assert tables(config)["one"]["disabled_tools"] == ["go"]
        await p.press("n")
        await p.until(lambda: "0 of 2 tools on" in page._sheet_status)
        await p.press("z")
        await p.until(lambda: "1 of 2 tools on" in page._sheet_status)
        await p.press("a")
        await p.until(lambda: "2 of 2 tools on" in page._sheet_status)
        assert text(config) == before


async def test_approval_is_chosen_for_a_tool_and_for_a_server(deps: Deps, config: Path):
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("P")
        choice = await sheet(p, ApprovalSheet)
        assert choice._rows.cursor_id == "not said"
        await p.press("down", "down", "enter")
        await p.toast("one: approval is prompt, config.toml:6")
        await p.press("T")
        page = await sheet(p, ServerToolsSheet)
        await p.until(lambda: page._default == "prompt")
        await p.press("P")
        choice = await sheet(p, ApprovalSheet)
        assert "its server prompt" in said(choice)
        await p.press("end", "enter")
        await p.toast("go: approval is approve")
        assert tables(config)["one"]["tools"] == {"go": {"approval_mode": "approve"}}


async def test_a_tool_s_own_row_has_switch_approval_and_traffic(deps: Deps, config: Path):
    async with servers(deps) as p:
        await p.press("3")
        await on(p, "one/go")
        await p.press("space")
        await p.toast("go is off")
        await p.until(lambda: "off" in p.line("go"))
        await p.press("P")
        await sheet(p, ApprovalSheet)
        await p.press("escape")
        await p.press("v")
        page = await sheet(p, TrafficSheet)
        assert page._name == "one"


# ── traffic ──


async def test_traffic_is_live_filtered_paused_and_without_secrets(deps: Deps, config: Path):
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("v")
        page = await sheet(p, TrafficSheet)
        rows = page._rows
        await p.until(lambda: len(rows.ids) > 6)

        def shown() -> str:
            return "\n".join(line.text for line in page._text.lines.values())

        assert "s3cret" not in shown() and "•••" in shown()
        painted = "\n".join(rows.render_line(y).text for y in range(len(rows.ids)))
        assert "\x1b" not in painted and "\u202e" not in painted and "␛[2J" in painted
        assert '"tools": [' not in said(page)
        await p.press("f", "f")
        await p.until(lambda: len(rows.ids) == 1)
        assert "•••" in said(page)
        await p.press("F", "F", "slash", *"initialize", "enter")
        await p.until(lambda: len(rows.ids) == 2)
        await p.press("escape")
        await p.until(lambda: len(rows.ids) > 6)
        await p.press("space")
        count = len(rows.ids)
        p.app.run_worker(p.app.controller.reconnect(["one"]))  # type: ignore[union-attr]
        await p.until(lambda: "held" in page._sheet_status and "0 held" not in page._sheet_status)
        assert len(rows.ids) == count
        await p.press("space")
        await p.until(lambda: len(rows.ids) > count)
        await p.press("escape")
        await p.until(lambda: len(p.app.screen_stack) == 1)


async def test_traffic_is_written_to_a_file_of_one_s_own(deps: Deps, config: Path, tmp_path: Path):
    target = tmp_path / "out.jsonl"
    async with servers(deps) as p:
        await on(p, "one")
        await p.press("v")
        page = await sheet(p, TrafficSheet)
        await p.until(lambda: len(page._rows.ids) > 6)
        await p.press("w")
        save = await sheet(p, SaveSheet)
        save._field.value = str(target)
        await p.press("enter")
        await p.toast("Written: ")
        _check_written(target, len(page._rows.ids))


def _check_written(target: Path, count: int) -> None:
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert len(lines) >= count and lines[1]["method"] == "initialize"
    assert "s3cret" not in target.read_text()
    assert target.stat().st_mode & 0o777 == 0o600


async def test_traffic_of_a_server_that_never_ran_says_so(deps: Deps, config: Path):
    async with servers(deps, consent_all=False, wait=False) as p:
        await status(p, "one", "review")
        await on(p, "one")
        await p.press("v")
        page = await sheet(p, TrafficSheet)
        await until_said(p, page, "Nothing has passed yet")


# ── details ──


async def test_what_waits_for_a_yes_shows_what_would_run(deps: Deps, config: Path):
    async with servers(deps, consent_all=False, wait=False) as p:
        await status(p, "one", "review")
        await on(p, "one")
        await p.until(lambda: "What would run" in p.details)
        assert "never agreed to" in p.details and "s3cret" not in p.details
        assert "\x1b" not in p.details and "\u202e" not in p.details


async def test_the_details_of_a_running_server(deps: Deps, config: Path):
    async with servers(deps) as p:
        await on(p, "one")
        await p.until(lambda: "Be quick." in p.details)
        for line in (
            "from       ~/.codex/config.toml:2",
            "gets       API_TOKEN",
            "limits     start",
        ):
            assert line in p.details
        assert "2 of 2 on" in p.details and "Before" in p.details
