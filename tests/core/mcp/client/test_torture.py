"""Each misbehaviour of the project's torture servers: at the connect, in a call and when idle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import pytest

import core.process as process_module
from core.errors import CoreError, PeerError
from core.mcp.client.eras import Introduction
from core.mcp.client.factory import open_http_session, open_stdio_session
from core.mcp.client.session import DeadlinePassed, HttpFailed, Session, SessionClosed
from core.mcp.client.stdio import StdioTarget
from core.mcp.client.wire import HttpTarget
from core.net.http import HttpClients
from core.process import Processes
from tests.conftest import SHARED
from tests.fakes.processes import group_lives

pytestmark = [pytest.mark.anyio, pytest.mark.shared]
KIT = SHARED / "kit"
WHO = Introduction(name="jackfield", title="Jackfield", version="1")
CALL = {"name": "go", "arguments": {}}
CLIENTS = HttpClients({})


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "TERM_GRACE", 0.2)


async def outcome(session: Session, deadline: float) -> Any:
    """How a call ends: its text, or its failure."""
    try:
        result = await session.request("tools/call", CALL, deadline=deadline)
    except CoreError as failed:
        return failed
    return result["content"][0]["text"]


async def lives(session: Session) -> bool:
    with anyio.move_on_after(0.02):
        await session.closed()
        return False
    return True


# --- stdio ---


@asynccontextmanager
async def stdio(mode: str, **options: Any) -> AsyncGenerator[Session]:
    args = ["-S", str(KIT / "torture_stdio.py"), "--mode", mode]
    for name, value in options.items():
        args += [f"--{name}", str(value)]
    processes = Processes()
    target = StdioTarget(command=sys.executable, args=args, env={"PATH": os.environ["PATH"]})
    with anyio.fail_after(20):
        async with open_stdio_session(target, WHO, processes=processes) as session:
            yield session
        assert not processes.running
        assert session.pid
        assert not group_lives(session.pid)


USABLE = [
    "ok", "banner", "bad-utf8", "bad-init", "old-proto", "mute-discover", "die-discover",
    "garbage", "twice", "notify", "ask", "crlf", "slow", "stderr", "huge", "close-stdin",
    "stubborn", "orphan", "daemon",
]  # fmt: skip


@pytest.mark.parametrize("mode", USABLE)
async def test_stdio_server_that_can_be_used_is_used(mode: str) -> None:
    async with stdio(mode, mb=24, seconds=0.3) as session:
        hello = await session.open(deadline=5)
        assert hello.protocol_version == ("1999-01-01" if mode == "old-proto" else "2025-11-25")
        listed = await session.request("tools/list", {}, deadline=2)
        assert [tool["name"] for tool in listed["tools"]] == ["go"]
        said = await outcome(session, 10)
        expected = {"crlf": "gr\u00fc\u00dfe, \u6f22\u5b57", "huge": "x" * (24 << 20)}.get(
            mode, "ok"
        )
        assert said == expected
        assert await lives(session)


@pytest.mark.parametrize(("mode", "code"), [("exit", 3), ("mute", None)])
async def test_stdio_server_that_does_not_start(mode: str, code: int | None) -> None:
    async with stdio(mode) as session:
        with pytest.raises((SessionClosed, DeadlinePassed)) as caught:
            await session.open(deadline=1)
        if code is None:
            assert isinstance(caught.value, DeadlinePassed)
        else:
            assert (await session.closed()).exit_code == code
            assert session.tail == ("error: no API key configured",)


@pytest.mark.parametrize(
    ("mode", "exit_code", "tail"),
    [
        ("kill", -9, ()),
        ("exit-call", 4, ("fatal: giving up",)),
        ("half", 0, ('{"jsonrpc":"2.0","id":',)),
        ("close-stdout", None, ()),
    ],
)
async def test_stdio_server_that_goes_in_a_call(
    mode: str, exit_code: int | None, tail: tuple[str, ...]
) -> None:
    async with stdio(mode) as session:
        await session.open(deadline=5)
        with anyio.fail_after(1):
            failed = await outcome(session, 10)
            reason = await session.closed()
        assert isinstance(failed, SessionClosed)
        assert failed.reason is reason
        assert (reason.exit_code, reason.tail) == (exit_code, tail)
        assert bool(reason.broken) == (mode == "close-stdout")


@pytest.mark.parametrize("mode", ["stop", "never", "wrong-id"])
async def test_stdio_server_that_does_not_answer(mode: str) -> None:
    async with stdio(mode) as session:
        await session.open(deadline=5)
        assert isinstance(await outcome(session, 0.3), DeadlinePassed)
        assert await lives(session)


async def test_stdio_server_that_answers_with_an_error() -> None:
    async with stdio("error") as session:
        await session.open(deadline=5)
        failed = await outcome(session, 5)
        assert isinstance(failed, PeerError)
        assert (failed.code, failed.message, failed.data) == (-32000, "tool exploded", {"a": 1})
        assert await lives(session)


# --- streamable HTTP ---


@contextmanager
def running(mode: str, at: str) -> Generator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-S", str(KIT / "torture_http.py"), "--mode", mode, "--at", at]
    process = subprocess.Popen([*command, "--mb", "2"], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    try:
        yield json.loads(process.stdout.readline())["url"], process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@asynccontextmanager
async def http(url: str) -> AsyncGenerator[Session]:
    target = HttpTarget(url=url, retry_delays=(0.01, 0.02))
    with anyio.fail_after(20):
        async with open_http_session(target, WHO, http=CLIENTS) as session:
            yield session


STATUSES = ["401", "403", "404", "405", "429", "500", "502", "503", "401-bearer", "lost-session"]
REDIRECTS = {"redirect": 307, "redirect-post": 302}
ENDLESS = ["slow-headers", "slow-body", "sse-mute"]
CUT = ["close", "reset", "sse-reset", "truncated"]
NO_MCP = ["html", "no-type", "bad-json", "sse-cut"]


def check_refusal(mode: str, failed: CoreError) -> None:
    assert isinstance(failed, HttpFailed)
    status = {"lost-session": 404, **REDIRECTS}.get(mode) or int(mode[:3])
    assert failed.reason.http_status == status
    assert failed.reason.host.startswith("127.0.0.1:")
    assert failed.reason.challenge == (
        ('Bearer error="invalid_token"',) if mode == "401-bearer" else ()
    )
    assert failed.reason.retry_after == (5 if mode in ("429", "503") else None)
    if mode in REDIRECTS:
        assert "http://localhost:1" in failed.reason.text


@pytest.mark.parametrize("mode", ["ok", "sse", "huge", "sse-huge", "no-get", "sse-cut-id"])
async def test_http_server_that_can_be_used_is_used(mode: str) -> None:
    with running(mode, "call") as (url, _):
        async with http(url) as session:
            await session.open(deadline=5)
            said = await outcome(session, 5)
            big = "x" * (2 << 20)
            expected = {"huge": big, "sse-huge": big, "sse-cut-id": "resumed"}.get(mode, "ok")
            assert said == expected
            assert await lives(session)


@pytest.mark.parametrize("mode", [*STATUSES, *REDIRECTS])
async def test_http_refusal_in_a_call(mode: str) -> None:
    with running(mode, "call") as (url, _):
        async with http(url) as session:
            await session.open(deadline=5)
            check_refusal(mode, await outcome(session, 5))
            assert await lives(session)
            assert await session.request("ping", deadline=2) == {}


@pytest.mark.parametrize("mode", [*STATUSES, *REDIRECTS])
async def test_http_refusal_at_the_connect(mode: str) -> None:
    with running(mode, "initialize") as (url, _):
        async with http(url) as session:
            with pytest.raises(HttpFailed) as caught:
                await session.open(deadline=5)
            check_refusal(mode, caught.value)
            assert await session.closed() is caught.value.reason


@pytest.mark.parametrize("mode", [*CUT, *NO_MCP])
async def test_http_breakage_in_a_call(mode: str) -> None:
    with running(mode, "call") as (url, _):
        async with http(url) as session:
            await session.open(deadline=5)
            failed = await outcome(session, 5)
            assert isinstance(failed, HttpFailed)
            assert failed.reason.errno == (104 if mode in CUT else None)
            assert bool(failed.reason.broken) == (mode in NO_MCP)
            assert await session.request("ping", deadline=2) == {}


@pytest.mark.parametrize("mode", [*CUT, *NO_MCP])
async def test_http_breakage_at_the_connect(mode: str) -> None:
    with running(mode, "initialize") as (url, _):
        async with http(url) as session:
            with pytest.raises((SessionClosed, HttpFailed)) as caught:
                await session.open(deadline=5)
            reason = await session.closed()
            assert caught.value.reason is reason
            assert reason.errno == (104 if mode in CUT else None)
            assert bool(reason.broken) == (mode in NO_MCP)


@pytest.mark.parametrize("mode", [*ENDLESS, "accepted"])
async def test_http_call_without_answer(mode: str) -> None:
    with running(mode, "call") as (url, _):
        async with http(url) as session:
            await session.open(deadline=5)
            failed = await outcome(session, 0.3)
            # 202 is a failure at once where the server's own stream is not open yet.
            assert isinstance(failed, DeadlinePassed) or mode == "accepted"
            assert await lives(session)


@pytest.mark.parametrize("mode", ENDLESS)
async def test_http_connect_without_answer(mode: str) -> None:
    with running(mode, "initialize") as (url, _):
        async with http(url) as session:
            with pytest.raises(DeadlinePassed):
                await session.open(deadline=0.3)


async def test_http_server_killed_when_idle_is_seen_within_a_second() -> None:
    with running("ok", "call") as (url, process):
        async with http(url) as session:
            await session.open(deadline=5)
            await session.request("tools/list", {}, deadline=2)
            process.kill()
            with anyio.fail_after(1):
                assert (await session.closed()).errno == 111
