from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from core.errors import InvalidRequest
from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.ports import Deps
from core.protocol.events import (
    ConsentRequested,
    ElicitationRequested,
    InventoryChanged,
    RefreshFinished,
    ServersChanged,
    Traffic,
)
from core.protocol.jackfield import ConsentAnswers, ElicitationAnswer, NameParams, NamesParams
from core.protocol.jackfield import NoParams as Nothing
from core.scope import Caller, RequestScope
from core.seams import HostedServer
from tests.core.mcp.fakes import FakeMaker, Script, tool
from tests.core.threads.world import PANEL, World, world
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

ONE = '[mcp_servers.one]\ncommand = "one"\n'
TWO = '[mcp_servers.two]\ncommand = "two"\n'
WEB = '[mcp_servers.web]\nurl = "http://h.example/mcp"\n'
SCOPE = RequestScope(caller=Caller(policy=PANEL))

Make = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def make(deps: Deps) -> Make:
    def make(config: str, **more: Any) -> AbstractAsyncContextManager[World]:
        more.setdefault("ping_every", 0)
        return world(replace(deps, clock=FakeClock(auto=False)), config, **more)

    return make


@pytest.fixture
async def opened(make: Make) -> AsyncGenerator[World]:
    async with make(ONE + TWO) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="connected")
        yield here


def asked(here: World) -> list[int]:
    return [event.count for event in here.events if isinstance(event, ConsentRequested)]


# --- opening, and consent


async def test_rows_are_there_at_once_and_nothing_starts_without_a_yes(make: Make) -> None:
    async with make(ONE + TWO) as here:
        await here.panel.open()
        assert {row.id: (row.status, row.reason) for row in here.rows.values()} == {
            "one": ("review", "new"),
            "two": ("review", "new"),
        }
        await anyio.wait_all_tasks_blocked()
        assert here.maker.sessions == {}
        assert asked(here) == [2]


async def test_what_gets_its_yes_is_started_and_the_rest_goes_on_waiting(make: Make) -> None:
    async with make(ONE + TWO) as here:
        await here.panel.open()
        items = (await here.handlers["jackfield/consent/read"](Nothing(), SCOPE)).items
        assert [(item.name, item.status, item.command) for item in items] == [
            ("one", "new", ("one",)),
            ("two", "new", ("two",)),
        ]
        answers = ConsentAnswers(answers={items[0].id: True})
        await here.handlers["jackfield/consent/write"](answers, SCOPE)
        await here.until_status(one="connected", two="review")
        assert "two" not in here.maker.sessions


async def test_a_yes_is_asked_once_for_as_long_as_nothing_changes(make: Make) -> None:
    async with make(ONE) as here:
        await here.panel.open()
        await here.agree()
    async with make(ONE + TWO) as here:
        await here.panel.open()
        await here.until_status(one="connected", two="review")
        assert asked(here) == [1]
        await here.panel.follow()
        assert asked(here) == [1], "it is said once"


async def test_the_same_thread_comes_back_when_asked_again(make: Make) -> None:
    async with make(ONE) as here:
        assert await here.panel.open() is await here.panel.open()
        (row,) = here.threads.rows.current.rows.values()
        assert row.mine


async def test_yes_to_all_never_means_untrusted_folders(make: Make, deps: Deps) -> None:
    (deps.cwd / ".codex").mkdir()
    (deps.cwd / ".codex" / "config.toml").write_text('[mcp_servers.theirs]\ncommand = "x"\n')
    async with make(ONE) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", theirs="untrusted")
        with pytest.raises(
            InvalidRequest, match="theirs is not started, untrusted: project folder"
        ):
            here.panel.reconnect(["theirs"])
        await here.panel.follow()
        rows = (await here.client(policy=PANEL).call("mcpServerStatus/list"))["data"]
        assert [row["name"] for row in rows] == ["one", "theirs"]
        assert list(here.maker.sessions) == ["one"]


async def test_no_way_leads_around_consent(make: Make) -> None:
    async with make(ONE) as here:
        client = here.client(policy=PANEL)
        for opened in (False, True):
            if opened:
                await here.panel.open()
            (row,) = (await client.call("mcpServerStatus/list"))["data"]
            assert row["toolsError"] == "MCP startup failed: not agreed to yet"
            with pytest.raises(Exception, match="not agreed to yet"):
                await client.call("mcpServer/resource/read", server="one", uri="u")
        with pytest.raises(InvalidRequest, match="one is not started, not agreed to yet"):
            here.panel.reconnect(["one"])
        assert here.maker.sessions == {}
        assert here.probe.asked == []


async def test_the_hosted_apps_server_needs_no_yes_of_its_own(make: Make) -> None:
    async with make("") as here:
        here.hosted.server = HostedServer(url="https://apps.example/mcp")
        await here.panel.open()
        await here.until_status(codex_apps="connected")
        assert here.panel.consent_items() == ()


# --- rows


async def test_a_connected_server_shows_what_it_said(make: Make) -> None:
    script = Script(
        tools=[tool("a", annotations={"readOnlyHint": True}), tool("b")],
        capabilities={"tools": {}, "resources": {}},
        replies={
            "resources/list": [{"resources": [{"uri": "r://1", "name": "r"}]}],
            "resources/templates/list": [{"resourceTemplates": []}],
        },
    )
    async with make(ONE + 'disabled_tools = ["b"]\n', maker=FakeMaker(one=script)) as here:
        await here.panel.open(consent_all=True)
        await here.until(lambda: here.rows["one"].templates is not None)
        row = here.rows["one"]
        assert (row.status, row.tools, row.tools_total) == ("connected", 1, 2)
        assert (row.resources, row.templates, row.protocol) == (1, 0, "2025-06-18")
        assert (row.server_version, row.pid, row.target) == ("1", 4711, "one")
        assert {key: (t.kind, t.callable, t.reason) for key, t in here.tools.items()} == {
            "one/a": ("tool", True, ""),
            "one/b": ("tool", False, "off: in disabled_tools"),
            "one/resource:r://1": ("resource", False, ""),
        }
        assert here.tools["one/a"].effect == "reads"
        assert here.tools["one/a"].tokens > 5


async def test_a_malformed_tool_is_a_row_with_its_problem(make: Make) -> None:
    script = Script(tools=[tool("good"), {"name": "bad"}])
    async with make(ONE, maker=FakeMaker(one=script)) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        assert here.tools["one/bad"].reason == "unusable: inputSchema is missing"
        assert not here.tools["one/bad"].callable
        (problem,) = here.rows["one"].problems
        assert problem.message == "tool bad: inputSchema is missing"
        assert problem.codex == "refuses the whole server"


async def test_what_the_model_cannot_see_it_cannot_call(make: Make) -> None:
    hidden = tool("a", _meta={"ui": {"visibility": ["app"]}})
    async with make(ONE, maker=FakeMaker(one=Script(tools=[hidden]))) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        row = here.tools["one/a"]
        assert (row.visible, row.callable, row.reason) == (
            False,
            False,
            "for apps only, not for the model",
        )


async def test_a_dead_server_shows_why_and_its_tools_count_no_more(opened: World) -> None:
    opened.maker.latest("one").die(CloseReason(exit_code=3, tail=("boom: missing API key",)))
    await opened.until_status(one="waiting")
    row = opened.rows["one"]
    assert row.reason == "exited 3 — boom: missing API key; try 2 in 1 s"
    assert (row.tools, row.pid, row.stderr_tail) == (None, None, ("boom: missing API key",))
    tools = opened.tools["one/t"]
    assert (tools.callable, tools.cached) == (False, True)
    assert tools.reason.startswith("one: exited 3 — boom")
    clock = opened.deps.clock
    assert isinstance(clock, FakeClock)
    await clock.advance(1)
    await opened.until_status(one="connected")
    assert opened.tools["one/t"].callable and not opened.tools["one/t"].cached


async def test_secrets_never_reach_a_row_or_an_event(make: Make) -> None:
    config = """
        [mcp_servers.one]
        command = "x"
        args = ["--token", "t0ken-value"]
        env = { API_KEY = "s3cret-value" }
        """
    refused = SessionClosed(CloseReason(exit_code=1, tail=("bad key s3cret-value",)))
    script = Script(refuse=[refused], tail=())
    async with make(config, maker=FakeMaker(one=script)) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="failed")
        assert here.rows["one"].reason == "exited 1 — bad key •••"
        assert here.rows["one"].target == "x --token •••"
        script.refuse.clear()
        script.tools = [tool("t", description="uses s3cret-value")]
        here.panel.reconnect(["one"])
        await here.until_status(one="connected")
        told = [event for event in here.events if not isinstance(event, InventoryChanged)]
        assert "s3cret-value" not in repr(told) and "t0ken-value" not in repr(told)
        detail = await here.panel.detail("one")
        assert "t0ken-value" not in repr(detail)


async def test_traffic_is_told_both_ways_with_its_duration(opened: World) -> None:
    lines = [e for e in opened.events if isinstance(e, Traffic) and e.name == "one"]
    assert [(line.direction, line.method) for line in lines] == [
        ("out", "initialize"),
        ("in", "initialize"),
        ("out", "tools/list"),
        ("in", "tools/list"),
    ]
    assert lines[3].ms is not None and '"name":"t"' in lines[3].text


async def test_long_messages_are_cut(make: Make) -> None:
    script = Script(tools=[tool("t", description="x" * 5000)])
    async with make(ONE, maker=FakeMaker(one=script)) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        assert max(len(e.text) for e in here.events if isinstance(e, Traffic)) == 2000


async def test_each_server_is_published_as_it_answers(make: Make) -> None:
    maker = FakeMaker(two=Script())
    maker.scripts["two"].gate("initialize")
    async with make(ONE + TWO, maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected", two="starting")
        seen = [e for e in here.events if isinstance(e, ServersChanged)]
        assert {row.id for row in seen[0].upserted} == {"one", "two"}
        assert [row.status for e in seen[1:] for row in e.upserted if row.id == "one"]
        assert here.rows["two"].limit == 30.0


# --- following the files


async def test_a_new_server_is_a_row_at_once(opened: World) -> None:
    opened.panel.consent.everything = False
    opened.write(ONE + TWO + '[mcp_servers.new]\ncommand = "new"\n')
    await opened.panel.follow()
    assert opened.rows["new"].status == "review"
    assert list(opened.rows) == ["new", "one", "two"]


async def test_a_changed_server_runs_on_until_the_yes(make: Make) -> None:
    async with make(ONE) as here:
        await here.panel.open()
        await here.agree()
        await here.until_status(one="connected")
        here.write('[mcp_servers.one]\ncommand = "other"\n')
        await here.panel.follow()
        row = here.rows["one"]
        assert (row.status, row.target) == ("connected", "one")
        assert [problem.rule for problem in row.problems] == ["changed"]
        (item,) = here.panel.consent_items()
        assert (item.status, item.command, item.was) == ("changed", ("other",), ("command one",))
        await here.agree()
        await here.until(lambda: here.rows["one"].target == "other")
        await here.until_status(one="connected")
        assert here.rows["one"].problems == ()


async def test_a_filter_takes_hold_without_a_new_connection(opened: World) -> None:
    opened.write(ONE + 'disabled_tools = ["t"]\n' + TWO)
    await opened.panel.follow()
    assert opened.tools["one/t"].filtered
    assert opened.rows["one"].tools == 0
    assert len(opened.maker.sessions["one"]) == 1


async def test_a_removed_server_is_shown_as_running_until_it_is_ended(opened: World) -> None:
    opened.write(TWO)
    await opened.panel.follow()
    row = opened.rows["one"]
    assert (row.configured, row.reason) == (False, "running, no longer configured")
    assert opened.maker.latest("one").closed_by_us is False
    await opened.handlers["jackfield/server/cancel"](NameParams(name="one"), SCOPE)
    assert "one" not in opened.rows and "one/t" not in opened.tools
    await opened.until(lambda: opened.maker.latest("one").closed_by_us)


async def test_a_server_that_comes_back_into_the_file_is_configured_again(opened: World) -> None:
    opened.write(TWO)
    await opened.panel.follow()
    opened.write(ONE + TWO)
    await opened.panel.follow()
    assert opened.rows["one"].configured
    assert len(opened.maker.sessions["one"]) == 1


async def test_switching_off_ends_a_server_and_switching_on_starts_it(opened: World) -> None:
    opened.write(ONE + "enabled = false\n" + TWO)
    await opened.panel.follow()
    assert (opened.rows["one"].status, opened.rows["one"].reason) == ("disabled", "by you")
    assert "one/t" not in opened.tools
    await opened.until(lambda: opened.maker.latest("one").closed_by_us)
    opened.write(ONE + TWO)
    await opened.panel.follow()
    await opened.until_status(one="connected")


async def test_a_broken_entry_is_told_and_its_server_runs_on(opened: World) -> None:
    opened.write('[mcp_servers.one]\ncommand = "one"\nurl = "x"\n' + TWO)
    await opened.panel.follow()
    row = opened.rows["one"]
    assert row.status == "connected"
    assert [problem.rule for problem in row.problems] == ["server-entry"]


# --- commands


async def test_reconnect_without_names_takes_all_that_have_failed(make: Make) -> None:
    maker = FakeMaker(
        one=Script(refuse=[SessionClosed(CloseReason(exit_code=3))]),
        web=Script(refuse=[HttpFailed(CloseReason(http_status=401, challenge=("Bearer",)))]),
    )
    async with make(ONE + TWO + WEB, maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="failed", web="authenticationRequired", two="connected")
        for script in maker.scripts.values():
            script.refuse.clear()
        await here.handlers["jackfield/server/reconnect"](NamesParams(), SCOPE)
        await here.until_status(one="connected", web="connected")
        assert len(maker.sessions["two"]) == 1
        assert here.probe.forgotten == ["http://h.example/mcp"]


async def test_commands_name_what_they_do_not_know(opened: World) -> None:
    with pytest.raises(InvalidRequest, match="unknown MCP server 'zz'"):
        opened.panel.reconnect(["zz"])
    with pytest.raises(InvalidRequest, match="zz is not running"):
        opened.panel.cancel("zz")
    with pytest.raises(InvalidRequest, match="unknown MCP server 'zz'"):
        await opened.panel.detail("zz")


async def test_a_start_can_be_cancelled_and_taken_up_again(make: Make) -> None:
    maker = FakeMaker(one=Script())
    gate = maker.scripts["one"].gate("initialize")
    async with make(ONE, maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until(lambda: "one" in maker.sessions)
        here.panel.cancel("one")
        await here.until_status(one="cancelled")
        gate.set()
        here.panel.reconnect(["one"])
        await here.until_status(one="connected")


async def test_details_hold_history_environment_and_declarations(make: Make) -> None:
    config = """
        [mcp_servers.one]
        command = "sh"
        env = { A = "value-of-a" }
        env_vars = ["UNSET"]
        tools.t.approval_mode = "prompt"
        """
    async with make(config) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        detail = await here.panel.detail("one")
        assert detail["row"]["name"] == "one"
        assert [past["status"] for past in detail["history"]] == ["starting", "connected"]
        assert detail["environment"] == [
            {"name": "A", "set": True},
            {"name": "UNSET", "set": False},
        ]
        assert detail["resolved"].endswith("/sh")
        assert "value-of-a" not in repr(detail)
        found = here.panel.tool_detail("one/t")
        assert found is not None
        assert found["declaration"] == tool("t") and found["approval"] == "prompt"
        assert here.panel.tool_detail("one/zz") is None


# --- authorisation, refresh, questions


async def test_how_servers_are_authorised_is_looked_up_beside_their_start(make: Make) -> None:
    async with make(WEB) as here:
        here.probe.answers["http://h.example/mcp"] = True
        await here.panel.open(consent_all=True)
        await here.until(lambda: here.rows["web"].auth == "notLoggedIn")
        here.probe.answers["http://h.example/mcp"] = False
        here.panel.signed_in("web")
        await here.until(lambda: here.rows["web"].auth == "unsupported")


async def test_a_forced_refresh_lists_again_and_takes_up_what_failed(make: Make) -> None:
    maker = FakeMaker(one=Script(refuse=[SessionClosed(CloseReason(exit_code=3))]))
    async with make(ONE + TWO, maker=maker) as here:
        await here.panel.open(consent_all=True)
        await here.until_status(one="failed", two="connected")
        maker.scripts["one"].refuse.clear()
        maker.scripts["two"].tools.append(tool("new"))
        with anyio.fail_after(5):
            await here.panel.refresh("r1", forced=True)
        await here.until(lambda: "two/new" in here.tools)
        assert here.rows["one"].status == "connected"
        (done,) = [e for e in here.events if isinstance(e, RefreshFinished) and e.id == "r1"]
        assert done.outcome == "ok"
        assert len(maker.sessions["two"]) == 1


async def test_a_question_waits_at_the_desk_until_it_is_answered(opened: World) -> None:
    question = {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    session = opened.maker.latest("one")
    got: list[Any] = []

    async def ask() -> None:
        got.append(await session.ask(1, "elicitation/create", question))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await opened.until(
            lambda: [e for e in opened.events if isinstance(e, ElicitationRequested)]
        )
        assert session.pauses == 1, "nobody is late while a person is asked"
        (event,) = [e for e in opened.events if isinstance(e, ElicitationRequested)]
        assert (event.server, event.mode) == ("one", "form")
        answer = ElicitationAnswer(id=event.id, action="accept", content={"a": 1})
        await opened.handlers["jackfield/elicitation/answer"](answer, SCOPE)
    assert got == [{"action": "accept", "content": {"a": 1}}]
    assert session.pauses == 0
    with pytest.raises(InvalidRequest):
        await opened.handlers["jackfield/elicitation/answer"](answer, SCOPE)
