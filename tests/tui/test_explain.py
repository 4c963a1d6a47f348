from __future__ import annotations

from typing import Any

import pytest

from core.errors import InternalError
from core.protocol.facts import Evidence
from core.protocol.jackfield_explain import (
    Action,
    Candidate,
    Check,
    ExplainParams,
    ExplainResult,
)
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, panel
from tui.screens.explain import ExplainSheet
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio

SIGN_IN = Action(id="servers.sign-in", label="sign in again", domain="servers", subject="traces")
ADMIN = Action(label="allow it", who="administrator", whom="whoever keeps /etc/codex/r.toml")
CONFIG = Evidence(file=f"{world.HOME}/.codex/config.toml", line=3)
CHAIN = (
    Check(
        id="features.configuration",
        layer="features",
        title="Configuration",
        status="pass",
        finding="every file can be used",
        evidence=(CONFIG,),
    ),
    Check(
        id="auth.sign-in",
        layer="auth",
        title="Sign-in",
        status="fail",
        finding="the sign-in is over",
        evidence=(Evidence(wire="HTTP 401 from mcp.traces.example"),),
        actions=(SIGN_IN, ADMIN),
    ),
    Check(
        id="inventory.list",
        layer="inventory",
        title="Tool list",
        status="notReached",
        finding="not reached; 9 when last seen",
    ),
)
STOPPED = ExplainResult(
    target="traces",
    outcome="stopped",
    verdict="The model cannot use it: the sign-in is over.",
    kind="server",
    id="traces",
    name="traces",
    stop=1,
    chain=CHAIN,
)
WORKS = ExplainResult(
    target="traces",
    outcome="works",
    verdict="The model can use it.",
    kind="server",
    id="traces",
    name="traces",
    chain=CHAIN[:1],
)
AMBIGUOUS = ExplainResult(
    target="traces",
    outcome="ambiguous",
    verdict="traces may be any of 2 things; which one is meant?",
    candidates=(
        Candidate(kind="plugin", id="traces@m", name="traces", about="in m"),
        Candidate(kind="server", id="traces", name="traces", about="https://x.example"),
    ),
)


class Explaining(FakeClient):
    """Answers jackfield/explain, in turn."""

    def __init__(self, *answers: ExplainResult | Exception) -> None:
        super().__init__(**world.ALL)
        self.turns = list(answers)
        self.questions: list[ExplainParams] = []

    async def call(self, method: Any, params: Any) -> Any:
        if method.name != "jackfield/explain":
            return await super().call(method, params)
        self.questions.append(params)
        answer = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def sheet_of(p: Panel) -> ExplainSheet:
    sheet = p.app.screen
    assert isinstance(sheet, ExplainSheet)
    return sheet


def text_of(p: Panel) -> str:
    return "\n".join(sheet_of(p).query_one(PageView).page.text_lines)


async def opened(p: Panel) -> None:
    await p.press("e")
    await p.until(lambda: isinstance(p.app.screen, ExplainSheet))


async def told(p: Panel, words: str) -> None:
    await p.until(lambda: words in text_of(p))


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_verdict_comes_first_and_the_stop_shows_its_evidence(size: tuple[int, int]):
    async with panel(Explaining(STOPPED), size=size, tab="4") as p:
        await opened(p)
        await told(p, "not reached; 9 when last seen")
        lines = text_of(p).splitlines()
        assert lines[0].endswith("The model cannot use it: the sign-in is over.")
        assert lines[1].strip() == "s sign in again"
        assert any("HTTP 401 from mcp.traces.example" in line for line in lines)
        assert any("config.toml:3" in line for line in lines)
        assert any("whoever keeps /etc/codex/r.toml: allow it" in line for line in lines)
        (hint, *_), (close,) = sheet_of(p).hints()
        assert (hint.key, hint.label, close.key) == ("s", "sign in again", "escape")


async def test_the_selected_row_is_what_is_explained():
    client = Explaining(STOPPED)
    async with panel(client, tab="4") as p:
        await opened(p)
        await p.until(lambda: client.questions)
        assert client.questions == [ExplainParams(target=p.pane.selected or "", kind="server")]


async def test_nothing_is_asked_anew_before_somebody_says_so():
    client = Explaining(STOPPED, WORKS)
    async with panel(client, tab="4") as p:
        await opened(p)
        await told(p, "the sign-in is over")
        assert [asked.again for asked in client.questions] == [False]
        await p.press("r")
        await told(p, "The model can use it.")
        assert client.questions[-1] == ExplainParams(target="traces", kind="server", again=True)


async def test_evidence_of_another_check_opens_with_the_arrows():
    async with panel(Explaining(STOPPED), tab="4") as p:
        await opened(p)
        await told(p, "HTTP 401")
        await p.press("up")
        await p.until(lambda: "HTTP 401" not in text_of(p))
        assert "~/.codex/config.toml:3" in text_of(p)


async def test_a_key_mends_on_the_row_that_it_is_for():
    client = Explaining(STOPPED)
    async with panel(client, tab="4") as p:
        ran: list[tuple[str, str | None]] = []

        async def run(id: str) -> None:
            ran.append((id, p.pane.selected))

        p.app.deeds.run, before = run, p.app.deeds.run
        await before("row.explain")
        await p.until(lambda: isinstance(p.app.screen, ExplainSheet))
        await told(p, "mends it")
        server = next(iter(p.app.store.servers.rows))
        sheet = sheet_of(p)
        action = Action(id="servers.sign-in", label="x", domain="servers", subject=server)
        sheet._take(_with(STOPPED, action))  # type: ignore[reportPrivateUsage]
        await p.press("s")
        await p.until(lambda: ran)
        assert ran == [("servers.sign-in", server)]


def _with(result: ExplainResult, action: Action) -> ExplainResult:
    from msgspec.structs import replace

    chain = (result.chain[0], replace(result.chain[1], actions=(action,)), result.chain[2])
    return replace(result, chain=chain)


async def test_a_name_of_several_things_is_chosen_from():
    client = Explaining(AMBIGUOUS, STOPPED)
    async with panel(client) as p:
        p.app.explain_name("traces")
        await p.until(lambda: isinstance(p.app.screen, ExplainSheet))
        await told(p, "which one is meant?")
        await p.press("down", "enter")
        await told(p, "the sign-in is over")
        assert client.questions == [
            ExplainParams(target="traces"),
            ExplainParams(target="traces", kind="server"),
        ]


async def test_a_core_that_cannot_say_is_told():
    async with panel(Explaining(InternalError("nobody knows")), tab="4") as p:
        await opened(p)
        await told(p, "nobody knows")


async def test_what_comes_from_outside_is_shown_and_not_obeyed():
    from msgspec.structs import replace

    hostile = replace(STOPPED, verdict=world.HOSTILE, name=world.HOSTILE)
    async with panel(Explaining(hostile), tab="4") as p:
        await opened(p)
        await told(p, "not reached")
        assert "\x1b" not in text_of(p)


async def test_the_path_is_copied_whole():
    async with panel(Explaining(STOPPED), tab="4") as p:
        await opened(p)
        await told(p, "HTTP 401")
        await p.press("up", "c")
        await p.until(lambda: p.app.clipboard)
        assert "HTTP 401" in p.app.clipboard and "config.toml:3" in p.app.clipboard


async def test_names_are_found_for_the_palette():
    async with panel(Explaining(STOPPED)) as p:
        name = next(iter(p.app.store.servers.rows))
        hits = p.app.explain_names(name[:4], 20)
        assert any(hit.text == name and "server" in hit.note for hit in hits)
        assert p.app.explain_names("", 20) == []
        chosen = next(hit for hit in hits if hit.text == name and "server" in hit.note)
        p.app.explain_name(chosen.id)
        await p.until(lambda: isinstance(p.app.screen, ExplainSheet))
        await told(p, "the sign-in is over")
