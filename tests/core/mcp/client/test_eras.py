from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import core.mcp.client.eras as eras_module
from core.errors import PeerError
from core.mcp.client.eras import Era, Introduction
from core.mcp.client.factory import open_http_session, open_stdio_session
from core.mcp.client.session import DeadlinePassed, HttpFailed, Session, SessionClosed
from core.mcp.client.stdio import StdioTarget
from core.mcp.client.wire import HttpTarget, mirrored_headers
from core.net.http import HttpClients
from core.process import Processes
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.mcp_stdio import argv

pytestmark = pytest.mark.anyio
META = "io.modelcontextprotocol/"
CLIENTS = HttpClients({})


def who(era: Era) -> Introduction:
    return Introduction(name="n", version="1", capabilities={"elicitation": {}}, era=era)


@asynccontextmanager
async def over_stdio(era: Era, mode: str, **options: Any) -> AsyncGenerator[Session]:
    program, *args = argv(mode, **options)
    target = StdioTarget(command=program, args=args, env={"PATH": os.environ["PATH"]})
    with anyio.fail_after(10):
        async with open_stdio_session(target, who(era), processes=Processes()) as session:
            yield session


@asynccontextmanager
async def over_http(era: Era, server: FakeMcpHttp) -> AsyncGenerator[Session]:
    target = HttpTarget(url=server.url, retry_delays=())
    with anyio.fail_after(10):
        async with open_http_session(target, who(era), http=CLIENTS) as session:
            yield session


@pytest.mark.parametrize(
    ("era", "mode", "version"),
    [
        ("handshake", "ok", "2025-06-18"),
        ("handshake", "modern", "2026-07-28"),
        ("handshake", "modern-too", "2025-06-18"),
        ("auto", "ok", "2025-06-18"),
        ("auto", "modern", "2026-07-28"),
        ("auto", "modern-too", "2026-07-28"),
        ("modern", "modern", "2026-07-28"),
    ],
)
async def test_each_era_is_found_over_both_transports(era: Era, mode: str, version: str) -> None:
    async with over_stdio(era, mode) as session:
        assert (await session.open(deadline=5)).protocol_version == version
        assert await session.request("ping", deadline=2) == {}
    kind = mode if mode != "ok" else "handshake"
    with FakeMcpHttp(era=kind) as server:
        async with over_http(era, server) as session:
            assert (await session.open(deadline=5)).protocol_version == version
            assert await session.request("ping", deadline=2) == {}


async def test_modern_requests_carry_version_identity_and_capabilities(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with over_stdio("modern", "modern", log=log) as session:
        hello = await session.open(deadline=5)
        await session.request("tools/list", {}, deadline=2, meta={"own": 1})
    assert hello.server_info == {"name": "fake"}
    assert hello.capabilities == {"tools": {}}
    stamp = {
        f"{META}protocolVersion": "2026-07-28",
        f"{META}clientInfo": {"name": "n", "version": "1"},
        f"{META}clientCapabilities": {"elicitation": {}},
    }
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    assert [message["method"] for message in sent] == ["server/discover", "tools/list"]
    assert sent[0]["params"]["_meta"] == stamp
    assert sent[1]["params"]["_meta"] == stamp | {"own": 1, "progressToken": 0}


async def test_modern_http_mirrors_method_and_name_and_has_no_session() -> None:
    with FakeMcpHttp(era="modern") as server:
        async with over_http("modern", server) as session:
            await session.open(deadline=5)
            await session.request("tools/call", {"name": "go"}, deadline=2)
            await session.notify("notifications/roots/list_changed")
    discover, call = server.requests
    assert discover.headers["mcp-method"] == "server/discover"
    assert call.headers["mcp-protocol-version"] == "2026-07-28"
    assert (call.headers["mcp-method"], call.headers["mcp-name"]) == ("tools/call", "go")
    assert "mcp-session-id" not in call.headers


async def test_modern_http_cancels_by_closing_the_stream_alone() -> None:
    with FakeMcpHttp(era="modern", plan={"tools/call": "sse-mute"}) as server:
        async with over_http("modern", server) as session:
            await session.open(deadline=5)
            with pytest.raises(DeadlinePassed):
                await session.request("tools/call", {"name": "go"}, deadline=0.05)
            await session.request("ping", deadline=2)
        assert not server.of("notifications/cancelled")


async def test_falling_back_leaves_nothing_modern_in_the_handshake() -> None:
    with FakeMcpHttp() as server:
        async with over_http("auto", server) as session:
            await session.open(deadline=5)
    first, second = server.requests[0], server.of("initialize")[0]
    assert first.method == "server/discover"
    assert "_meta" not in second.message["params"]
    assert not {"mcp-method", "mcp-protocol-version"} & set(second.headers)


async def test_server_that_never_answers_an_unknown_method_falls_back_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(eras_module, "_PROBE", 0.1)
    async with over_stdio("auto", "mute-discover") as session:
        assert (await session.open(deadline=5)).protocol_version == "2025-06-18"


async def test_server_that_dies_of_an_unknown_method_is_told_by_its_exit_code() -> None:
    async with over_stdio("auto", "die-discover") as session:
        with pytest.raises(SessionClosed) as caught:
            await session.open(deadline=5)
    assert caught.value.reason.exit_code == 5


@pytest.mark.parametrize("status", [401, 403, 500])
async def test_refusal_that_says_nothing_of_the_era_is_no_reason_to_fall_back(status: int) -> None:
    with FakeMcpHttp(plan={"server/discover": status}) as server:
        async with over_http("auto", server) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
        assert caught.value.reason.http_status == status
        assert not server.of("initialize")


async def test_pinned_modern_era_never_falls_back() -> None:
    async with over_stdio("modern", "ok") as session:
        with pytest.raises(PeerError) as caught:
            await session.open(deadline=5)
    assert caught.value.code == -32601


@pytest.mark.parametrize(
    ("versions", "code"), [(["2027-01-01"], -32022), ("nonsense", -32022), (None, -32022)]
)
async def test_discovery_without_our_version_is_refused_when_pinned(
    versions: Any, code: int
) -> None:
    spec = {"results": {"server/discover": {"supportedVersions": versions}}}
    async with over_stdio("modern", "ok", spec=spec) as session:
        with pytest.raises(PeerError) as caught:
            await session.open(deadline=5)
    assert caught.value.code == code


async def test_server_that_knows_only_later_versions_is_not_asked_for_the_handshake(
    tmp_path: Path,
) -> None:
    data = {"supported": ["2027-01-01"]}
    error = {"code": -32022, "message": "too old", "data": data}
    log = tmp_path / "log"
    spec = {"errors": {"server/discover": error}}
    async with over_stdio("auto", "ok", spec=spec, log=log) as session:
        with pytest.raises(PeerError, match="too old"):
            await session.open(deadline=5)
    assert "initialize" not in log.read_text()


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "plain name"}, "plain name"),
        ("tools/call", {"name": " edge"}, "=?base64?IGVkZ2U=?="),
        ("prompts/get", {"name": "gr\u00fc\u00dfe"}, "=?base64?Z3LDvMOfZQ==?="),
        ("resources/read", {"uri": "file:///a\nb"}, "=?base64?ZmlsZTovLy9hCmI=?="),
        ("tools/call", {"name": "=?base64?x?="}, "=?base64?PT9iYXNlNjQ/eD89?="),
        ("tools/call", {"name": 7}, None),
        ("tools/list", {"name": "x"}, None),
    ],
)
async def test_names_are_mirrored_safely(
    method: str, params: dict[str, Any], name: str | None
) -> None:
    headers = {"mcp-method": method} | ({"mcp-name": name} if name else {})
    assert mirrored_headers(method, params) == headers
