from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.errors import InternalError, InvalidRequest
from core.mcp.client.session import CloseReason, DeadlinePassed
from core.ports import Deps
from core.protocol.events import (
    ElicitationClosed,
    ElicitationRequested,
    Event,
    OperationProgress,
    ResourceUpdated,
    Traffic,
)
from core.protocol.jackfield import ElicitationAnswer, NoParams
from core.protocol.jackfield_tools import (
    CallIdParams,
    CompleteParams,
    LinkParams,
    PromptGetParams,
    ResourceParams,
    ServerParams,
    ToolCallParams,
    ToolCallResult,
    ToolHistoryParams,
)
from core.scope import Caller, RequestScope
from core.service.tools import ToolsService
from tests.core.mcp.fakes import FakeMaker, Script
from tests.core.threads.world import PANEL, World, world
from tests.fakes import mcp_stdio
from tests.fakes.ports import FakeBrowser, FakeClock

pytestmark = pytest.mark.anyio

ONE = '[mcp_servers.one]\ncommand = "one"\n'
SCOPE = RequestScope(caller=Caller(policy=PANEL))
RESOURCES = {
    "tools": {},
    "resources": {"subscribe": True},
    "prompts": {},
    "completions": {},
}
READ = {"contents": [{"uri": "a:1", "text": "hello", "mimeType": "text/plain"}]}


@dataclass
class Tools:
    world: World
    service: ToolsService

    async def call(self, name: str, params: Any) -> Any:
        handlers = {**self.world.handlers, **self.service.handlers()}
        return await handlers[f"jackfield/{name}"](params, SCOPE)

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.world.events if isinstance(event, kind)]


Make = Callable[..., AbstractAsyncContextManager[Tools]]


@pytest.fixture
def make(deps: Deps) -> Make:
    @asynccontextmanager
    async def make(config: str = ONE, *, real: bool = False, **more: Any) -> AsyncGenerator[Tools]:
        chosen = deps if real else replace(deps, clock=FakeClock(auto=False))
        more.setdefault("ping_every", 0)
        async with world(chosen, config, real=real, **more) as here:
            listeners: list[Callable[[Event], None]] = []
            emit = here.panel._emit  # type: ignore[reportPrivateUsage]

            def tell(event: Event) -> None:
                emit(event)
                for listener in listeners:
                    listener(event)

            here.panel._emit = tell  # type: ignore[reportPrivateUsage]
            service = ToolsService(here.threads, here.panel, chosen.browser, here.events.append)
            listeners.append(service.happened)
            await here.panel.open(consent_all=True)
            await here.until_status(one="connected")
            yield Tools(here, service)

    return make


def stdio(mode: str = "ok", *, more: str = "", **options: Any) -> str:
    command, *args = mcp_stdio.argv(mode, **options)
    return f"[mcp_servers.one]\ncommand = {json.dumps(command)}\nargs = {json.dumps(args)}\n{more}"


# ── calls ──


async def test_a_call_comes_back_with_content_time_and_size(make: Make) -> None:
    script = Script(
        replies={
            "tools/call": [
                {
                    "content": [{"type": "text", "text": "done"}],
                    "structuredContent": {"n": 1},
                    "_meta": {"a": 1},
                }
            ]
        }
    )
    async with make(maker=FakeMaker(one=script)) as tools:
        result = await tools.call("tool/call", ToolCallParams(id="one/t", arguments={"a": 1}))
        assert result.outcome == "answered" and not result.is_error
        assert result.content == ({"type": "text", "text": "done"},)
        assert result.structured and result.structured_content == {"n": 1}
        assert result.meta == {"a": 1}
        assert result.bytes > 20 and result.cut == ""
        asked = [p for m, p, _ in tools.world.maker.latest("one").asked if m == "tools/call"]
        assert asked == [{"name": "t", "arguments": {"a": 1}}]
        states = [(e.subject, e.state) for e in tools.told(OperationProgress)]
        assert states == [("one/t", "running"), ("one/t", "done")]


async def test_a_tools_own_failure_is_an_answer(make: Make) -> None:
    reply = {"content": [{"type": "text", "text": "no such repo"}], "isError": True}
    async with make(maker=FakeMaker(one=Script(replies={"tools/call": [reply]}))) as tools:
        result = await tools.call("tool/call", ToolCallParams(id="one/t"))
        assert (result.outcome, result.is_error) == ("answered", True)
        (past,) = (await tools.call("tool/history", ToolHistoryParams())).calls
        assert (past.outcome, past.said) == ("toolError", "no such repo")


@pytest.mark.parametrize(
    ("mode", "reason"),
    [("kill", "killed by SIGKILL"), ("exit-call", "exited 4 — fatal: giving up")],
)
async def test_a_server_that_dies_in_the_call_says_how(make: Make, mode: str, reason: str) -> None:
    async with make(stdio(mode), real=True) as tools:
        with anyio.fail_after(10):
            result = await tools.call("tool/call", ToolCallParams(id="one/go"))
        assert (result.outcome, result.reason) == ("failed", reason)
        assert result.hint == "nothing is sent again by itself"


async def test_a_late_answer_names_the_limit(make: Make) -> None:
    late = DeadlinePassed("tools/call", 60)
    async with make(maker=FakeMaker(one=Script(replies={"tools/call": [late]}))) as tools:
        result = await tools.call("tool/call", ToolCallParams(id="one/t"))
        assert (result.outcome, result.reason) == ("failed", "no answer to tools/call in 60 s")
        assert "tool_timeout_sec" in result.hint


async def test_the_servers_limit_holds_and_the_connection_lives_on(make: Make) -> None:
    more = "tool_timeout_sec = 0.2\n"
    config = stdio("never", more=more, spec={"results": {"ping": {}}})
    async with make(config, real=True) as tools:
        with anyio.fail_after(10):
            result = await tools.call("tool/call", ToolCallParams(id="one/go"))
        assert result.reason == "no answer to tools/call in 0.2 s"
        assert tools.world.rows["one"].status == "connected"


async def test_cancelling_tells_the_server(make: Make, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with make(stdio("never", log=log), real=True) as tools:
        results: list[ToolCallResult] = []

        async def call() -> None:
            results.append(await tools.call("tool/call", ToolCallParams(id="one/go", call_id="x")))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await tools.world.until(lambda: log.exists() and b"tools/call" in log.read_bytes())
            await tools.call("tool/cancel", CallIdParams(call_id="x"))
        assert results[0].outcome == "cancelled" and results[0].duration_ms > 0
        await tools.world.until(lambda: b"notifications/cancelled" in log.read_bytes())
        assert tools.told(OperationProgress)[-1].state == "cancelled"
        with pytest.raises(InvalidRequest):
            await tools.call("tool/cancel", CallIdParams(call_id="x"))


async def test_progress_is_told_with_its_share_and_not_as_a_flood(make: Make) -> None:
    def progress(n: int) -> dict[str, Any]:
        params = {"progressToken": 1, "progress": n, "total": 1000, "message": f"step {n}"}
        return {"method": "notifications/progress", "params": params}

    # The token of the first call after tools/list.
    spec = {"first": {"tools/call": [progress(n) for n in range(1, 1001)]}}
    async with make(stdio(spec=spec), real=True) as tools:
        await tools.call("tool/call", ToolCallParams(id="one/go"))
        running = [e for e in tools.told(OperationProgress) if e.state == "running" and e.note]
        assert 1 <= len(running) < 100
        assert running[0].share == 0.001 and running[0].note == "step 1"


@pytest.mark.parametrize(
    ("tool_id", "said"),
    [
        ("one", "SERVER/TOOL"),
        ("one/", "SERVER/TOOL"),
        ("two/t", "unknown MCP server 'two'"),
        ("off/t", "off is not connected"),
    ],
)
async def test_what_cannot_be_called_is_refused(make: Make, tool_id: str, said: str) -> None:
    off = '[mcp_servers.off]\ncommand = "off"\nenabled = false\n'
    async with make(ONE + off) as tools:
        with pytest.raises(InvalidRequest, match=said):
            await tools.call("tool/call", ToolCallParams(id=tool_id))


async def test_a_disabled_tool_is_not_called(make: Make) -> None:
    async with make(ONE + 'disabled_tools = ["t"]\n') as tools:
        result = await tools.call("tool/call", ToolCallParams(id="one/t"))
        assert result.outcome == "failed" and "disabled" in result.reason
        assert "tools/call" not in tools.world.maker.latest("one").methods


async def test_secrets_are_masked_in_results_history_and_events(make: Make) -> None:
    secret = "s3cr3t-value-of-mine"
    config = ONE + f'[mcp_servers.one.env]\nKEY = "{secret}"\n'
    reply = {
        "content": [{"type": "text", "text": f"env KEY={secret}"}],
        "structuredContent": {"env": secret, "token": "abc"},
    }
    script = Script(replies={"tools/call": [reply, reply]})
    async with make(config, maker=FakeMaker(one=script)) as tools:
        arguments = {"password": "pw", "note": f"is {secret}", "plain": 1}
        result = await tools.call("tool/call", ToolCallParams(id="one/t", arguments=arguments))
        assert secret not in repr(result) and "'token': '•••'" in repr(result)
        (past,) = (await tools.call("tool/history", ToolHistoryParams(id="one/t"))).calls
        assert past.arguments == {"password": "•••", "note": "is •••", "plain": 1} and past.masked
        assert secret not in repr(tools.world.events) and '"pw"' not in repr(tools.world.events)
        # Called again, the server gets what it got before.
        again = ToolCallParams(id="one/t", again=past.call_id)
        await tools.call("tool/call", again)
        sent = [p for m, p, _ in tools.world.maker.latest("one").asked if m == "tools/call"]
        assert sent[1] == sent[0] == {"name": "t", "arguments": arguments}


async def test_long_results_are_cut_and_it_is_said(make: Make) -> None:
    reply = {
        "content": [
            {"type": "text", "text": "x" * (3 << 20)},
            {"type": "image", "data": "A" * (30 << 20), "mimeType": "image/png"},
            {"type": "text", "text": "end"},
        ],
        "structuredContent": {"big": "y" * (2 << 20)},
    }
    async with make(maker=FakeMaker(one=Script(replies={"tools/call": [reply]}))) as tools:
        result = await tools.call("tool/call", ToolCallParams(id="one/t"))
        assert len(result.content[0]["text"]) == 1 << 20
        assert result.content[1]["data"] == "" and result.content[2]["text"] == ""
        assert not result.structured and result.structured_content is None
        assert result.bytes > 35 << 20
        for word in ("2,097,152 characters", "bytes is left out", "structured content"):
            assert word in result.cut


async def test_the_history_is_bounded_and_newest_first(make: Make) -> None:
    script = Script(replies={"tools/call": [{"content": []}]})
    async with make(maker=FakeMaker(one=script)) as tools:
        for n in range(105):
            await tools.call("tool/call", ToolCallParams(id="one/t", arguments={"n": n}))
        calls = (await tools.call("tool/history", ToolHistoryParams())).calls
        assert len(calls) == 100
        assert [call.arguments["n"] for call in calls[:2]] == [104, 103]
        with pytest.raises(InvalidRequest, match="not in the history"):
            await tools.call("tool/call", ToolCallParams(id="one/t", again="call-1"))


async def test_arguments_that_are_too_long_are_not_kept(make: Make) -> None:
    script = Script(replies={"tools/call": [{"content": []}]})
    async with make(maker=FakeMaker(one=script)) as tools:
        await tools.call("tool/call", ToolCallParams(id="one/t", arguments={"a": "x" * 300_000}))
        (past,) = (await tools.call("tool/history", ToolHistoryParams())).calls
        assert past.arguments == {} and past.masked
        with pytest.raises(InvalidRequest, match="too long"):
            await tools.call("tool/call", ToolCallParams(id="one/t", again=past.call_id))


# ── resources ──


def offering(**replies: list[Any]) -> FakeMaker:
    listed = {
        "resources/list": [{"resources": [{"uri": "a:1", "name": "one"}]}],
        "resources/templates/list": [
            {"resourceTemplates": [{"uriTemplate": "a:{id}", "name": "each"}]}
        ],
        "prompts/list": [{"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]}],
        "resources/subscribe": [{}],
        "resources/unsubscribe": [{}],
    }
    named = {name.replace("_", "/"): value for name, value in replies.items()}
    return FakeMaker(one=Script(capabilities=RESOURCES, replies={**listed, **named}))


async def test_resources_templates_and_prompts_are_listed_as_declared(make: Make) -> None:
    async with make(maker=offering()) as tools:
        await tools.world.until(lambda: "one/prompt:greet" in tools.world.tools)
        listed = await tools.call("resource/list", ServerParams(server="one"))
        assert [item["uri"] for item in listed.resources] == ["a:1"]
        assert [item["uriTemplate"] for item in listed.templates] == ["a:{id}"]
        assert listed.subscribe and listed.complete and listed.subscribed == ()
        prompts = await tools.call("prompt/list", ServerParams(server="one"))
        assert [prompt["name"] for prompt in prompts.prompts] == ["greet"]


async def test_a_resource_is_read_and_its_refusal_told(make: Make) -> None:
    refusal = DeadlinePassed("resources/read", 5)
    async with make(maker=offering(resources_read=[READ, refusal, {"contents": 1}])) as tools:
        params = ResourceParams(server="one", uri="a:1")
        assert (await tools.call("resource/read", params)).contents == tuple(READ["contents"])
        with pytest.raises(InternalError, match="no answer to resources/read in 5 s"):
            await tools.call("resource/read", params)
        with pytest.raises(
            InternalError, match="its answer to resources/read: contents is no list"
        ):
            await tools.call("resource/read", params)


async def test_a_followed_resource_tells_its_changes_until_it_is_let_go(make: Make) -> None:
    async with make(maker=offering()) as tools:
        session = tools.world.maker.latest("one")
        params = ResourceParams(server="one", uri="a:1")
        await session.say("notifications/resources/updated", {"uri": "a:1"})
        await tools.call("resource/subscribe", params)
        await tools.call("resource/subscribe", params)
        assert session.methods.count("resources/subscribe") == 1
        listed = await tools.call("resource/list", ServerParams(server="one"))
        assert listed.subscribed == ("a:1",)
        await session.say("notifications/resources/updated", {"uri": "b:2"})
        await session.say("notifications/resources/updated", {"uri": "a:1"})
        await tools.world.until(lambda: tools.told(ResourceUpdated))
        await tools.call("resource/unsubscribe", params)
        assert session.methods.count("resources/unsubscribe") == 1
        await session.say("notifications/resources/updated", {"uri": "a:1"})
        await anyio.wait_all_tasks_blocked()
        assert [(e.name, e.uri, e.what) for e in tools.told(ResourceUpdated)] == [
            ("one", "a:1", "updated")
        ]


async def test_following_goes_on_after_a_restart(make: Make) -> None:
    async with make(maker=offering()) as tools:
        await tools.call("resource/subscribe", ResourceParams(server="one", uri="a:1"))
        tools.world.maker.latest("one").die(CloseReason(exit_code=3))
        await tools.world.until(lambda: tools.world.rows["one"].status == "waiting")
        tools.world.panel.reconnect(["one"])
        await tools.world.until(lambda: len(tools.told(ResourceUpdated)) == 2)
        assert [(e.what, e.text) for e in tools.told(ResourceUpdated)] == [
            ("lost", "exited 3"),
            ("followed", "after a restart of the server"),
        ]
        fresh = tools.world.maker.latest("one")
        assert fresh.methods.count("resources/subscribe") == 1
        await fresh.say("notifications/resources/updated", {"uri": "a:1"})
        await tools.world.until(lambda: tools.told(ResourceUpdated)[-1].what == "updated")


async def test_a_subscription_that_is_refused_is_not_kept(make: Make) -> None:
    refusal = DeadlinePassed("resources/subscribe", 5)
    async with make(maker=offering(resources_subscribe=[refusal, {}])) as tools:
        params = ResourceParams(server="one", uri="a:1")
        with pytest.raises(InternalError, match="no answer to resources/subscribe"):
            await tools.call("resource/subscribe", params)
        await tools.call("resource/subscribe", params)


async def test_a_server_without_subscriptions_says_so(make: Make) -> None:
    async with make(maker=FakeMaker(one=Script())) as tools:
        with pytest.raises(InvalidRequest, match="one does not tell changes of its resources"):
            await tools.call("resource/subscribe", ResourceParams(server="one", uri="a:1"))


# ── prompts and completion ──


async def test_a_prompt_comes_with_its_messages(make: Make) -> None:
    answer = {
        "description": "Greets",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Hello Ann"}}],
    }
    async with make(maker=offering(prompts_get=[answer])) as tools:
        params = PromptGetParams(server="one", name="greet", arguments={"who": "Ann"})
        result = await tools.call("prompt/get", params)
        assert result.description == "Greets"
        assert result.messages == (
            {"role": "user", "content": {"type": "text", "text": "Hello Ann"}},
        )


@pytest.mark.parametrize(
    ("answer", "values", "more"),
    [
        ({"completion": {"values": ["a", 1, "b"], "hasMore": True}}, ("a", "b"), True),
        (
            {"completion": {"values": [str(n) for n in range(200)]}},
            tuple(map(str, range(100))),
            True,
        ),
        ({"completion": {"values": "no"}}, (), False),
        ({"completion": []}, (), False),
    ],
)
async def test_completion_is_taken_as_far_as_it_goes(
    make: Make, answer: Mapping[str, Any], values: tuple[str, ...], more: bool
) -> None:
    async with make(maker=offering(completion_complete=[answer])) as tools:
        ref = {"type": "ref/prompt", "name": "greet"}
        params = CompleteParams(server="one", ref=ref, argument="who", value="a", known={"x": "y"})
        result = await tools.call("complete", params)
        assert (result.values, result.more) == (values, more)


async def test_a_server_that_completes_nothing_is_not_asked(make: Make) -> None:
    async with make(maker=FakeMaker(one=Script())) as tools:
        params = CompleteParams(server="one", ref={"type": "ref/prompt"}, argument="a")
        assert (await tools.call("complete", params)).values == ()
        assert "completion/complete" not in tools.world.maker.latest("one").methods


# ── questions ──

QUESTION = {
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}


async def test_a_question_is_listed_answered_and_its_answer_told_to_nobody_else(make: Make) -> None:
    async with make() as tools:
        session = tools.world.maker.latest("one")
        got: list[Any] = []

        async def ask() -> None:
            got.append(await session.ask(1, "elicitation/create", QUESTION))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await tools.world.until(lambda: tools.told(ElicitationRequested))
            (question,) = (await tools.call("elicitation/list", NoParams())).questions
            assert question == tools.told(ElicitationRequested)[0]
            answer = ElicitationAnswer(
                id=question.id, action="accept", content={"name": "Ann Onymous"}
            )
            await tools.call("elicitation/answer", answer)
        assert got == [{"action": "accept", "content": {"name": "Ann Onymous"}}]
        assert (await tools.call("elicitation/list", NoParams())).questions == ()
        (closed,) = tools.told(ElicitationClosed)
        assert (closed.id, closed.server, closed.how) == (question.id, "one", "answered")
        assert "Ann" not in repr(tools.world.events)
        assert [e.text for e in tools.told(Traffic) if '"accept"' in e.text]


async def test_a_question_that_is_taken_back_is_closed_and_not_answered(make: Make) -> None:
    async with make() as tools:
        session = tools.world.maker.latest("one")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.ask, 1, "elicitation/create", QUESTION)
            await tools.world.until(lambda: tools.told(ElicitationRequested))
            await session.say("notifications/cancelled", {"requestId": 1})
            await tools.world.until(lambda: tools.told(ElicitationClosed))
            tasks.cancel_scope.cancel()
        (closed,) = tools.told(ElicitationClosed)
        assert closed.how == "withdrawn" and session.answers == {} and session.pauses == 0
        answer = ElicitationAnswer(id=closed.id, action="decline")
        with pytest.raises(InvalidRequest):
            await tools.call("elicitation/answer", answer)


async def test_a_question_of_a_server_that_dies_is_withdrawn(make: Make) -> None:
    async with make() as tools:
        session = tools.world.maker.latest("one")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(session.ask, 1, "elicitation/create", QUESTION)
            await tools.world.until(lambda: tools.told(ElicitationRequested))
            session.die(CloseReason(exit_code=1))
            await tools.world.until(lambda: tools.told(ElicitationClosed))
            tasks.cancel_scope.cancel()
        assert tools.told(ElicitationClosed)[0].how == "withdrawn"


# ── links ──


async def test_only_web_pages_are_opened(make: Make, browser: FakeBrowser) -> None:
    async with make() as tools:
        assert (await tools.call("link/open", LinkParams(url="https://a.example/x"))).opened
        for url in ("file:///etc/passwd", "javascript:alert(1)", "https://a b", "-x", ""):
            with pytest.raises(InvalidRequest):
                await tools.call("link/open", LinkParams(url=url))
        assert browser.opened == ["https://a.example/x"]
