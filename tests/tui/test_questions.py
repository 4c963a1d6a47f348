from __future__ import annotations

from typing import Any

import pytest

from core.errors import InvalidRequest
from core.protocol import jackfield as wire
from core.protocol.events import ElicitationClosed, ElicitationRequested, Lagged
from core.protocol.jackfield_tools import QuestionsResult
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, panel
from tui.bridge import CoreEventBatch
from tui.screens.elicitation import QuestionSheet
from tui.screens.errors import ErrorsSheet
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio

FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Your name"}}}


class Asked(FakeClient):
    def __init__(self) -> None:
        super().__init__(**world.ALL)
        self.answers["jackfield/elicitation/answer"] = wire.Done()

    def ask(self, number: int, server: str = "github", **more: Any) -> None:
        more.setdefault("requested_schema", FORM)
        asked = {"id": f"q{number}", "server": server, "mode": "form", "message": f"Who {number}?"}
        self.push(ElicitationRequested(**{**asked, **more}))

    def close(self, number: int, how: str = "withdrawn") -> None:
        self.push(ElicitationClosed(id=f"q{number}", server="github", how=how))

    @property
    def answered(self) -> list[tuple[str, str, Any]]:
        asked = self.asked("jackfield/elicitation/answer")
        return [(params.id, params.action, params.content) for params in asked]


def page(here: Panel) -> str:
    views = here.app.screen.query(PageView)
    return "\n".join(line.rstrip() for view in views for line in view.page.text_lines)


async def question(here: Panel, text: str) -> QuestionSheet:
    await here.until(lambda: isinstance(here.app.screen, QuestionSheet) and text in page(here))
    screen = here.app.screen
    assert isinstance(screen, QuestionSheet)
    await here.pilot.pause()
    return screen


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_question_names_its_host_first_and_is_answered(size: tuple[int, int]) -> None:
    client = Asked()
    async with panel(client, size=size) as here:
        client.ask(1)
        await question(here, "“Who 1?”")
        assert page(here).startswith("mcp.github.example") and "github" in page(here).split("\n")[0]
        await here.type("Ann")
        await here.press("ctrl+s")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert client.answered == [("q1", "accept", {"name": "Ann"})]


async def test_several_questions_come_one_after_another() -> None:
    client = Asked()
    async with panel(client) as here:
        client.ask(1)
        client.ask(2, "atlas-docs")
        await question(here, "“Who 1?”")
        await here.press("ctrl+d")
        await question(here, "“Who 2?”")
        await here.press("ctrl+s")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert client.answered == [("q1", "decline", None), ("q2", "accept", {})]


async def test_what_was_put_off_is_in_the_status_line_until_it_is_answered() -> None:
    client = Asked()
    async with panel(client) as here:
        client.ask(1)
        client.ask(2)
        await question(here, "“Who 1?”")
        await here.press("escape")
        await question(here, "“Who 2?”")
        await here.press("escape")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert "◐ a question of github and 1 more   Q answers" in here.status
        assert here.keys.startswith("Q answer")
        client.ask(3)
        await question(here, "“Who 3?”")
        await here.press("ctrl+d")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        await here.press("Q")
        await question(here, "“Who 1?”")
        await here.press("ctrl+d")
        await question(here, "“Who 2?”")
        await here.press("ctrl+d")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert [id for id, _, _ in client.answered] == ["q3", "q1", "q2"]
        await here.until(lambda: "question" not in here.status)


async def test_a_question_interrupts_neither_typing_nor_a_sheet() -> None:
    client = Asked()
    async with panel(client) as here:
        await here.press("slash")
        client.ask(1)
        await here.until(lambda: "a question of github" in here.status)
        assert len(here.app.screen_stack) == 1
        await here.press("escape", "escape", "exclamation_mark")
        await here.until(lambda: isinstance(here.app.screen, ErrorsSheet))
        client.ask(2)
        await here.until(lambda: "and 1 more" in here.status)
        assert isinstance(here.app.screen, ErrorsSheet)


async def test_what_the_server_takes_back_is_not_asked_any_more() -> None:
    client = Asked()
    async with panel(client) as here:
        client.ask(1)
        await question(here, "“Who 1?”")
        client.close(1)
        await question(here, "github no longer waits for an answer")
        await here.press("ctrl+s")
        await here.press("escape")
        await here.until(lambda: len(here.app.screen_stack) == 1)
        assert client.answered == []
        await here.press("Q")
        await here.toast("no server asks anything")


async def test_an_answer_that_comes_too_late_is_told() -> None:
    client = Asked()
    client.answers["jackfield/elicitation/answer"] = InvalidRequest("nobody waits for it any more")
    async with panel(client) as here:
        client.ask(1)
        await question(here, "“Who 1?”")
        await here.press("ctrl+s")
        await here.toast("github: not answered: nobody waits for it any more")
        assert len(here.app.screen_stack) == 1


async def test_a_hostile_question_is_only_text() -> None:
    client = Asked()
    async with panel(client) as here:
        client.ask(
            1,
            mode="url",
            message=world.HOSTILE,
            requested_schema=None,
            url="https://bank.example@evil.example/\x1b[2J\u202e",
        )
        await question(here, "A page to visit")
        assert "host       evil.example" in page(here)
        assert "\x1b" not in page(here) and "[bold red]not bold[/]" in page(here)


async def test_a_question_that_was_lost_on_the_way_is_read() -> None:
    client = Asked()
    lost = ElicitationRequested(
        id="q9", server="github", mode="form", message="Who 9?", requested_schema=FORM
    )
    client.answers["jackfield/elicitation/list"] = QuestionsResult(questions=(lost,))
    async with panel(client) as here:
        here.app.post_message(CoreEventBatch([Lagged(skipped=3)]))
        await question(here, "“Who 9?”")
        await here.press("ctrl+d")
        await here.until(lambda: client.answered == [("q9", "decline", None)])
