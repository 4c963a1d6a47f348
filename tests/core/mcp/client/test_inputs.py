"""Results of 2026-07-28 that ask for more before there is an answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from core.errors import InternalError
from core.mcp.client.eras import Introduction
from core.mcp.client.factory import open_http_session
from core.mcp.client.session import DeadlinePassed, Session, SessionClosed
from core.mcp.client.wire import HttpTarget
from core.net.http import HttpClients
from tests.fakes.mcp_http import FakeMcpHttp

pytestmark = pytest.mark.anyio
CLIENTS = HttpClients({})
WHO = Introduction(name="n", version="1", capabilities={"elicitation": {}}, era="modern")
FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}
ASKED = {"method": "elicitation/create", "params": FORM}
DONE = {"resultType": "complete", "content": []}
CALL = {"name": "go", "arguments": {"a": 1}}


def wanting(**more: Any) -> dict[str, Any]:
    return {"resultType": "input_required", **more}


@asynccontextmanager
async def session(first: dict[str, Any]) -> AsyncGenerator[tuple[FakeMcpHttp, Session]]:
    """With a server that answers calls with `first`, and with DONE when told."""
    with anyio.fail_after(10), FakeMcpHttp(era="modern") as server:
        server.spec["results"] = {"tools/call": first}
        target = HttpTarget(url=server.url, retry_delays=())
        async with open_http_session(target, WHO, http=CLIENTS) as opened:
            await opened.open(deadline=5)
            yield server, opened


async def test_the_request_is_made_again_with_the_answers_and_the_state_as_it_was() -> None:
    first = wanting(inputRequests={"who": ASKED, "what": ASKED}, requestState="sealed ü")
    async with session(first) as (server, client):

        async def person() -> None:
            async for question in client.incoming:
                assert (question.method, question.params) == ("elicitation/create", FORM)
                assert question.id is not None
                server.spec["results"]["tools/call"] = DONE
                await client.respond(question.id, result={"action": "decline"})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person)
            assert await client.request("tools/call", CALL, deadline=5) == DONE
            tasks.cancel_scope.cancel()
        before, after = (seen.message for seen in server.of("tools/call"))
        assert before["id"] != after["id"]
        more = after["params"]
        assert {name: more[name] for name in CALL} == CALL
        assert more["requestState"] == "sealed ü"
        declined = {"action": "decline"}
        assert more["inputResponses"] == {"who": declined, "what": declined}
        assert "inputResponses" not in before["params"]


async def test_what_is_not_done_here_fails_the_call() -> None:
    first = wanting(inputRequests={"x": {"method": "sampling/createMessage", "params": {}}})
    async with session(first) as (server, client):

        async def refuse() -> None:
            async for question in client.incoming:
                assert question.id is not None
                error = {"code": -32601, "message": question.method}
                await client.respond(question.id, error=error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refuse)
            with pytest.raises(InternalError, match="not done here: sampling/createMessage"):
                await client.request("tools/call", CALL, deadline=5)
            tasks.cancel_scope.cancel()
        assert len(server.of("tools/call")) == 1


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (wanting(requestState="again"), "10 times"),
        (wanting(), "does not say which"),
        (wanting(inputRequests={"x": 1}), "without a method"),
        (wanting(inputRequests={str(n): ASKED for n in range(33)}), "more than 32"),
    ],
)
async def test_a_server_that_never_comes_to_an_answer_is_left(
    first: dict[str, Any], said: str
) -> None:
    async with session(first) as (_, client):
        with pytest.raises(InternalError, match=said):
            await client.request("tools/call", CALL, deadline=8)


async def test_the_limit_holds_over_all_rounds_but_not_while_a_person_is_asked() -> None:
    async with session(wanting(inputRequests={"x": ASKED})) as (_, client):
        taken: list[Any] = []

        async def person() -> None:
            async for message in client.incoming:
                taken.append(message)
                if message.id is not None:
                    client.pause_deadlines()
                    await anyio.sleep(0.5)
                    client.resume_deadlines()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(person)
            began = anyio.current_time()
            with pytest.raises(DeadlinePassed):
                await client.request("tools/call", CALL, deadline=0.3)
            assert anyio.current_time() - began > 0.5
            while len(taken) < 2:
                await anyio.wait_all_tasks_blocked()
            assert taken[1].method == "notifications/cancelled"
            assert taken[1].params == {"requestId": taken[0].id}
            tasks.cancel_scope.cancel()


async def test_the_end_of_the_connection_ends_the_questions() -> None:
    async with session(wanting(inputRequests={"x": ASKED})) as (_, client):

        async def leave() -> None:
            async for _ in client.incoming:
                await client.aclose()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            with pytest.raises(SessionClosed):
                await client.request("tools/call", CALL, deadline=5)
            tasks.cancel_scope.cancel()
