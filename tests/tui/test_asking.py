"""Tools, questions, resources and prompts by key, over a real core and a real stdio server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from core.compose import open_core
from core.ports import Deps
from core.protocol.rows import ServerRow
from tests.fakes import mcp_asking
from tests.fakes.ports import FakeBrowser
from tests.tui.panel import NARROW, WIDE, Panel
from tests.tui.test_installing import Patient, said, sheet
from tui.app import JackfieldApp
from tui.screens.elicitation import QuestionSheet
from tui.screens.pick_tool import PickToolSheet
from tui.screens.prompts import ArgumentsSheet
from tui.screens.resources import OffersSheet
from tui.screens.try_tool import TrySheet
from tui.widgets.page_view import Detail

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def asking(
    deps: Deps, tmp_path: Path, *, size: tuple[int, int] = WIDE, tab: str = "3"
) -> AsyncGenerator[Panel]:
    command, *args = mcp_asking.argv(log=tmp_path / "log")
    file = Path(deps.environ["HOME"]) / ".codex" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        f"[mcp_servers.one]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n"
        "tool_timeout_sec = 20\n"
    )
    async with open_core(deps) as core:
        client = core.client()

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, read_only=False, consent_all=True)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            p = Patient(app, pilot, cast("Any", client))
            await p.until(lambda: "one/prompt:greet" in app.store.inventory.rows)
            await p.press(tab)
            yield p


async def trying(p: Panel, tool: str) -> TrySheet:
    await p.until(lambda: p.pane.list.move_to(f"one/{tool}"))
    await p.pilot.pause()
    await p.press("t")
    return cast("TrySheet", await sheet(p, TrySheet))


def result(screen: Any) -> str:
    return "\n".join(line.rstrip() for line in screen.query_one(Detail).page.text_lines)


async def shows(p: Panel, screen: Any, text: str) -> None:
    await p.until(lambda: text in result(screen))


def sent(tmp_path: Path, method: str) -> bool:
    log = tmp_path / "log"
    return log.exists() and f'"{method}"' in log.read_text()


# ── calls ──


async def test_a_real_tool_is_called_and_called_again_as_it_was(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "echo")
        await p.type("hello")
        await p.press("tab")
        await p.type("3")
        await p.press("ctrl+s")
        await shows(p, screen, '"text": "hello",')
        assert '"times": 3' in result(screen)
        await p.press("escape")
        await p.until(lambda: p.app.screen is not screen)
        # What came of it is still there, and the history knows what was sent.
        again = await trying(p, "echo")
        assert '"text": "hello",' in result(again)
        await p.press("ctrl+t")
        await p.until(lambda: "Called before" in str(p.app.screen.query_one("#box").border_title))
        await p.press("ctrl+s")
        await p.until(lambda: p.app.screen is again)
        await shows(p, again, "call 2")
        await shows(p, again, '"text": "hello",')


async def test_a_server_that_is_killed_in_the_call_says_so(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "kill")
        await p.press("ctrl+s")
        await shows(p, screen, "✗ no answer  killed by SIGKILL")
        assert "nothing is sent again by itself" in result(screen)


async def test_progress_is_shown_and_cancelling_reaches_the_server(
    deps: Deps, tmp_path: Path
) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "wait")
        await p.press("ctrl+s")
        await shows(p, screen, "a quarter")
        assert ", 25%" in result(screen)
        await p.press("ctrl+x")
        await shows(p, screen, "○ cancelled  by you")
        await p.until(lambda: sent(tmp_path, "notifications/cancelled"))


# ── questions ──


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_form_is_answered_and_nobody_else_hears_it(
    deps: Deps, tmp_path: Path, size: tuple[int, int]
) -> None:
    async with asking(deps, tmp_path, size=size) as p:
        screen = await trying(p, "ask")
        await p.press("ctrl+s")
        question = await sheet(p, QuestionSheet)
        assert "“Who are you?”" in said(question)
        assert "mcp_asking.py" in "".join(said(question).split())
        await p.press("A", "ctrl+s")
        await p.until(lambda: question.query(".-fault"))
        await p.type("nn Onymous")
        await p.press("tab", "right", "tab", "space", "ctrl+s")
        await p.until(lambda: p.app.screen is screen)
        await shows(p, screen, '"action": "accept"')
        for part in ('"colour": "r"', '"name": "Ann Onymous"', '"a"'):
            assert part in result(screen)
        told = repr([entry.event for entry in p.app.store.activity])
        assert "ElicitationClosed" in told and "Onymous" not in told


async def test_a_question_is_declined(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "ask")
        await p.press("ctrl+s")
        await sheet(p, QuestionSheet)
        await p.press("ctrl+d")
        await shows(p, screen, '"action": "decline"')


async def test_a_question_can_wait_and_is_asked_again_by_its_key(
    deps: Deps, tmp_path: Path
) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "agree")
        await p.press("ctrl+s")
        await sheet(p, QuestionSheet)
        await p.press("escape")
        await p.until(lambda: p.app.screen is screen)
        await p.press("escape")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        await p.until(lambda: "a question of one   Q answers" in p.status)
        assert "Q answer" in p.keys
        await p.press("Q")
        question = await sheet(p, QuestionSheet)
        assert "nothing but a yes or a no" in said(question)
        await p.press("ctrl+s")
        await p.until(lambda: len(p.app.screen_stack) == 1)
        await p.until(lambda: "question" not in p.status)
        again = await trying(p, "agree")
        await shows(p, again, '"action": "accept"')


async def test_a_page_is_shown_and_only_opened_by_its_key(
    deps: Deps, tmp_path: Path, browser: FakeBrowser
) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "visit")
        await p.press("ctrl+s")
        question = await sheet(p, QuestionSheet)
        text = said(question)
        assert "host       auth.example:8443" in text
        assert mcp_asking.PAGE in text.replace("\n", "").replace(" ", "")
        assert browser.opened == []
        await p.press("o")
        await p.until(lambda: browser.opened == [mcp_asking.PAGE])
        await p.press("ctrl+s")
        await shows(p, screen, '"action": "accept"')


async def test_a_question_that_is_taken_back_says_so_and_closes(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path) as p:
        screen = await trying(p, "take_back")
        await p.press("ctrl+s")
        question = await sheet(p, QuestionSheet)
        (tmp_path / "log.back").touch()
        await p.until(lambda: "one no longer waits for an answer" in said(question))
        await p.until(lambda: p.app.screen is screen)
        await shows(p, screen, '"taken back"')


# ── what else a server offers ──


async def test_a_tool_is_chosen_on_the_servers_tab(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path, tab="4") as p:
        await p.press("t")
        picking = await sheet(p, PickToolSheet)
        assert len(picking._rows.ids) == len(mcp_asking.TOOLS)
        await p.press("enter")
        screen = await sheet(p, TrySheet)
        assert screen._tool_id == "one/agree"


async def test_a_resource_is_read_followed_and_read_again_as_it_changes(
    deps: Deps, tmp_path: Path
) -> None:
    async with asking(deps, tmp_path, tab="4") as p:
        await p.press("d")
        screen = await sheet(p, OffersSheet)
        await p.press("enter")
        await shows(p, screen, "note:1 as of 0")
        await p.press("s")
        await p.until(lambda: "followed" in result(screen))
        await p.until(lambda: sent(tmp_path, "resources/subscribe"))
        from core import method_table as methods
        from core.protocol.jackfield_tools import ToolCallParams

        await p.client.call(methods.JACKFIELD_TOOL_CALL, ToolCallParams(id="one/touch"))
        await shows(p, screen, "note:1 as of 1")
        assert "updated" in result(screen)
        await p.press("s")
        await p.until(lambda: "no longer followed" in result(screen))
        assert sent(tmp_path, "resources/unsubscribe")


async def test_a_template_asks_for_its_variables(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path, tab="4") as p:
        await p.press("d")
        screen = await sheet(p, OffersSheet)
        await p.until(lambda: screen._rows.move_to("template note:{id}{?lang}"))
        await p.press("enter")
        await sheet(p, ArgumentsSheet)
        await p.type("a/b")
        await p.press("tab")
        await p.type("en")
        await p.press("ctrl+s")
        await shows(p, screen, "note:a%2Fb?lang=en as of 0")


async def test_a_prompts_argument_is_completed_and_its_messages_shown(
    deps: Deps, tmp_path: Path
) -> None:
    async with asking(deps, tmp_path, size=NARROW, tab="4") as p:
        await p.press("d")
        screen = await sheet(p, OffersSheet)
        await p.until(lambda: screen._rows.move_to("prompt greet"))
        await p.press("enter")
        arguments = await sheet(p, ArgumentsSheet)
        await p.press("A", "ctrl+t")
        await p.until(lambda: "1 of 2" in str(arguments.query_one("#box").border_subtitle))
        await p.press("ctrl+t")
        await p.until(lambda: "2 of 2" in str(arguments.query_one("#box").border_subtitle))
        await p.press("ctrl+s")
        await shows(p, screen, "Hello Anton")


async def test_a_server_that_is_not_connected_says_why_not(deps: Deps, tmp_path: Path) -> None:
    async with asking(deps, tmp_path, tab="4") as p:
        rows = p.app.store.servers.rows
        row: ServerRow = rows["one"]
        offers = {offer.id: offer for offer in p.app.offers()}
        assert offers["tools.try"].why == "" and offers["servers.offers"].why == ""
        await p.press("space")
        await p.until(lambda: rows["one"].status == "disabled")
        await p.pilot.pause()
        offers = {offer.id: offer for offer in p.app.offers()}
        assert offers["tools.try"].why == "one is not connected"
        assert offers["servers.offers"].why == "one is not connected"
        assert row.status == "connected"
