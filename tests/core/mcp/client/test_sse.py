from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from core.mcp.client.eras import Introduction
from core.mcp.client.factory import open_http_session
from core.mcp.client.session import DeadlinePassed, HttpFailed, Session, SessionClosed
from core.mcp.client.wire import HttpTarget
from core.net.http import HttpClients
from tests.fakes.mcp_http import FakeMcpHttp

pytestmark = pytest.mark.anyio
WHO = Introduction(name="jackfield", version="1")
CLIENTS = HttpClients({})


@asynccontextmanager
async def session_with(server: FakeMcpHttp, **target: Any) -> AsyncGenerator[Session]:
    target = {"url": server.url, "legacy_sse": True, "retry_delays": (), **target}
    with anyio.fail_after(10):
        async with open_http_session(HttpTarget(**target), WHO, http=CLIENTS) as session:
            yield session


async def test_older_transport_is_used_after_405_and_works() -> None:
    with FakeMcpHttp(legacy=True) as server:
        async with session_with(server, headers={"X-Own": "1"}) as session:
            assert (await session.open(deadline=5)).server_info["name"] == "fake"
            assert await session.request("tools/list", {}, deadline=2)
            server.push({"jsonrpc": "2.0", "id": "q", "method": "ping"})
            server.push({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            assert (await anext(aiter(session.incoming))).method.endswith("list_changed")
    posts = [(seen.path, seen.method) for seen in server.requests if seen.verb == "POST"]
    assert posts[:4] == [
        ("/mcp", "initialize"),
        ("/post", "initialize"),
        ("/post", "notifications/initialized"),
        ("/post", "tools/list"),
    ]
    assert {seen.headers["x-own"] for seen in server.requests} == {"1"}
    assert not server.of("DELETE")


async def test_older_transport_is_not_tried_unless_asked_for() -> None:
    with FakeMcpHttp(legacy=True) as server:
        async with session_with(server, legacy_sse=False) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
        assert caught.value.reason.http_status == 405
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 500])
async def test_other_refusals_are_no_reason_to_try_it(status: int) -> None:
    with FakeMcpHttp(plan={"initialize": status}) as server:
        async with session_with(server) as session:
            with pytest.raises(HttpFailed):
                await session.open(deadline=5)
        assert not server.of("GET")


@pytest.mark.parametrize("get", [405, "cut"])
async def test_first_refusal_is_the_one_told_when_both_fail(get: str | int) -> None:
    with FakeMcpHttp(plan={"initialize": 404, "GET": get}) as server:
        async with session_with(server) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
    assert caught.value.reason.http_status == 404


async def test_address_on_another_origin_is_refused() -> None:
    with FakeMcpHttp(legacy=True, endpoint="http://localhost:1/post") as server:
        async with session_with(server) as session:
            with pytest.raises(HttpFailed):
                await session.open(deadline=5)
        assert [seen.path for seen in server.requests] == ["/mcp", "/mcp"]


async def test_stream_that_names_no_address_is_given_up_at_the_deadline() -> None:
    with FakeMcpHttp(plan={"initialize": 405}) as server:
        async with session_with(server) as session:
            with pytest.raises(DeadlinePassed):
                await session.open(deadline=0.2)


async def test_end_of_the_stream_ends_the_session_at_once() -> None:
    with FakeMcpHttp(legacy=True) as server:
        async with session_with(server) as session:
            await session.open(deadline=5)
            server.drop_streams()
            with anyio.fail_after(1):
                assert (await session.closed()).broken == "ended its event stream"
            with pytest.raises(SessionClosed):
                await session.request("ping", deadline=1)


async def test_refused_message_fails_that_request_only() -> None:
    with FakeMcpHttp(legacy=True) as server:
        async with session_with(server) as session:
            await session.open(deadline=5)
            server.tokens = set()
            with pytest.raises(HttpFailed) as caught:
                await session.request("ping", deadline=2)
            assert caught.value.reason.http_status == 401
            server.tokens = None
            assert await session.request("ping", deadline=2) == {}


async def test_a_stream_without_an_address_leaves_the_first_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.mcp.client.sse._ADDRESS_WITHIN", 0.1)
    with FakeMcpHttp(plan={"initialize": 404}) as server:
        async with session_with(server) as opened:
            with pytest.raises(HttpFailed) as caught:
                await opened.open(deadline=5)
    assert caught.value.reason.http_status == 404
    assert server.of("GET")
