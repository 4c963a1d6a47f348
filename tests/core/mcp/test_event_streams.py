from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from core.errors import CoreError, InternalError, InvalidRequest, PeerError
from core.mcp.client.session import CloseReason, DeadlinePassed, HttpFailed, Incoming, OnNotice
from core.ports import Deps
from core.seams import HostedServer
from tests.core.mcp.fakes import FakeMaker, FakeSession, Script
from tests.core.threads.world import Client, World, world
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio

ACTIVE, EVENT = "notifications/events/active", "notifications/events/event"
TERMINATED = "notifications/events/terminated"


class StreamingSession(FakeSession):
    """Its `events/stream` requests are steered by the test."""

    streams: list[StreamingSession.Stream]

    class Stream:
        def __init__(self, on_notice: OnNotice) -> None:
            self._on_notice = on_notice
            self.over = anyio.Event()
            self.error: CoreError | None = None

        def say(self, method: str, **params: Any) -> None:
            self._on_notice(Incoming(method=method, params=params))

        def end(self, error: CoreError | None = None) -> None:
            self.error = error
            self.over.set()

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: dict[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        if method != "events/stream":
            return await super().request(method, params, deadline=deadline, meta=meta)
        assert on_notice is not None and deadline is None
        self.asked.append((method, params or {}, meta))
        stream = StreamingSession.Stream(on_notice)
        self.streams.append(stream)
        await stream.over.wait()
        if stream.error is not None:
            raise stream.error
        return {}


class Streaming(FakeMaker):
    def __init__(self) -> None:
        super().__init__()
        self.streams: list[StreamingSession.Stream] = []

    def make(self, script: Script) -> FakeSession:
        session = StreamingSession(script)
        session.streams = self.streams
        return session


@asynccontextmanager
async def apps(deps: Deps) -> AsyncGenerator[tuple[World, Client, str, Streaming]]:
    maker = Streaming()
    async with world(replace(deps, clock=FakeClock(auto=False)), maker=maker) as here:
        here.hosted.server = HostedServer(url="https://apps.example/mcp")
        client = here.client()
        thread = await client.start()
        await here.until(lambda: client.startup("codex_apps") == ["starting", "ready"])
        yield here, client, thread, maker


async def subscribe(client: Client, thread: str, **more: Any) -> Any:
    params = {
        "threadId": thread,
        "server": "codex_apps",
        "name": "ev",
        "arguments": {"a": 1},
        "subscriptionId": "s1",
        **more,
    }
    return await client.call("mcpServer/event/stream/start", **params)


def told(client: Client) -> list[tuple[str, Any]]:
    return [
        (params["subscriptionId"], params["notification"])
        for method, params in client.log
        if method == "mcpServer/event/stream/notification"
    ]


@asynccontextmanager
async def active(deps: Deps) -> AsyncGenerator[tuple[World, Client, str, Streaming]]:
    async with apps(deps) as (here, client, thread, maker):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribe, client, thread)
            await here.until(lambda: maker.streams)
            maker.streams[-1].say(ACTIVE, a=1)
        yield here, client, thread, maker


async def test_the_answer_comes_after_the_stream_has_become_active(deps: Deps) -> None:
    async with active(deps) as (_, client, _, maker):
        methods = [method for method, _ in client.log]
        mark = methods.index("mcpServer/event/stream/notification")
        assert client.log[mark + 1] == ("answer", "mcpServer/event/stream/start")
        assert told(client) == [("s1", {"method": ACTIVE, "params": {"a": 1}})]
        assert maker.latest("codex_apps").asked[-1] == (
            "events/stream",
            {"name": "ev", "arguments": {"a": 1}},
            None,
        )
        maker.streams[-1].say(EVENT, n=1)
        assert told(client)[-1] == ("s1", {"method": EVENT, "params": {"n": 1}})


async def test_a_stopped_stream_says_no_more_and_its_id_is_free(deps: Deps) -> None:
    async with active(deps) as (here, client, thread, maker):
        with pytest.raises(InvalidRequest, match="MCP event subscription 's1' already exists"):
            await subscribe(client, thread)
        for key in ("s1", "unknown"):
            assert await client.call("mcpServer/event/stream/stop", subscriptionId=key) == {}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribe, client, thread)
            await here.until(lambda: len(maker.streams) == 2)
            maker.streams[-1].say(ACTIVE)


async def test_a_stream_that_the_server_terminates_is_over(deps: Deps) -> None:
    async with active(deps) as (here, client, thread, maker):
        maker.streams[-1].say(TERMINATED)
        await anyio.wait_all_tasks_blocked()
        assert told(client)[-1][1]["method"] == TERMINATED
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(subscribe, client, thread)
            await here.until(lambda: len(maker.streams) == 2)
            maker.streams[-1].say(ACTIVE)


async def test_a_broken_stream_is_taken_up_again_three_times_in_a_row(deps: Deps) -> None:
    async with active(deps) as (here, client, _, maker):
        clock = here.deps.clock
        assert isinstance(clock, FakeClock)
        for pause in (1, 2, 4):
            maker.streams[-1].end(HttpFailed(CloseReason(text="gone")))
            await anyio.wait_all_tasks_blocked()
            before = len(maker.streams)
            await clock.advance(pause)
            await here.until(lambda before=before: len(maker.streams) > before)
            maker.streams[-1].say(ACTIVE)
        maker.streams[-1].end()
        await here.until(lambda: told(client)[-1][1]["method"] == TERMINATED)
        assert len(maker.streams) == 4


async def test_an_event_makes_tries_count_from_one(deps: Deps) -> None:
    async with active(deps) as (here, _, _, maker):
        clock = here.deps.clock
        assert isinstance(clock, FakeClock)
        for _ in range(5):
            maker.streams[-1].say(EVENT)
            maker.streams[-1].end()
            await anyio.wait_all_tasks_blocked()
            before = len(maker.streams)
            await clock.advance(1)
            await here.until(lambda before=before: len(maker.streams) > before)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (None, "MCP event stream ended before becoming active"),
        (PeerError(-32601, "Method not found"), "Mcp error: -32601: Method not found"),
        (DeadlinePassed("events/stream", 5), "timed out awaiting events/stream after 5s"),
    ],
)
async def test_a_stream_that_never_becomes_active_is_refused(
    deps: Deps, error: CoreError | None, message: str
) -> None:
    async with apps(deps) as (here, client, thread, maker):
        said: list[str] = []

        async def ask() -> None:
            try:
                await subscribe(client, thread)
            except InternalError as refused:
                said.append(refused.message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await here.until(lambda: maker.streams)
            maker.streams[-1].end(error)
        assert said == [message]
        assert told(client) == []


async def test_only_listeners_of_a_thread_may_subscribe_to_the_hosted_server(deps: Deps) -> None:
    async with apps(deps) as (here, client, thread, _):
        only = "MCP event subscriptions are only supported for hosted apps"
        with pytest.raises(InvalidRequest, match=only):
            await subscribe(client, thread, server="other")
        not_listening = f"connection is not subscribed to thread '{thread}'"
        with pytest.raises(InvalidRequest, match=not_listening):
            await subscribe(here.client(2), thread)
        with pytest.raises(InvalidRequest, match="invalid thread id"):
            await subscribe(client, "x")


async def test_without_a_sign_in_there_is_no_hosted_server(deps: Deps) -> None:
    async with world(deps) as here:
        client = here.client()
        thread = await client.start()
        with pytest.raises(InternalError) as caught:
            await subscribe(client, thread)
        assert caught.value.message == (
            "failed to start MCP event stream for 'codex_apps': unknown MCP server 'codex_apps'"
        )
