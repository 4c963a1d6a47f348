from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import core.mcp.client.stdio as stdio_module
import core.process as process_module
from core.errors import InternalError, PeerError
from core.mcp.client.eras import Introduction
from core.mcp.client.factory import open_stdio_session
from core.mcp.client.session import CloseReason, DeadlinePassed, Session, SessionClosed
from core.mcp.client.stdio import StdioTarget
from core.pipes import TAIL_LINES
from core.process import Processes
from tests.fakes.mcp_stdio import argv, tool
from tests.fakes.processes import group_lives

pytestmark = pytest.mark.anyio
ENV = {"PATH": os.environ["PATH"]}
WHO = Introduction(name="jackfield", title="Jackfield", version="1.2")


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "TERM_GRACE", 0.2)


@asynccontextmanager
async def session_with(
    *command: str, who: Introduction = WHO, seconds: float = 10, **target: Any
) -> AsyncGenerator[Session]:
    """A session that leaves nothing behind, and a test that does not hang."""
    processes = Processes()
    program, *args = command
    with anyio.fail_after(seconds):
        async with open_stdio_session(
            StdioTarget(command=program, args=args, env=ENV, **target), who, processes=processes
        ) as session:
            yield session
        pid = session.pid
        assert not processes.running
        assert pid is None or not group_lives(pid)


async def call(session: Session, deadline: float = 5) -> dict[str, Any]:
    return await session.request("tools/call", {"name": "go", "arguments": {}}, deadline=deadline)


async def test_session_introduces_us_and_learns_who_the_server_is(tmp_path: Path) -> None:
    log = tmp_path / "log"
    spec = {
        "server_info": {"name": "s", "title": "S"},
        "capabilities": {"tools": {"listChanged": True}},
        "instructions": "be kind",
        "protocol": "2024-11-05",
        "tools": [tool("a"), tool("b"), tool("c")],
        "pages": 2,
    }
    who = Introduction(name="n", title="N", version="3", capabilities={"elicitation": {"form": {}}})
    async with session_with(*argv(spec=spec, log=log), who=who) as session:
        hello = await session.open(deadline=5)
        page = await session.request("tools/list", {}, deadline=5)
        rest = await session.request("tools/list", {"cursor": page["nextCursor"]}, deadline=5)
        assert session.pid
        assert session.heard_at > 0
    assert hello.protocol_version == "2024-11-05"
    assert hello.server_info == {"name": "s", "title": "S"}
    assert hello.capabilities == {"tools": {"listChanged": True}}
    assert hello.instructions == "be kind"
    assert [t["name"] for t in page["tools"] + rest["tools"]] == ["a", "b", "c"]
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    assert sent[:3] == [
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"elicitation": {"form": {}}},
                "clientInfo": {"name": "n", "title": "N", "version": "3"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {"_meta": {"progressToken": 0}},
        },
    ]


@pytest.mark.parametrize("mode", ["banner", "bad-utf8", "mute-discover", "die-discover"])
async def test_server_with_bad_manners_at_the_start_is_usable(mode: str) -> None:
    async with session_with(*argv(mode)) as session:
        await session.open(deadline=5)
        assert (await call(session))["content"]
        noise = {
            "banner": ("Welcome to my server v1.0", "42"),
            "bad-utf8": ("\ufffd\ufffd garbage",),
        }
        assert session.tail == noise.get(mode, ())


async def test_program_that_cannot_be_started_gives_errno_and_subject() -> None:
    async with session_with("no-such-program") as session:
        with pytest.raises(SessionClosed) as caught:
            await session.open(deadline=5)
        assert await session.closed() is caught.value.reason
        assert session.pid is None
    assert caught.value.reason.errno == 2
    assert caught.value.reason.text == "No such file or directory: no-such-program"


async def test_process_that_ends_at_once_gives_its_code_and_last_words() -> None:
    async with session_with(*argv("exit")) as session:
        with pytest.raises(SessionClosed) as caught:
            await session.open(deadline=5)
    assert caught.value.reason.exit_code == 3
    assert caught.value.reason.tail == ("error: no API key configured",)


async def test_mute_server_is_given_up_at_the_deadline_and_ended() -> None:
    async with session_with(*argv("mute")) as session:
        with pytest.raises(DeadlinePassed, match="timed out awaiting initialize after 0.3s"):
            await session.open(deadline=0.3)
        with pytest.raises(SessionClosed):
            await session.request("ping", deadline=1)


async def test_error_answer_to_initialize_is_passed_on() -> None:
    error = {"code": -32603, "message": "init failed"}
    async with session_with(*argv(spec={"errors": {"initialize": error}})) as session:
        with pytest.raises(PeerError, match="init failed") as caught:
            await session.open(deadline=5)
        assert (await session.closed()).text == "init failed"
    assert caught.value.code == -32603


async def test_answer_to_initialize_without_version_breaks_the_protocol() -> None:
    async with session_with(*argv(spec={"results": {"initialize": {"x": 1}}})) as session:
        with pytest.raises(SessionClosed, match="without a protocol version") as caught:
            await session.open(deadline=5)
    assert caught.value.reason.broken


ENDINGS: dict[str, CloseReason] = {
    "kill": CloseReason(exit_code=-9, text="The server process was ended by SIGKILL"),
    "exit-call": CloseReason(
        exit_code=4, text="The server process ended with exit code 4", tail=("fatal: giving up",)
    ),
    "half": CloseReason(
        exit_code=0,
        text="The server process ended with exit code 0",
        tail=('{"jsonrpc":"2.0","id":',),
    ),
    "close-stdout": CloseReason(
        broken="The server closed its standard output", text="The server closed its standard output"
    ),
}


@pytest.mark.parametrize("mode", ENDINGS)
async def test_server_that_goes_in_a_call_ends_the_session_with_the_reason(mode: str) -> None:
    async with session_with(*argv(mode)) as session:
        await session.open(deadline=5)
        with anyio.fail_after(1), pytest.raises(SessionClosed) as caught:
            await call(session, deadline=30)
        assert await session.closed() == ENDINGS[mode] == caught.value.reason
        with pytest.raises(SessionClosed):
            await call(session)


@pytest.mark.parametrize(("mode", "code"), [("idle-exit", 6), ("idle-close", None)])
async def test_end_of_an_idle_server_is_seen_within_a_second(mode: str, code: int | None) -> None:
    async with session_with(*argv(mode, seconds=0.05)) as session:
        await session.open(deadline=5)
        with anyio.fail_after(1):
            reason = await session.closed()
        assert reason.exit_code == code
        assert (reason.broken is None) == (code is not None)


async def test_killed_idle_server_is_seen_within_a_second() -> None:
    async with session_with(*argv()) as session:
        await session.open(deadline=5)
        assert session.pid
        os.kill(session.pid, signal.SIGKILL)
        with anyio.fail_after(1):
            assert (await session.closed()).exit_code == -9


async def test_answer_of_a_server_that_ends_right_after_it_is_not_lost() -> None:
    async with session_with(*argv("answer-exit")) as session:
        await session.open(deadline=5)
        assert (await call(session))["content"]
        assert (await session.closed()).exit_code == 0


@pytest.mark.parametrize("mode", ["never", "wrong-id", "stop"])
async def test_call_without_answer_ends_at_its_deadline(mode: str) -> None:
    async with session_with(*argv(mode)) as session:
        await session.open(deadline=5)
        with pytest.raises(DeadlinePassed, match="timed out awaiting tools/call after 0.2s"):
            await call(session, deadline=0.2)
        with anyio.move_on_after(0.05):
            await session.closed()
            raise AssertionError("the session is still good")
        if mode != "stop":
            assert await session.request("ping", deadline=2) == {}


@pytest.mark.parametrize("mode", ["garbage", "twice", "crlf", "batch", "slow", "deep"])
async def test_bad_manners_in_a_call_do_not_harm(mode: str) -> None:
    spec = {"calls": {"go": {"content": [{"type": "text", "text": "grüße, 漢字"}]}}}
    async with session_with(*argv(mode, spec=spec, seconds=0.1)) as session:
        await session.open(deadline=5)
        answer = await call(session)
        if mode not in ("twice", "batch"):
            assert answer["content"][0]["text"] == "grüße, 漢字"
        assert await session.request("ping", deadline=2) == {}
        assert any("Traceback" in line for line in session.tail) == (mode == "garbage")


async def test_server_that_closed_its_stdin_is_noticed_at_the_next_request() -> None:
    async with session_with(*argv("close-stdin")) as session:
        await session.open(deadline=5)
        assert (await call(session))["content"]
        with anyio.fail_after(1), pytest.raises(SessionClosed, match="closed its standard input"):
            await session.request("ping", deadline=30)


async def test_large_answer_arrives_whole() -> None:
    async with session_with(*argv("huge", mb=24)) as session:
        await session.open(deadline=5)
        assert len((await call(session))["content"][0]["text"]) == 24 << 20


async def test_message_above_the_limit_ends_the_session_and_names_the_limit() -> None:
    async with session_with(*argv("huge", mb=2), message_limit=1 << 20) as session:
        await session.open(deadline=5)
        with pytest.raises(SessionClosed, match="more than 1048576 bytes") as caught:
            await call(session, deadline=30)
    assert caught.value.reason.broken


async def test_flood_on_stderr_blocks_nobody() -> None:
    async with session_with(*argv("stderr", mb=50), seconds=30) as session:
        await session.open(deadline=5)
        assert (await call(session, deadline=30))["content"]
        assert 0 < len(session.tail) <= TAIL_LINES


async def test_ten_thousand_notifications_before_an_answer_do_not_hold_it_up() -> None:
    source = """
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m: continue
    if m["method"] == "tools/call":
        for n in range(10000):
            print('{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}' % n)
    r = {"protocolVersion": "2025-06-18"} if m["method"] == "initialize" else {"content": []}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""
    async with session_with(sys.executable, "-S", "-c", source) as session:
        await session.open(deadline=5)
        assert await call(session) == {"content": []}


async def test_request_given_up_before_it_was_written_never_reaches_the_server(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    async with session_with(*argv("stop", log=log)) as session:
        await session.open(deadline=5)
        with pytest.raises(DeadlinePassed):
            await call(session, deadline=0.1)
        # The server stands still: half of this stays in the pipe, and what follows in our queue.
        with pytest.raises(DeadlinePassed):
            await session.request("big/one", {"blob": "x" * (1 << 20)}, deadline=0.1)
        with pytest.raises(DeadlinePassed):
            await session.request("late/one", deadline=0.1)
        assert session.pid
        os.kill(session.pid, signal.SIGCONT)
        assert await session.request("ping", deadline=5) == {}
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    assert [message["method"] for message in sent[2:]] == [
        "tools/call",
        "notifications/cancelled",
        "big/one",
        "notifications/cancelled",
        "ping",
    ]


async def test_more_than_a_server_reads_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_module, "_QUEUED_LIMIT", 1000)
    async with session_with(*argv()) as session:
        await session.open(deadline=5)
        with pytest.raises(InternalError, match="does not read"):
            await session.request("big/one", {"blob": "x" * 1000}, deadline=1)
        assert await session.request("ping", deadline=1) == {}


async def test_passed_deadline_tells_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with session_with(*argv("never", log=log)) as session:
        await session.open(deadline=5)
        with pytest.raises(DeadlinePassed):
            await call(session, deadline=0.1)
        await session.request("ping", deadline=2)
    sent = [json.loads(line) for line in log.read_text().splitlines()]
    assert sent[3] == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1, "reason": "MCP request cancelled by caller"},
    }


async def test_server_that_asks_in_a_call_gets_its_answer() -> None:
    ask = {"id": "srv-1", "method": "elicitation/create", "params": {"message": "?"}}
    spec = {"first": {"tools/call": [ask]}}
    async with session_with(*argv(spec=spec)) as session:
        await session.open(deadline=5)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call, session)
            asked = await anext(aiter(session.incoming))
            assert (asked.id, asked.params) == ("srv-1", {"message": "?"})
            session.pause_deadlines()
            await session.respond("srv-1", result={"action": "accept", "content": {}})
            session.resume_deadlines()


async def test_list_changes_right_after_the_start_are_kept_as_one() -> None:
    change = {"method": "notifications/tools/list_changed"}
    async with session_with(*argv(spec={"after_init": [change, change, change]})) as session:
        await session.open(deadline=5)
        await session.request("tools/list", {}, deadline=5)
        await session.aclose()
        methods = [message.method async for message in session.incoming]
        assert methods == ["notifications/tools/list_changed"]


@pytest.mark.parametrize("mode", ["stubborn", "orphan", "ok"])
async def test_quit_leaves_nothing(mode: str) -> None:
    async with session_with(*argv(mode)) as session:
        await session.open(deadline=5)
        await session.aclose(grace=0.1)
        assert session.pid
        assert not group_lives(session.pid)
        assert (await session.closed()).text == "The session was closed"


async def test_cancelled_owner_leaves_nothing() -> None:
    processes, pids = Processes(), list[int]()
    with anyio.fail_after(5), anyio.CancelScope() as scope:
        async with open_stdio_session(
            StdioTarget(command=sys.executable, args=argv("stubborn")[1:], env=ENV),
            WHO,
            processes=processes,
        ) as session:
            await session.open(deadline=5)
            assert session.pid
            pids.append(session.pid)
            scope.cancel()
            await anyio.sleep_forever()
    assert not group_lives(pids[0])


async def test_error_of_the_block_comes_out_as_it_is() -> None:
    with pytest.raises(LookupError, match="mine"):
        async with session_with(*argv()) as session:
            await session.open(deadline=5)
            raise LookupError("mine")
