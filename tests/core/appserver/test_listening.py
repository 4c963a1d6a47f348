from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from core.appserver import listening
from core.appserver.greeting import Greeting
from core.appserver.listening import serve_socket
from core.appserver.opening import Opening
from core.appserver.relay import relay
from core.appserver.sockets import connect_socket
from core.channels import EventHub
from core.protocol.events import Notice
from core.scope import RequestScope
from tests.core.appserver.wire import Client, Handler, Handlers, OpenGate

pytestmark = pytest.mark.anyio

RELOAD = "config/mcpServer/reload"


class Listening:
    """An app-server on a socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gone: list[int] = []
        self.hub = EventHub()

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        connection = connect_socket(self.path)
        with connection:
            yield Client(connection.fileno(), connection.fileno())


@asynccontextmanager
async def listens(tmp_path: Path, handler: Handler) -> AsyncGenerator[Listening]:
    made = Listening(tmp_path / "run" / "s")
    opening = Opening()
    opening.done(Handlers({RELOAD: handler}), OpenGate(), hub=made.hub, gone=made.gone.append)
    greeting = Greeting(version="1.2.3", codex_home="/home/dev/.codex")
    run = partial(serve_socket, opening, greeting, made.path, now=lambda: 12.5)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            await tasks.start(run)
            yield made
            tasks.cancel_scope.cancel()
    assert not made.path.exists()


async def whose(params: Any, scope: RequestScope) -> Any:
    return {"connection": scope.caller.connection}


async def test_each_client_has_a_session_of_its_own(tmp_path: Path):
    async with listens(tmp_path, whose) as server:
        async with server.client() as first, server.client() as second:
            await first.initialize()
            early = await second.call(RELOAD)
            assert early["error"]["message"] == "Not initialized"
            await second.initialize()
            assert (await second.call(RELOAD))["result"] == {"connection": 2}
            assert (await first.call(RELOAD))["result"] == {"connection": 1}
        async with server.client() as third:
            await third.initialize()
            assert (await third.call(RELOAD))["result"] == {"connection": 3}
            assert sorted(server.gone) == [1, 2]


async def test_a_client_that_reads_nothing_holds_up_no_other(tmp_path: Path):
    async with listens(tmp_path, whose) as server, server.client() as deaf:
        await deaf.initialize()
        await deaf.call("jackfield/subscribe")
        async with server.client() as other:
            await other.initialize()
            for _ in range(200):
                server.hub.emit(Notice(area="panel", about="x", text="x" * 100_000))
                await anyio.lowlevel.checkpoint()
            assert "result" in await other.call(RELOAD)


async def test_garbage_from_one_client_ends_no_other(tmp_path: Path):
    async with listens(tmp_path, whose) as server, server.client() as good:
        await good.initialize()
        async with server.client() as bad:
            await bad.raw(os.urandom(100_000) + b"\n" + b"[" * 50_000 + b"\n")
            await bad.initialize()
            assert "result" in await bad.call(RELOAD)
        assert "result" in await good.call(RELOAD)


async def test_a_client_of_another_user_is_turned_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with listens(tmp_path, whose) as server:
        monkeypatch.setattr(listening, "peer_uid", lambda connection: os.geteuid() + 1)
        async with server.client() as stranger:
            assert await stranger.receive_all() == []


async def test_more_clients_than_there_is_room_for_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listening, "CLIENTS", 1)
    async with listens(tmp_path, whose) as server, server.client() as second:
        async with server.client() as first:
            # The second called first, so it is served first.
            await second.initialize()
            await first.send({"id": 1, "method": "initialize", "params": {}})
            await anyio.wait_all_tasks_blocked()
        assert "result" in await second.call(RELOAD)


async def test_a_relay_is_a_client_on_two_pipes(tmp_path: Path):
    async with listens(tmp_path, whose) as server:
        to_relay, ours = os.pipe()
        theirs, from_relay = os.pipe()
        client = Client(theirs, ours)
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                await relay(server.path, read_fd=to_relay, write_fd=from_relay)
                os.close(from_relay)

            tasks.start_soon(run)
            await client.initialize()
            assert (await client.call(RELOAD))["result"] == {"connection": 1}
            await client.send({"id": 7, "method": RELOAD})
            client.hang_up()
            assert [one["id"] for one in await client.receive_all()] == [7]
        client.stop_reading()
        os.close(to_relay)
