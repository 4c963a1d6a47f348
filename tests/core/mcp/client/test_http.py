from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread
import pytest

from core.errors import InternalError, PeerError
from core.mcp.client.eras import Introduction
from core.mcp.client.factory import open_http_session
from core.mcp.client.session import DeadlinePassed, HttpFailed, Session, SessionClosed
from core.mcp.client.wire import HttpTarget
from core.net.http import HttpClients
from tests.fakes.mcp_http import FakeMcpHttp, Mode

pytestmark = pytest.mark.anyio
WHO = Introduction(name="jackfield", title="Jackfield", version="1.2")
CALL = {"name": "go", "arguments": {}}


CLIENTS = HttpClients({})
"""One TLS context for the whole module."""


@pytest.fixture
def connect() -> Callable[..., Any]:
    @asynccontextmanager
    async def connect(
        server: FakeMcpHttp, *, who: Introduction = WHO, opened: bool = True, **target: Any
    ) -> AsyncGenerator[Session]:
        target = {"url": server.url, "retry_delays": (0.01, 0.02), **target}
        with anyio.fail_after(10):
            async with open_http_session(HttpTarget(**target), who, http=CLIENTS) as session:
                if opened:
                    await session.open(deadline=5)
                yield session

    return connect


async def until(server: FakeMcpHttp, fits: Callable[[], bool]) -> None:
    """Wait for something to arrive at the server."""

    def wait() -> bool:
        with server.changed:
            return server.changed.wait_for(fits, timeout=5)

    assert await anyio.to_thread.run_sync(wait)


async def call(session: Session, deadline: float = 5) -> dict[str, Any]:
    return await session.request("tools/call", CALL, deadline=deadline)


async def failure_of_call(session: Session) -> HttpFailed:
    with pytest.raises(HttpFailed) as caught:
        await call(session)
    return caught.value


async def is_still_good(session: Session) -> bool:
    with anyio.move_on_after(0.02):
        await session.closed()
        return False
    return await session.request("ping", deadline=2) == {}


# --- what is sent ---


async def test_requests_look_as_the_real_client_sends_them(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            await until(server, lambda: server.listeners == 1)
            await session.request("tools/list", {}, deadline=5)
        first, initialized, stream, listed, ended = server.requests
    names = ("accept", "content-type", "user-agent", "mcp-protocol-version", "mcp-session-id")
    common = {
        "accept": "text/event-stream, application/json",
        "content-type": "application/json",
        "user-agent": "jackfield/1.2",
    }
    number = listed.headers["mcp-session-id"]
    later = {"mcp-protocol-version": "2025-06-18", "mcp-session-id": number}

    def told(seen: Any) -> dict[str, str]:
        return {name: seen.headers[name] for name in names if name in seen.headers}

    assert told(first) == common
    assert first.message["params"]["clientInfo"]["name"] == "jackfield"
    assert initialized.method == "notifications/initialized"
    assert told(initialized) == told(listed) == common | later
    without_body = {key: value for key, value in common.items() if key != "content-type"}
    assert stream.verb == "GET"
    assert told(stream) == without_body | later
    assert ended.verb == "DELETE"
    assert told(ended) == without_body | later | {"accept": "*/*"}
    assert listed.message["params"] == {"_meta": {"progressToken": 0}}


async def test_configured_headers_go_along_and_those_of_the_protocol_win(connect: Any) -> None:
    headers = {"X-Own": "1", "User-Agent": "mine", "Accept": "x", "Mcp-Session-Id": "forged"}
    with FakeMcpHttp() as server:
        async with connect(server, headers=headers) as session:
            await call(session)
        first, sent = server.requests[0].headers, server.of("tools/call")[0].headers
    assert (first["x-own"], first["user-agent"]) == ("1", "mine")
    assert sent["accept"] == "text/event-stream, application/json"
    assert "mcp-session-id" not in first
    assert sent["mcp-session-id"] in server.sessions


async def test_server_without_a_session_gets_neither_get_nor_delete(connect: Any) -> None:
    with FakeMcpHttp(stateless=True) as server:
        async with connect(server) as session:
            await call(session)
    assert {seen.verb for seen in server.requests} == {"POST"}


async def test_user_info_of_the_url_becomes_basic_authorization_and_stays_out_of_texts(
    connect: Any,
) -> None:
    with FakeMcpHttp(plan={"tools/call": 500}) as server:
        url = server.url.replace("http://", "http://us%40er:canary@")
        async with connect(server, url=url) as session:
            failed = await failure_of_call(session)
    assert server.requests[0].headers["authorization"] == "Basic dXNAZXI6Y2FuYXJ5"
    assert "canary" not in f"{failed} {failed.reason} {HttpTarget(url=url)}"


# --- answers ---


@pytest.mark.parametrize("mode", ["ok", "sse", "sse-open", "sse-parts", "gzip"])
async def test_answers_are_taken_as_json_or_event_whole_or_in_pieces(
    mode: str, connect: Any
) -> None:
    with FakeMcpHttp(plan={"initialize": mode, "tools/call": mode}) as server:
        async with connect(server) as session:
            assert (await call(session, deadline=2))["content"]
            assert session.heard_at > 0


async def test_requests_run_at_the_same_time(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "sse-mute"}) as server:
        async with connect(server) as session, anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(call, session, 30)
            await until(server, lambda: len(server.of("tools/call")) == 12)
            assert await session.request("ping", deadline=2) == {}
            tasks.cancel_scope.cancel()


async def test_answer_of_a_request_may_come_on_the_servers_own_stream(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "elsewhere"}) as server:
        async with connect(server) as session:
            await until(server, lambda: server.listeners == 1)
            assert (await call(session))["content"]


async def test_error_without_id_in_the_answer_is_the_requests_own(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "null-id"}) as server:
        async with connect(server) as session:
            with pytest.raises(PeerError, match="not like this"):
                await call(session)


async def test_server_that_asks_on_the_stream_of_a_call_gets_its_answer(connect: Any) -> None:
    ask = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {"message": "?"}}
    with FakeMcpHttp(spec={"first": {"tools/call": [ask]}}, plan={"tools/call": "ask"}) as server:
        async with connect(server) as session, anyio.create_task_group() as tasks:
            tasks.start_soon(call, session)
            assert (await anext(aiter(session.incoming))).id == "q"
            await session.respond("q", result={"action": "decline"})
        answer = next(seen for seen in server.requests if seen.message.get("id") == "q")
    assert answer.message["result"] == {"action": "decline"}


# --- refusals and breakage in a call: told with all there is, and the session stays good ---


@pytest.mark.parametrize("status", [400, 401, 403, 405, 429, 500, 502, 503])
async def test_refused_call_keeps_status_challenge_delay_and_body(
    status: int, connect: Any
) -> None:
    with FakeMcpHttp(plan={"tools/call": status}) as server:
        async with connect(server) as session:
            server.extra = {"WWW-Authenticate": "Bearer a", "Retry-After": "7"}
            reason = (await failure_of_call(session)).reason
            assert reason.http_status == status
            assert reason.host == f"127.0.0.1:{server.port}"
            assert reason.challenge == ("Bearer a",)
            assert reason.retry_after == 7
            assert reason.body == "<html>sorry</html>"
            assert reason.text == f"127.0.0.1:{server.port} answered {status} Status"
            assert len(server.of("tools/call")) == 1
            assert await is_still_good(session)


@pytest.mark.parametrize(
    ("mode", "broken", "body"),
    [
        ("html", "answered with text/html instead of JSON", "<html><title>Sign in"),
        ("no-type", "answered with no content type instead of JSON", '{"jsonrpc"'),
        ("bad-json", "answered tools/call with what is no JSON", "{not json"),
        ("wrong-id", "answered tools/call with something else", '{"jsonrpc"'),
        ("sse-cut", "ended its stream before answering tools/call", ""),
        ("bomb", "failed: the answer is larger than 100000 bytes", ""),
        ("huge", "failed: the answer is larger than 100000 bytes", ""),
    ],
)
async def test_answer_that_is_no_mcp_is_told_as_such(
    mode: str, broken: str, body: str, connect: Any
) -> None:
    with FakeMcpHttp(plan={"tools/call": mode}) as server:
        async with connect(server, message_limit=100_000) as session:
            reason = (await failure_of_call(session)).reason
            assert reason.broken == broken
            assert reason.body.startswith(body)
            assert await is_still_good(session)


@pytest.mark.parametrize("mode", ["close", "reset", "truncated", "sse-reset"])
async def test_connection_cut_in_a_call_fails_that_call_only(mode: str, connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": mode}) as server:
        async with connect(server) as session:
            assert (await failure_of_call(session)).reason.errno == 104
            assert len(server.of("tools/call")) == 1
            assert await is_still_good(session)


@pytest.mark.parametrize("mode", ["slow-headers", "slow-body", "sse-mute"])
async def test_call_without_answer_ends_at_its_deadline_and_tells_the_server(
    mode: str, connect: Any
) -> None:
    with FakeMcpHttp(plan={"tools/call": mode}) as server:
        async with connect(server) as session:
            with pytest.raises(DeadlinePassed):
                await call(session, deadline=0.1)
            await until(server, lambda: bool(server.of("notifications/cancelled")))
            told = server.of("notifications/cancelled")[0].message["params"]
            assert told == {"requestId": 1, "reason": "MCP request cancelled by caller"}
            assert await is_still_good(session)


async def test_202_to_a_request_without_a_stream_is_a_failure(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "accepted", "GET": 405}) as server:
        async with connect(server) as session:
            assert (await failure_of_call(session)).reason.http_status == 202


async def test_oversized_event_names_the_limit(connect: Any) -> None:
    big = {"content": [{"type": "text", "text": "x" * 5000}]}
    with FakeMcpHttp(spec={"calls": {"go": big}}, plan={"tools/call": "sse"}) as server:
        async with connect(server, message_limit=4000) as session:
            assert (await failure_of_call(session)).reason.broken == (
                "sent an event of more than 4000 bytes"
            )


async def test_stream_cut_after_an_id_is_resumed(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "sse-cut-id"}) as server:
        async with connect(server) as session:
            assert (await call(session))["content"][0]["text"] == "resumed"
    resumed = [seen for seen in server.of("GET") if "last-event-id" in seen.headers]
    assert [seen.headers["last-event-id"] for seen in resumed] == ["1"]


async def test_stream_that_cannot_be_resumed_fails_the_call(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "sse-cut-id", "GET": 405}) as server:
        async with connect(server) as session:
            assert (await failure_of_call(session)).reason.http_status == 405


# --- the beginning ---


@pytest.mark.parametrize(
    ("modes", "posts"),
    [([500, "ok"], 2), (["close", "reset", "ok"], 3), (["sse-reset", 503, "ok"], 3)],
)
async def test_initialize_is_tried_again_after_5xx_and_broken_connections(
    modes: list[str | int], posts: int, connect: Any
) -> None:
    with FakeMcpHttp(plan={"initialize": modes}) as server:
        async with connect(server) as session:
            assert await is_still_good(session)
        assert len(server.of("initialize")) == posts


@pytest.mark.parametrize(
    ("mode", "posts", "status"), [(502, 3, 502), (401, 1, 401), (403, 1, 403), (404, 1, 404)]
)
async def test_initialize_that_stays_refused_keeps_the_status(
    mode: Mode, posts: int, status: int, connect: Any
) -> None:
    with FakeMcpHttp(plan={"initialize": mode}) as server:
        async with connect(server, opened=False) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
            assert await session.closed() is caught.value.reason
            with pytest.raises(SessionClosed):
                await call(session)
        assert caught.value.reason.http_status == status
        assert len(server.requests) == posts


@pytest.mark.parametrize("mode", ["close", "reset", "truncated"])
async def test_initialize_over_broken_connections_closes_the_session_with_an_errno(
    mode: str, connect: Any
) -> None:
    with FakeMcpHttp(plan={"initialize": mode}) as server:
        async with connect(server, opened=False) as session:
            with pytest.raises(SessionClosed) as caught:
                await session.open(deadline=5)
        assert caught.value.reason.errno == 104
        assert len(server.requests) == 3


async def test_server_that_is_not_there(connect: Any) -> None:
    with FakeMcpHttp() as server:
        server.stop()
        async with connect(server, opened=False) as session:
            with pytest.raises(SessionClosed, match="Connection refused") as caught:
                await session.open(deadline=5)
    assert caught.value.reason.errno == 111
    assert caught.value.reason.host == f"127.0.0.1:{server.port}"


@pytest.mark.parametrize("mode", ["slow-headers", "sse-mute"])
async def test_initialize_without_answer_ends_at_the_deadline(mode: str, connect: Any) -> None:
    with FakeMcpHttp(plan={"initialize": mode}) as server:
        async with connect(server, opened=False) as session:
            with pytest.raises(DeadlinePassed, match="initialize after 0.1s"):
                await session.open(deadline=0.1)


@pytest.mark.parametrize("url", ["", "ftp://h/x", "nonsense", "http://", "http://h:port/"])
async def test_impossible_url_is_told_without_a_request(url: str, connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server, url=url, opened=False) as session:
            with pytest.raises(SessionClosed) as caught:
                await session.open(deadline=5)
    assert caught.value.reason.errno == 22


@pytest.mark.parametrize("headers", [{"X-Bad": "gr\u4e2d"}, {"X-Bad": "a\nb"}, {"bad name": "x"}])
async def test_impossible_header_is_told_without_its_value(
    headers: dict[str, str], connect: Any
) -> None:
    with FakeMcpHttp() as server:
        async with connect(server, headers=headers, opened=False) as session:
            with pytest.raises(SessionClosed) as caught:
                await session.open(deadline=5)
        assert caught.value.reason.errno == 22
        assert not server.requests


async def test_session_id_that_cannot_be_sent_back_is_told(connect: Any) -> None:
    with FakeMcpHttp(session="gr\u00fc\u00dfe") as server:
        async with connect(server, opened=False) as session:
            with pytest.raises(HttpFailed, match="header is not valid"):
                await session.open(deadline=5)


async def test_closed_session_cannot_be_opened(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server, opened=False) as session:
            await session.aclose()
            with pytest.raises(SessionClosed, match="was closed"):
                await session.open(deadline=5)
        assert not server.requests


# --- the session ---


async def test_forgotten_session_is_renewed_once_and_the_request_sent_again(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            await session.request("tools/list", {}, deadline=5)
            await until(server, lambda: server.listeners == 1)
            server.forget_sessions()
            answer = json.loads((await call(session))["content"][0]["text"])
            assert answer["_meta"] == {"progressToken": 0}  # a new session counts anew
            await until(server, lambda: server.listeners == 2)
            assert await is_still_good(session)
        methods = [seen.method for seen in server.requests if seen.verb == "POST"]
        assert methods == [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "initialize",
            "notifications/initialized",
            "tools/call",
            "ping",
        ]


async def test_many_that_notice_at_once_renew_the_session_once(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            server.forget_sessions()
            async with anyio.create_task_group() as tasks:
                for _ in range(6):
                    tasks.start_soon(call, session)
        assert len(server.of("initialize")) == 2


async def test_session_that_cannot_be_renewed_is_closed(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            server.plan = {"initialize": 404}
            server.forget_sessions()
            with pytest.raises((HttpFailed, SessionClosed)) as caught:
                await call(session)
            assert caught.value.reason.http_status == 404
            assert (await session.closed()).http_status == 404


async def test_renewal_refused_for_now_fails_the_request_and_is_tried_with_the_next(
    connect: Any,
) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            server.plan = {"initialize": 503}
            server.forget_sessions()
            assert (await failure_of_call(session)).reason.http_status == 503
            server.plan = {}
            assert (await call(session))["content"]


async def test_404_that_renewing_does_not_cure_is_told(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": 404}) as server:
        async with connect(server) as session:
            assert (await failure_of_call(session)).reason.http_status == 404
        assert len(server.of("initialize")) == 2
        assert len(server.of("tools/call")) == 2


async def test_delete_that_gets_no_answer_does_not_hold_up_the_end(connect: Any) -> None:
    with FakeMcpHttp(plan={"DELETE": "405"}) as server:
        async with connect(server):
            pass
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            server.stop()
            with anyio.fail_after(2):
                await session.aclose()
            assert (await session.closed()).text


# --- the server's own stream ---


async def test_notifications_arrive_on_the_servers_own_stream(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            await until(server, lambda: server.listeners == 1)
            server.push({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            assert (await anext(aiter(session.incoming))).method.endswith("list_changed")


@pytest.mark.parametrize("mode", [405, 401, 500, "hold-headers"])
async def test_server_without_a_stream_of_its_own_is_fine(mode: Mode, connect: Any) -> None:
    with FakeMcpHttp(plan={"GET": mode}) as server:
        async with connect(server) as session:
            await until(server, lambda: bool(server.of("GET")))
            assert (await call(session))["content"]
            assert await is_still_good(session)
        assert len(server.of("GET")) == 1


async def test_death_of_the_server_is_seen_by_the_open_stream_within_a_second(
    connect: Any,
) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            await until(server, lambda: server.listeners == 1)
            server.stop()
            with anyio.fail_after(1):
                reason = await session.closed()
            assert reason.errno == 111
            assert reason.host == f"127.0.0.1:{server.port}"


async def test_stream_that_ends_is_opened_again_where_it_was_left(connect: Any) -> None:
    with FakeMcpHttp() as server:
        async with connect(server) as session:
            await until(server, lambda: server.listeners == 1)
            server.push_raw(b"id: 41\nretry: 20\ndata:\n\n")
            server.plan = {"GET": "stream"}
            server.drop_streams()
            await until(server, lambda: server.listeners == 1)
            assert server.of("GET")[1].headers["last-event-id"] == "41"
            assert await is_still_good(session)


async def test_stream_that_always_ends_at_once_is_given_up_and_the_session_stays_good(
    connect: Any,
) -> None:
    with FakeMcpHttp(plan={"GET": "cut"}) as server:
        async with connect(server) as session:
            await until(server, lambda: len(server.of("GET")) >= 2)
            assert await is_still_good(session)


async def test_refused_connection_in_a_call_means_that_the_server_is_gone(connect: Any) -> None:
    with FakeMcpHttp(plan={"GET": 405}) as server:
        async with connect(server) as session:
            server.stop()
            with pytest.raises((SessionClosed, HttpFailed)):
                await call(session)
            with pytest.raises(SessionClosed, match="Connection refused"):
                await call(session)


# --- redirects ---


async def test_redirect_on_the_same_origin_is_followed_with_all_headers(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": ["redirect", "ok"]}, location="/other") as server:
        async with connect(server, headers={"X-Own": "1"}) as session:
            await call(session)
        first, second = server.of("tools/call")
    assert (second.path, second.message) == ("/other", first.message)
    assert second.headers == first.headers


@pytest.mark.parametrize("where", ["http://localhost:1/mcp?token=canary", "https://127.0.0.1/mcp"])
async def test_redirect_to_another_origin_is_refused_and_named(where: str, connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "redirect"}, location=where) as server:
        async with connect(server) as session:
            reason = (await failure_of_call(session)).reason
    assert reason.http_status == 307
    assert where.split("/mcp")[0] in reason.text
    assert "canary" not in reason.text


async def test_redirect_that_would_lose_the_request_is_refused(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "redirect-302"}, location="/other") as server:
        async with connect(server) as session:
            assert "302 would turn POST into GET" in (await failure_of_call(session)).reason.text


async def test_redirect_loop_ends_after_five(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "redirect"}, location="/mcp") as server:
        async with connect(server) as session:
            assert (await failure_of_call(session)).reason.http_status == 307
        assert len(server.of("tools/call")) == 6


async def test_policy_none_follows_nothing(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "redirect"}, location="/other") as server:
        async with connect(server, redirects="none") as session:
            await failure_of_call(session)
        assert len(server.of("tools/call")) == 1


@pytest.mark.parametrize(("headers", "posts"), [({}, 2), ({"X-Own": "1"}, 1)])
async def test_anonymous_policy_follows_only_while_nothing_goes_along(
    headers: dict[str, str], posts: int, connect: Any
) -> None:
    plan: dict[str, Mode] = {"ping": ["redirect", "ok"]}
    with FakeMcpHttp(plan=plan, location="/other") as server:
        async with connect(server, redirects="same-origin-anonymous", headers=headers) as session:
            try:
                await session.request("ping", deadline=5)
            except HttpFailed as failed:
                assert "configured headers would go along" in failed.reason.text
        assert len(server.of("ping")) == posts


async def test_requests_of_the_modern_era_are_not_sent_on(connect: Any) -> None:
    with FakeMcpHttp(plan={"tools/call": "redirect"}, location="/other", era="modern") as server:
        async with connect(server, who=replace(WHO, era="modern")) as session:
            failed = await failure_of_call(session)
        assert "redirects are not followed here" in failed.reason.text
        assert len(server.of("tools/call")) == 1


# --- authorization ---


class Tokens:
    """Gives `current`; a rejected token makes way for `better`."""

    def __init__(self, current: str | None, better: str | None = None) -> None:
        self.current, self.better = current, better
        self.asked: list[str | None] = []

    async def __call__(self, rejected: str | None) -> str | None:
        self.asked.append(rejected)
        if rejected is not None and rejected == self.current:
            self.current = self.better
        return self.current


async def test_bearer_token_goes_with_every_request_and_wins(connect: Any) -> None:
    with FakeMcpHttp(tokens={"good"}) as server:
        url = server.url.replace("http://", "http://u:p@")
        headers = {"Authorization": "Basic x"}
        async with connect(server, url=url, headers=headers, authorize=Tokens("good")) as session:
            await call(session)
            await until(server, lambda: server.listeners == 1)
    assert {seen.headers["authorization"] for seen in server.requests} == {"Bearer good"}
    assert server.requests[-1].verb == "DELETE"


async def test_rejected_token_is_replaced_once(connect: Any) -> None:
    tokens = Tokens("old", "new")
    with FakeMcpHttp(tokens={"new"}) as server:
        async with connect(server, authorize=tokens):
            pass
    sent = [seen.headers["authorization"] for seen in server.of("initialize")]
    assert sent == ["Bearer old", "Bearer new"]
    assert tokens.asked[:2] == [None, "old"]


@pytest.mark.parametrize("better", [None, "old", "also bad"])
async def test_without_a_better_token_the_401_is_told_with_its_challenge(
    better: str | None, connect: Any
) -> None:
    with FakeMcpHttp(tokens={"good"}) as server:
        async with connect(server, authorize=Tokens("old", better), opened=False) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
        assert len(server.requests) == (2 if better == "also bad" else 1)
    assert caught.value.reason.http_status == 401
    assert caught.value.reason.challenge == ('Bearer error="invalid_token"',)


async def test_tool_call_is_never_replayed_and_the_next_request_brings_a_better_token(
    connect: Any,
) -> None:
    tokens = Tokens("old", "new")
    with FakeMcpHttp(tokens={"old"}, plan={"GET": 405}) as server:
        async with connect(server, authorize=tokens) as session:
            await until(server, lambda: bool(server.of("GET")))
            server.tokens = {"new"}
            assert (await failure_of_call(session)).reason.http_status == 401
            assert len(server.of("tools/call")) == 1
            assert (await call(session))["content"]
        assert tokens.asked.count("old") == 1


async def test_failing_authorization_fails_the_request_with_its_own_words(connect: Any) -> None:
    async def authorize(rejected: str | None) -> str | None:
        raise InternalError("Token expired")

    with FakeMcpHttp() as server:
        async with connect(server, authorize=authorize, opened=False) as session:
            with pytest.raises(InternalError, match="Token expired"):
                await session.open(deadline=5)
        assert not server.requests


async def test_slow_authorization_of_one_request_holds_up_no_other(connect: Any) -> None:
    waiting = anyio.Event()

    async def authorize(rejected: str | None) -> str | None:
        if waiting.is_set():
            return "token"
        waiting.set()
        await anyio.sleep_forever()
        return None

    async def ready(rejected: str | None) -> str | None:
        return await (authorize(rejected) if slow else anyio.lowlevel.checkpoint())

    slow = False
    with FakeMcpHttp() as server:
        async with connect(server, authorize=ready) as session:
            slow = True
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, session, 30)
                await waiting.wait()
                assert await session.request("ping", deadline=2) == {}
                tasks.cancel_scope.cancel()
