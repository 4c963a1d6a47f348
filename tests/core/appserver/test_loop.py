from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from core.appserver import loop
from core.appserver.opening import Opening
from core.scope import RequestScope
from tests.core.appserver.wire import Handlers, OpenGate, served

pytestmark = pytest.mark.anyio

RELOAD = "config/mcpServer/reload"


async def test_requests_are_worked_on_side_by_side_and_answered_as_they_end():
    slow = anyio.Event()

    async def handle(params: Any, scope: RequestScope) -> Any:
        if params.id == "slow":
            await slow.wait()
        return {"id": params.id}

    async with served({"jackfield/plugin/detail": handle}) as client:
        await client.initialize()
        detail = "jackfield/plugin/detail"
        await client.send({"id": 1, "method": detail, "params": {"id": "slow"}})
        assert (await client.call(detail, {"id": "fast"}, id=2))["id"] == 2
        slow.set()
        assert (await client.receive())["id"] == 1


async def test_what_was_sent_before_the_input_ended_is_still_answered():
    async def handle(params: Any, scope: RequestScope) -> Any:
        await anyio.lowlevel.checkpoint()
        return {}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.raw(b'{"id": 1, "method": "%s"}\n' % RELOAD.encode())
        await client.raw(b'{"id": 2, "method": "%s"}' % RELOAD.encode())
        client.hang_up()
        assert [message["id"] for message in await client.receive_all()] == [1, 2]


async def test_what_takes_too_long_after_the_input_has_ended_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(loop, "LAST_ANSWERS", 0.01)
    cancelled = anyio.Event()

    async def handle(params: Any, scope: RequestScope) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.send({"id": 1, "method": RELOAD})
        client.hang_up()
        assert await client.receive_all() == []
    assert cancelled.is_set()


async def test_a_client_that_does_not_read_cannot_keep_the_server_alive(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(loop, "LAST_BYTES", 0.01)

    async def handle(params: Any, scope: RequestScope) -> Any:
        return {"much": "x" * 1_000_000}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.send({"id": 1, "method": RELOAD})
        await anyio.lowlevel.checkpoint()


async def test_a_client_that_reads_no_more_ends_the_server():
    async def handle(params: Any, scope: RequestScope) -> Any:
        return {}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        client.stop_reading()
        await client.send({"id": 1, "method": RELOAD})
        # The server closes its end of our pipe when it ends.
        with pytest.raises(anyio.BrokenResourceError):
            while True:
                await client.raw(b"\n")


async def test_no_more_requests_are_worked_on_than_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(loop, "IN_FLIGHT", 3)
    go, full = anyio.Event(), anyio.Event()
    at_work = most = 0

    async def handle(params: Any, scope: RequestScope) -> Any:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        if most == 3:
            full.set()
        await go.wait()
        at_work -= 1
        return {}

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.send(*({"id": n, "method": RELOAD} for n in range(20)))
        await full.wait()
        await anyio.wait_all_tasks_blocked()
        go.set()
        assert sorted([(await client.receive())["id"] for _ in range(20)]) == list(range(20))
    assert most == 3


async def test_a_full_house_still_hears_the_answers_that_it_waits_for(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(loop, "IN_FLIGHT", 2)

    async def handle(params: Any, scope: RequestScope) -> Any:
        return await scope.ask("question", {})

    async with served({RELOAD: handle}) as client:
        await client.initialize()
        await client.send(*({"id": n, "method": RELOAD} for n in range(5)))
        answered: list[Any] = []
        while len(answered) < 5:
            message = await client.receive()
            if message.get("method") == "question":
                await client.send({"id": message["id"], "result": {}})
            else:
                answered.append(message["id"])
        assert sorted(answered) == [0, 1, 2, 3, 4]


async def test_what_was_asked_before_the_core_stood_is_answered_then():
    opening = Opening(hasty=True)

    async def handle(params: Any, scope: RequestScope) -> Any:
        return {}

    async with served({}, opening=opening) as client:
        await client.initialize()
        await client.send({"id": 1, "method": RELOAD}, {"id": 2, "method": "nope"})
        await anyio.wait_all_tasks_blocked()
        opening.done(Handlers({RELOAD: handle}), OpenGate({"summary": "x"}))
        got = [await client.receive() for _ in range(3)]
        assert {one.get("id", one.get("method")) for one in got} == {1, 2, "configWarning"}


async def test_a_first_request_that_is_no_handshake_waits_for_the_core():
    for hasty, method in ((True, RELOAD), (False, "initialize")):
        opening = Opening(hasty=hasty)
        async with served({}, opening=opening) as client:
            await client.send({"id": 1, "method": method, "params": {}})
            await anyio.wait_all_tasks_blocked()
            opening.done(Handlers({}), OpenGate())
            assert (await client.receive())["id"] == 1
