from __future__ import annotations

from typing import Any

import pytest

from core.errors import Unavailable
from core.protocol.facts import Evidence
from core.protocol.jackfield_doctor import Check, DoctorParams, DoctorResult
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, panel
from tui.screens.doctor import DoctorSheet
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio

CHECKS = (
    Check(id="home.exists", area="home", verdict="ok", finding="the Codex home can be read"),
    Check(
        id="home.mode.auth",
        area="home",
        verdict="fault",
        finding="others may read or write this file with secrets (mode 0644)",
        evidence=Evidence(file=f"{world.HOME}/.codex/auth.json"),
        fix=f"chmod 600 {world.HOME}/.codex/auth.json",
    ),
    Check(id="programs.codex", area="programs", verdict="note", finding=world.HOSTILE),
)


class Doctored(FakeClient):
    """Answers jackfield/doctor."""

    def __init__(self, answer: DoctorResult | Exception) -> None:
        super().__init__(**world.ALL)
        self.answer = answer
        self.asked_for: list[DoctorParams] = []

    async def call(self, method: Any, params: Any) -> Any:
        if method.name != "jackfield/doctor":
            return await super().call(method, params)
        self.asked_for.append(params)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def opened(p: Panel) -> DoctorSheet:
    p.app.run_command("app.doctor")
    await p.until(lambda: isinstance(p.app.screen, DoctorSheet))
    sheet = p.app.screen
    assert isinstance(sheet, DoctorSheet)
    return sheet


def text_of(sheet: DoctorSheet) -> str:
    return "\n".join(sheet.query_one(PageView).page.text_lines)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_worst_stands_first_with_its_place_and_its_fix(size: tuple[int, int]):
    async with panel(Doctored(DoctorResult(checks=CHECKS)), size=size) as p:
        sheet = await opened(p)
        await p.until(lambda: "Broken" in text_of(sheet))
        lines = text_of(sheet).splitlines()
        assert lines[0].startswith("Broken")
        assert lines[1].startswith("✗ others may read or write this file with secrets")
        assert "  ~/.codex/auth.json" in lines
        assert "\x1b" not in text_of(sheet)


async def test_it_looks_again_and_asks_git_servers_when_told_to():
    client = Doctored(DoctorResult(checks=CHECKS))
    async with panel(client) as p:
        sheet = await opened(p)
        await p.until(lambda: "Broken" in text_of(sheet))
        await p.press("r")
        await p.until(lambda: len(client.asked_for) == 2)
        await p.press("o")
        await p.until(lambda: len(client.asked_for) == 3)
        assert [params.online for params in client.asked_for] == [False, False, True]


async def test_a_core_that_cannot_look_is_said_on_the_sheet():
    async with panel(Doctored(Unavailable("the connection ended"))) as p:
        sheet = await opened(p)
        await p.until(lambda: "the connection ended" in text_of(sheet))
        await p.press("escape")
        assert not isinstance(p.app.screen, DoctorSheet)
