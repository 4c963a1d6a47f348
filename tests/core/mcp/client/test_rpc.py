from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

import core.mcp.client.rpc as rpc_module
from core.errors import PeerError
from core.mcp.client.inbox import Inbox
from core.mcp.client.rpc import Call, Rpc
from core.mcp.client.session import CloseReason, DeadlinePassed, Incoming, SessionClosed

pytestmark = pytest.mark.anyio


class FakeCarrier:
    """Keeps what it is given; the test plays the server."""

    def __init__(self, rpc: Rpc) -> None:
        self.rpc = rpc
        self.begun: list[dict[str, Any]] = []
        self.abandoned: list[int] = []
        self.sent: list[dict[str, Any]] = []
        self.replies: dict[str, Any] = {}

    def begin(self, call: Call) -> None:
        message = json.loads(call.encoded())
        self.begun.append(message)
        if call.method in self.replies:
            self.rpc.received({"id": call.id, "result": self.replies[call.method]})

    def abandon(self, call: Call) -> None:
        self.abandoned.append(call.id)

    async def send(self, message: dict[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        self.sent.append(message)


@asynccontextmanager
async def connected() -> AsyncGenerator[tuple[Rpc, FakeCarrier]]:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            rpc = Rpc(tasks)
            rpc.carrier = carrier = FakeCarrier(rpc)
            yield rpc, carrier
            tasks.cancel_scope.cancel()


async def outcome(rpc: Rpc, *answers: Any, **options: Any) -> dict[str, Any]:
    """The result of a request to which the server sends these messages."""
    got: dict[str, Any] = {}

    async def ask() -> None:
        got.update(await rpc.request("tools/list", deadline=None, **options))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        for answer in answers:
            rpc.received(answer)
    return got


async def settle() -> None:
    for _ in range(5):
        await anyio.lowlevel.checkpoint()


async def test_ids_and_progress_tokens_count_from_zero_and_initialize_has_no_token() -> None:
    async with connected() as (rpc, carrier):
        carrier.replies = {"initialize": {}, "tools/list": {}, "tools/call": {}}
        await rpc.request("initialize", {"protocolVersion": "x"}, deadline=1)
        await rpc.request("tools/list", deadline=1)
        await rpc.request(
            "tools/call",
            {"name": "go", "_meta": {"own": 1}},
            deadline=1,
            meta={"threadId": "t", "progressToken": "mine"},
        )
    assert carrier.begun == [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": "x"},
        },
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {"_meta": {"progressToken": 0}},
        },
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"_meta": {"own": 1, "threadId": "t", "progressToken": 1}, "name": "go"},
        },
    ]


async def test_callers_params_are_not_changed() -> None:
    params = {"name": "go", "_meta": {"own": 1}}
    async with connected() as (rpc, carrier):
        carrier.replies = {"tools/call": {}}
        await rpc.request("tools/call", params, deadline=1)
    assert params == {"name": "go", "_meta": {"own": 1}}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ({"id": 0, "result": {"a": 1}}, {"a": 1}),
        ({"id": 0.0, "result": {"a": 1}}, {"a": 1}),
        ({"id": 0, "result": None}, {}),
        ([{"method": "notifications/x"}, {"id": 0, "result": {"a": 2}}], {"a": 2}),
    ],
)
async def test_answers_are_taken(answer: Any, result: dict[str, Any]) -> None:
    async with connected() as (rpc, _):
        assert await outcome(rpc, answer) == result


async def test_everything_that_is_no_answer_to_us_is_passed_over() -> None:
    async with connected() as (rpc, _):
        got = await outcome(
            rpc,
            *[None, 17, "text", [], [[{"id": 0, "result": {}}]], {}, {"id": 0}],
            {"id": 5, "result": {"wrong": 1}},
            {"id": "0", "result": {"wrong": 2}},
            {"id": False, "result": {"wrong": 3}},
            {"id": None, "error": {"code": 1, "message": "nobody's"}},
            {"id": {}, "result": {"wrong": 4}},
            {"id": 0, "result": {"right": 1}},
            {"id": 0, "result": {"twice": 1}},
        )
        assert got == {"right": 1}
        rpc.received({"id": 0, "result": {"late": 1}})


@pytest.mark.parametrize(
    ("error", "code", "message", "data"),
    [
        ({"code": -1, "message": "no", "data": [1]}, -1, "no", [1]),
        ({"code": "x"}, -32603, "{'code': 'x'}", None),
        ("boom", -32603, "boom", None),
    ],
)
async def test_error_answer_becomes_a_peer_error(
    error: Any, code: int, message: str, data: Any
) -> None:
    async with connected() as (rpc, carrier):
        with pytest.raises(ExceptionGroup) as caught:
            await outcome(rpc, {"id": 0, "error": error})
    failure = caught.value.exceptions[0]
    assert isinstance(failure, PeerError)
    assert (failure.code, failure.message, failure.data) == (code, message, data)


async def test_result_that_is_no_object_is_an_error() -> None:
    async with connected() as (rpc, _):
        with pytest.raises(ExceptionGroup) as caught:
            await outcome(rpc, {"id": 0, "result": [1]})
    assert "Unexpected response type" in str(caught.value.exceptions[0])


async def test_passed_deadline_lets_the_request_go_and_leaves_the_connection_good() -> None:
    async with connected() as (rpc, carrier):
        with pytest.raises(DeadlinePassed, match=r"timed out awaiting tools/call after 0.01s"):
            await rpc.request("tools/call", deadline=0.01)
        assert carrier.abandoned == [0]
        carrier.replies = {"ping": {}}
        assert await rpc.request("ping", deadline=1) == {}
        assert carrier.abandoned == [0]


async def test_cancelled_caller_lets_the_request_go() -> None:
    async with connected() as (rpc, carrier):
        with anyio.move_on_after(0.01):
            await rpc.request("tools/call", deadline=None)
        assert carrier.abandoned == [0]


async def test_clock_of_deadlines_stands_still_between_the_first_pause_and_the_last_resume() -> (
    None
):
    async with connected() as (rpc, carrier):
        outcomes: list[str] = []

        async def ask() -> None:
            try:
                await rpc.request("tools/call", deadline=0.03)
            except DeadlinePassed:
                outcomes.append("passed")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            rpc.deadlines.pause()
            rpc.deadlines.pause()
            tasks.start_soon(ask)  # one that begins in the pause
            rpc.deadlines.resume()
            await anyio.sleep(0.1)
            assert outcomes == []
            rpc.deadlines.resume()
            rpc.deadlines.resume()  # one too many is no harm
            await anyio.sleep(0.01)
            assert outcomes == []  # what was left at the pause is still there
        assert outcomes == ["passed", "passed"]


async def test_end_of_the_connection_fails_what_is_open_and_all_that_comes_later() -> None:
    reason = CloseReason(exit_code=3, text="gone")
    async with connected() as (rpc, carrier):
        with pytest.raises(ExceptionGroup) as caught:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: rpc.request("tools/call", deadline=None))
                await anyio.wait_all_tasks_blocked()
                rpc.close(reason)
                rpc.close(CloseReason(text="a second reason"))
        assert isinstance(failed := caught.value.exceptions[0], SessionClosed)
        assert failed.reason is reason
        assert carrier.abandoned == []
        for coroutine in (rpc.request("x", deadline=1), rpc.notify("x")):
            with pytest.raises(SessionClosed, match="gone"):
                await coroutine
        assert [message async for message in rpc.incoming()] == []


async def test_ping_is_answered_by_itself() -> None:
    async with connected() as (rpc, carrier):
        rpc.received({"id": "p", "method": "ping"})
        await settle()
        assert carrier.sent == [{"jsonrpc": "2.0", "id": "p", "result": {}}]


async def test_server_requests_and_notifications_come_in_order_and_are_answered_once() -> None:
    async with connected() as (rpc, carrier):
        rpc.received({"method": "notifications/message", "params": {"data": 1}})
        rpc.received({"id": 7, "method": "roots/list"})
        incoming = rpc.incoming()
        assert await anext(incoming) == Incoming(method="notifications/message", params={"data": 1})
        asked = await anext(incoming)
        assert asked == Incoming(method="roots/list", params={}, id=7)
        await rpc.respond(7, result={"roots": []})
        await rpc.respond(7, result={"roots": []})
        await rpc.respond(8, error={"code": 1, "message": "never asked"})
        assert carrier.sent == [{"jsonrpc": "2.0", "id": 7, "result": {"roots": []}}]


async def test_request_that_nobody_takes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_module, "UNCLAIMED_AFTER", 0.02)
    async with connected() as (rpc, carrier):
        rpc.received({"id": 1, "method": "elicitation/create", "params": {}})
        while not carrier.sent:  # noqa: ASYNC110
            await anyio.sleep(0.005)
        error = {"code": -32601, "message": "Method not found"}
        assert carrier.sent == [{"jsonrpc": "2.0", "id": 1, "error": error}]
        rpc.close(CloseReason())
        assert [message async for message in rpc.incoming()] == []


async def test_request_that_was_taken_waits_for_its_answer_as_long_as_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rpc_module, "UNCLAIMED_AFTER", 0.01)
    async with connected() as (rpc, carrier):
        rpc.received({"id": 1, "method": "elicitation/create"})
        await anext(rpc.incoming())
        await anyio.sleep(0.03)
        await rpc.respond(1, result={"action": "accept"})
        assert carrier.sent == [{"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}}]


async def test_flood_of_requests_is_refused_beyond_what_is_kept() -> None:
    async with connected() as (rpc, carrier):
        for number in range(40):
            rpc.received({"id": number, "method": "sampling/createMessage"})
        await settle()
        assert [message["id"] for message in carrier.sent] == list(range(32, 40))


async def test_request_with_an_impossible_id_is_passed_over() -> None:
    async with connected() as (rpc, carrier):
        rpc.received({"id": [1], "method": "roots/list"})
        rpc.received({"id": True, "method": "ping"})
        await settle()
        assert carrier.sent == []


async def test_request_that_the_server_takes_back_is_answered_no_more() -> None:
    async with connected() as (rpc, carrier):
        rpc.received({"id": 4, "method": "elicitation/create"})
        rpc.received({"method": "notifications/cancelled", "params": {"requestId": 4}})
        incoming = rpc.incoming()
        assert (await anext(incoming)).method == "notifications/cancelled"
        await rpc.respond(4, result={})
        assert carrier.sent == []


async def test_notifications_of_one_request_go_to_its_listener_only() -> None:
    heard: list[Incoming] = []
    progress = {"progressToken": 0, "progress": 1}
    event = {"_meta": {"io.modelcontextprotocol/subscriptionId": 0}}
    async with connected() as (rpc, _):
        await outcome(
            rpc,
            {"method": "notifications/progress", "params": progress},
            {"method": "notifications/events/active", "params": event},
            {"method": "notifications/progress", "params": {"progressToken": 9}},
            {"id": 0, "result": {}},
            {"method": "notifications/progress", "params": progress},
            on_notice=heard.append,
        )
        rpc.close(CloseReason())
        rest = [message.params async for message in rpc.incoming()]
    assert [message.params for message in heard] == [progress, event]
    assert rest == [{"progressToken": 9}, progress]


async def test_flood_of_notifications_stays_bounded_and_holds_up_no_answer() -> None:
    change = {"method": "notifications/tools/list_changed"}
    flood = [{"method": "notifications/message", "params": {"data": n}} for n in range(20_000)]
    async with connected() as (rpc, _):
        await outcome(rpc, change, *flood, change, {"id": 0, "result": {}})
        rpc.close(CloseReason())
        kept = [message async for message in rpc.incoming()]
    assert len(kept) <= 1025
    assert [message.method for message in kept].count("notifications/tools/list_changed") == 1
    assert kept[-1].params == {"data": 19_999}


async def test_inbox_full_of_requests_drops_notifications_instead() -> None:
    inbox = Inbox(capacity=2, requests=2)
    for number in range(2):
        assert inbox.put_request(Incoming(method="ask", params={}, id=number)) is not None
    inbox.put(Incoming(method="notice", params={}))
    assert inbox.dropped == 1
    inbox.close()
    assert [message.method async for message in inbox.stream()] == ["ask", "ask"]


async def test_new_session_counts_progress_tokens_from_zero() -> None:
    async with connected() as (rpc, _):
        call = Call(3, "tools/call", {"_meta": {"progressToken": 7, "a": 1}, "name": "go"}, None)
        call.token = 7
        rpc.restart_tokens(call)
        assert call.params == {"_meta": {"progressToken": 0, "a": 1}, "name": "go"}
