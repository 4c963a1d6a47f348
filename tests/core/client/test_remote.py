from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from core.client import peer, remote
from core.client.contract import Capabilities
from core.client.remote import RemoteClient, open_remote
from core.client.wires import SocketWire, Wire
from core.errors import CoreError, InternalError, Unavailable
from core.method_table import (
    JACKFIELD_EVENTS_RECENT,
    JACKFIELD_PANEL_START,
    JACKFIELD_PLUGIN_DETAIL,
    JACKFIELD_ROWS,
    JACKFIELD_STATUS,
    PLUGIN_LIST,
)
from core.protocol import jackfield as wire
from core.protocol.events import Notice, PluginsChanged
from core.protocol.facts import Evidence
from core.protocol.jsonrpc import encode_value
from core.protocol.plugin_params import PluginListParams
from core.protocol.rows import DOMAINS
from tests.fakes.client import OURS, STATUS, FakeClient
from tests.fakes.ports import FakeClock
from tests.fakes.wired import Faked, FarSide, far
from tests.tui import world

pytestmark = pytest.mark.anyio

NOTHING = wire.NoParams()


@asynccontextmanager
async def linked(client: FakeClient) -> AsyncGenerator[tuple[RemoteClient, FarSide]]:
    with anyio.fail_after(20):
        async with far(Faked(client), client.hub) as both:
            yield both


async def test_rows_and_events_are_what_they_are_in_the_same_process():
    here = FakeClient(**world.ALL)
    here.past = (Notice(area="panel", about="x", text="earlier"),)
    async with linked(here) as (there, _):
        for domain in DOMAINS:
            params = wire.RowsParams(domain=domain)
            expected = await here.call(JACKFIELD_ROWS, params)
            got = await there.call(JACKFIELD_ROWS, params)
            assert got.rows == tuple(expected.rows)
            assert got.revision == expected.revision
        past = await there.call(JACKFIELD_EVENTS_RECENT, wire.RecentParams())
        assert past.events == here.past
        async with there.subscribe() as subscription:
            here.put("plugins", *world.PLUGINS[:3])
            here.push(Notice(area="panel", about="x", text="later"))
            events: list[Any] = []
            async for event in subscription:
                events.append(event)
                if isinstance(event, Notice):
                    break
        changed = events[0]
        assert isinstance(changed, PluginsChanged)
        assert set(changed.removed) == {row.id for row in world.PLUGINS[3:]}


async def test_the_other_side_says_what_it_offers():
    async with linked(FakeClient()) as (there, _):
        await there.call(JACKFIELD_STATUS, NOTHING)
        assert there.capabilities == Capabilities(
            methods=OURS | {"initialize"}, name="jackfield", version="0.9.0", remote=True
        )
        with pytest.raises(Unavailable, match="jackfield 0.9.0 does not offer it"):
            await there.call(PLUGIN_LIST, PluginListParams())


async def test_a_refusal_comes_with_its_place_and_what_to_do():
    here = FakeClient()
    here.answers["jackfield/status"] = CoreError(
        "long text", code=-32001, data=[1], evidence=Evidence(file="/f", line=2), hint="do this"
    )
    async with linked(here) as (there, _):
        with pytest.raises(CoreError, match="long text") as caught:
            await there.call(JACKFIELD_STATUS, NOTHING)
    error = caught.value
    assert (error.code, error.data, error.hint) == (-32001, [1], "do this")
    assert error.evidence == Evidence(file="/f", line=2)


async def test_what_waits_when_the_far_side_is_killed_fails_and_the_next_session_stands():
    asked = anyio.Event()

    class Slow(Faked):
        async def handle(self, name: str, params: object, scope: Any) -> Any:
            if name == JACKFIELD_PLUGIN_DETAIL.name:
                asked.set()
                await anyio.sleep_forever()
            return await super().handle(name, params, scope)

    here = FakeClient()
    here.answers["jackfield/panel/start"] = wire.PanelStartResult(thread_id="t")
    failures: list[CoreError] = []
    with anyio.fail_after(20):
        async with far(Slow(here), here.hub) as (there, side):

            async def wait() -> None:
                with pytest.raises(Unavailable) as caught:
                    await there.call(JACKFIELD_PLUGIN_DETAIL, wire.IdParams(id="x"))
                failures.append(caught.value)

            started = wire.PanelStartParams(consent_all=True)
            await there.call(JACKFIELD_PANEL_START, started)
            async with there.subscribe() as subscription, anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await asked.wait()
                here.push(Notice(area="panel", about="x", text="last"))
                side.kill()
                with pytest.raises(Unavailable, match="no connection: it has hung up"):
                    async for _ in subscription:
                        pass
            assert failures[0].message.startswith("jackfield/plugin/detail: no answer")
            with pytest.raises(Unavailable, match="hung up"):
                await there.call(JACKFIELD_STATUS, NOTHING)
            assert side.calls == 1
            async with there.subscribe():
                assert side.calls == 2
                assert await there.call(JACKFIELD_STATUS, NOTHING) == STATUS
                await anyio.wait_all_tasks_blocked()
            # The panel of the new session has been started as that of the old one was.
            assert here.asked("jackfield/panel/start") == [started, started]


async def test_one_that_cannot_be_reached_is_tried_again_only_by_a_subscriber():
    async with linked(FakeClient()) as (there, side):
        side.refusal = Unavailable("no route")
        for _ in range(2):
            with pytest.raises(Unavailable, match="no connection: no route"):
                await there.call(JACKFIELD_STATUS, NOTHING)
        assert side.calls == 1
        side.refusal = None
        async with there.subscribe():
            assert await there.call(JACKFIELD_STATUS, NOTHING) == STATUS


async def test_an_answer_of_another_version_is_a_failure_of_that_call_only():
    here = FakeClient()
    here.answers["jackfield/rows"] = {"rows": 5}
    async with linked(here) as (there, _):
        with pytest.raises(InternalError, match="jackfield/rows: the answer cannot be read"):
            await there.call(JACKFIELD_ROWS, wire.RowsParams(domain="plugins"))
        assert await there.call(JACKFIELD_STATUS, NOTHING) == STATUS


class Script:
    """A far side that says what a test writes; also the `Opener`."""

    what = "script"
    near = True

    def __init__(self) -> None:
        self.end: socket.socket | None = None

    async def open(self) -> Wire:
        near, self.end = socket.socketpair()
        near.setblocking(False)
        return SocketWire(near)

    async def take(self) -> dict[str, Any]:
        assert self.end is not None
        line = await anyio.to_thread.run_sync(self._line)
        return json.loads(line)

    def _line(self) -> bytes:
        assert self.end is not None
        got = b""
        while not got.endswith(b"\n"):
            got += self.end.recv(1)
        return got

    async def say(self, *lines: bytes) -> None:
        assert self.end is not None
        await anyio.to_thread.run_sync(self.end.sendall, b"".join(one + b"\n" for one in lines))

    async def answer(self, result: Any) -> None:
        message = await self.take()
        await self.say(b'{"id":%d,"result":%s}' % (message["id"], encode_value(result)))

    async def greet(self) -> None:
        await self.answer({"userAgent": "jackfield/9.9.9 (x)"})
        assert (await self.take())["method"] == "initialized"
        await self.answer({"methods": sorted(OURS), "version": "9"})


@asynccontextmanager
async def scripted() -> AsyncGenerator[tuple[RemoteClient, Script, Any]]:
    script = Script()
    with anyio.fail_after(50):
        async with anyio.create_task_group() as tasks:
            client = RemoteClient(script, tasks, FakeClock())
            yield client, script, tasks
            tasks.cancel_scope.cancel()
    if script.end is not None:
        script.end.close()


async def greeted(client: RemoteClient, script: Script, tasks: Any) -> None:
    async def connect() -> None:
        async with client.subscribe():
            done.set()

    done = anyio.Event()
    tasks.start_soon(connect)
    while script.end is None:
        await anyio.lowlevel.checkpoint()
    await script.greet()
    await done.wait()


async def test_garbage_deep_json_and_strange_messages_are_passed_over():
    async with scripted() as (client, script, tasks):
        await greeted(client, script, tasks)
        got: list[Any] = []

        async def ask() -> None:
            got.append(await client.call(JACKFIELD_STATUS, NOTHING))

        tasks.start_soon(ask)
        message = await script.take()
        await script.say(
            os.urandom(5_000).replace(b"\n", b""),
            b"[" * 100_000,
            b'{"method":"jackfield/event","params":{"events":[{"type":"of the future"}]}}',
            b'{"method":"jackfield/event","params":%s}' % (b"[" * 5_000 + b"]" * 5_000),
            b'{"method":"jackfield/event","params":7}',
            b'{"id":99,"result":{}}',
            b'{"id":"x","method":"item/tool/call","params":{}}',
            b'{"id":%d,"result":%s}' % (message["id"], encode_value(STATUS)),
        )
        refused = await script.take()
        assert refused["id"] == "x"
        assert refused["error"]["message"] == "item/tool/call is not answered here"
        await anyio.wait_all_tasks_blocked()
        assert got == [STATUS]


async def test_a_flood_of_events_is_bounded_and_what_was_lost_is_counted():
    async with scripted() as (client, script, tasks):
        await greeted(client, script, tasks)
        one = b'{"method":"jackfield/event","params":{"events":[{"type":"notice","area":"a",'
        one += b'"about":"b","text":"%d"}]}}'
        async with client.subscribe() as subscription:
            await script.say(*(one % n for n in range(100_000)))
            told = 0
            async for batch in subscription.batches():
                assert len(batch) <= 2049
                told += sum(getattr(event, "skipped", 1) for event in batch)
                if getattr(batch[-1], "text", "") == "99999":
                    break
            assert told == 100_000


async def test_an_answer_that_is_too_long_fails_its_call_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(peer, "LINE_LIMIT", 100_000)
    async with scripted() as (client, script, tasks):
        await greeted(client, script, tasks)
        failures: list[str] = []

        async def ask() -> None:
            with pytest.raises(Unavailable) as caught:
                await client.call(JACKFIELD_STATUS, NOTHING)
            failures.append(caught.value.message)

        tasks.start_soon(ask)
        message = await script.take()
        await script.say(b'{"id":%d,"result":"%s"}' % (message["id"], b"x" * 300_000))
        await anyio.wait_all_tasks_blocked()
        while not failures:
            await anyio.lowlevel.checkpoint()
        assert failures == ["jackfield/status: the answer is too long (100000 bytes)"]
        async with client.subscribe() as subscription:
            await script.say(b'{"method":"jackfield/event","params":"%s"}' % (b"x" * 300_000))
            with pytest.raises(Unavailable, match="could not be read"):
                async for _ in subscription:
                    pass


async def test_a_side_that_says_no_more_counts_as_gone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(peer, "SILENCE", 0.02)
    async with scripted() as (client, script, tasks):
        await greeted(client, script, tasks)
        with pytest.raises(Unavailable, match="no word from it for 0.04s"):
            await client.call(JACKFIELD_PLUGIN_DETAIL, wire.IdParams(id="x"))


async def test_a_side_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "PATIENCE", 0.02)
    async with scripted() as (client, _, _):
        with pytest.raises(Unavailable, match="no answer within 0.02s"):
            await client.call(JACKFIELD_STATUS, NOTHING)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import sys; sys.exit('Permission denied (publickey).')", "status 1: Permission denied"),
        ("print('Welcome to devbox!')", "does not speak the app-server protocol.*Welcome"),
    ],
)
async def test_a_command_that_fails_says_why(program: str, why: str):
    command = f'{sys.executable} -c "{program}"'
    with anyio.fail_after(30):
        async with open_remote(command, os.environ, FakeClock()) as client:
            with pytest.raises(Unavailable, match=why):
                await client.call(JACKFIELD_STATUS, NOTHING)


async def test_a_command_that_is_not_there_says_so():
    async with open_remote("/no/such/program x", os.environ, FakeClock()) as client:
        with pytest.raises(Unavailable, match="No such file or directory: /no/such/program"):
            await client.call(JACKFIELD_STATUS, NOTHING)


async def test_our_own_app_server_can_be_followed_over_a_command(tmp_path: Any):
    home = tmp_path / ".codex"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CODEX_HOME": str(home)}
    with anyio.fail_after(50):
        async with open_remote(f"{sys.executable} -m tui app-server", env, FakeClock()) as client:
            async with client.subscribe() as subscription:
                started = await client.call(JACKFIELD_PANEL_START, wire.PanelStartParams())
                assert started.thread_id
                async for event in subscription:
                    if isinstance(event, PluginsChanged):
                        break
            status = await client.call(JACKFIELD_STATUS, NOTHING)
            assert status.codex_home == str(home)
