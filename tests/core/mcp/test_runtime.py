from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from core.errors import CoreError, PeerError
from core.mcp.client.session import CloseReason, HttpFailed, SessionClosed
from core.mcp.connection import Connection
from core.mcp.faults import StartFailed
from core.mcp.opening import Opening
from core.mcp.runtime import McpRuntime
from core.mcp.slots import HandshakeSlots
from core.mcp.spec import ServerSpec
from core.mcp.surroundings import Surroundings, Told
from core.protocol.events import Event, ServerHappened
from core.threads.policy import CODEX, PANEL, ThreadPolicy
from tests.core.mcp.fakes import FakeMaker, Script, endpoint, program, tool
from tests.fakes.ports import FakeClock

pytestmark = pytest.mark.anyio


@dataclass
class World:
    runtime: McpRuntime
    maker: FakeMaker
    clock: FakeClock
    told: list[Told] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    moved: anyio.Event = field(default_factory=anyio.Event)

    def said(self, name: str) -> list[str]:
        return [told.status for told in self.told if told.spec.name == name]

    def __getitem__(self, name: str) -> Connection:
        return self.runtime.connections[name]

    async def until(self, met: Callable[[], Any]) -> None:
        with anyio.fail_after(5):
            while not met():
                with anyio.move_on_after(0.01):
                    await self.moved.wait()

    async def until_status(self, name: str, status: str) -> None:
        await self.until(lambda: self.runtime.connections[name].status == status)


@asynccontextmanager
async def world(
    policy: ThreadPolicy,
    *specs: ServerSpec,
    maker: FakeMaker | None = None,
    held: Callable[[ServerSpec], bool] = lambda spec: False,
    auto: bool = False,
    ping_every: float = 0,
) -> AsyncGenerator[World]:
    maker = maker or FakeMaker()
    clock = FakeClock(auto=auto)
    async with anyio.create_task_group() as tasks:

        def changed(connection: Connection) -> None:
            here.moved.set()
            here.moved = anyio.Event()

        opening = Opening(maker=maker, policy=policy, slots=HandshakeSlots(), threaded=True)
        around = Surroundings(
            thread_id="T",
            opening=opening,
            clock=clock,
            changed=changed,
            told=lambda told: here.told.append(told),
            emit=lambda event: here.events.append(event),
            ping_every=ping_every,
        )
        here = World(McpRuntime(around, tasks, held=held), maker, clock)
        here.runtime.start(specs)
        try:
            yield here
        finally:
            with anyio.fail_after(5):
                await here.runtime.aclose()
                tasks.cancel_scope.cancel()


def died(code: int, *tail: str) -> SessionClosed:
    return SessionClosed(CloseReason(exit_code=code, tail=tail))


def http(status: int, **more: Any) -> HttpFailed:
    return HttpFailed(CloseReason(http_status=status, host="h.example", **more))


# --- starting


async def test_each_server_is_told_as_starting_before_any_is_told_as_ready() -> None:
    async with world(CODEX, program("a"), program("b")) as here:
        assert [(t.spec.name, t.status) for t in here.told] == [
            ("a", "starting"),
            ("b", "starting"),
        ]
        await here.until_status("a", "connected")
        await here.until_status("b", "connected")
        assert here.said("a") == here.said("b") == ["starting", "ready"]


async def test_a_server_that_hangs_delays_no_other() -> None:
    maker = FakeMaker(hangs=Script())
    maker.scripts["hangs"].gate("initialize")
    good = [program(f"good{i}") for i in range(5)]
    async with world(PANEL, program("hangs"), *good, maker=maker) as here:
        for spec in good:
            await here.until_status(spec.name, "connected")
        assert here["hangs"].status == "starting"


async def test_codex_lists_tools_whatever_the_server_can() -> None:
    maker = FakeMaker(a=Script(capabilities={"resources": {}}))
    async with world(CODEX, program("a"), maker=maker) as here:
        await here.until_status("a", "connected")
        assert maker.latest("a").methods == ["initialize", "tools/list"]


async def test_codex_fails_a_server_that_refuses_tools_list() -> None:
    refused = PeerError(-32601, "Method not found")
    maker = FakeMaker(a=Script(capabilities={"resources": {}}, replies={"tools/list": [refused]}))
    async with world(CODEX, program("a"), maker=maker) as here:
        await here.until_status("a", "failed")
        assert here.told[-1].error == (
            "MCP client for `a` failed to start: MCP startup failed: "
            "Mcp error: -32601: Method not found"
        )
        assert maker.latest("a").closed_by_us


async def test_the_panel_takes_a_server_that_has_resources_only() -> None:
    maker = FakeMaker(
        a=Script(
            capabilities={"resources": {}},
            replies={
                "resources/list": [{"resources": [{"uri": "r://1", "name": "one"}]}],
                "resources/templates/list": [{"resourceTemplates": []}],
            },
        )
    )
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until(lambda: here["a"].listing("templates") is not None)
        assert here["a"].status == "connected"
        resources = here["a"].listing("resources")
        assert resources is not None and list(resources.items) == ["r://1"]
        assert "tools/list" not in maker.latest("a").methods


async def test_the_panel_asks_a_server_for_tools_that_promises_nothing() -> None:
    refused = PeerError(-32601, "Method not found")
    maker = FakeMaker(
        silent=Script(capabilities={}),
        strict=Script(capabilities={}, replies={"tools/list": [refused]}),
    )
    async with world(PANEL, program("silent"), program("strict"), maker=maker) as here:
        for name, count in (("silent", 1), ("strict", 0)):
            await here.until_status(name, "connected")
            tools = here[name].listing("tools")
            assert tools is not None and len(tools.items) == count


async def test_one_malformed_tool_fails_the_server_for_codex_only() -> None:
    bad = Script(tools=[tool("good"), {"name": "bad"}])
    async with world(CODEX, program("a"), maker=FakeMaker(a=bad)) as here:
        await here.until_status("a", "failed")
        assert here["a"].failure is not None
        assert here["a"].failure.wire == "Unexpected response type"
    async with world(PANEL, program("a"), maker=FakeMaker(a=bad)) as here:
        await here.until_status("a", "connected")
        tools = here["a"].listing("tools")
        assert tools is not None and list(tools.items) == ["good"]
        assert [(f.name, f.message) for f in tools.faults] == [("bad", "inputSchema is missing")]


async def test_pages_are_read_to_the_end_and_loops_are_left() -> None:
    def pages(params: dict[str, Any]) -> dict[str, Any]:
        if "cursor" not in params:
            return {"tools": [tool("a"), tool("b")], "nextCursor": "2", "_meta": {"first": 1}}
        return {"tools": [tool("b"), tool("c")], "nextCursor": "2"}

    maker = FakeMaker(a=Script(replies={"tools/list": [pages]}))
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until_status("a", "connected")
        tools = here["a"].listing("tools")
        assert tools is not None and list(tools.items) == ["a", "b", "c"]
        assert tools.meta == {"first": 1}
        assert [fault.rule for fault in tools.faults] == ["loop"]
        assert maker.latest("a").methods.count("tools/list") == 2


async def test_the_first_of_two_tools_of_one_name_counts() -> None:
    twice = Script(tools=[tool("t", title="first"), tool("t", title="second")])
    async with world(CODEX, program("a"), maker=FakeMaker(a=twice)) as here:
        await here.until_status("a", "connected")
        tools = here["a"].listing("tools")
        assert tools is not None and tools.items["t"]["title"] == "first"


async def test_a_start_that_takes_too_long_names_the_setting() -> None:
    maker = FakeMaker(a=Script())
    maker.scripts["a"].gate("initialize")
    async with world(CODEX, program("a", start_timeout=0.01), maker=maker) as here:
        await here.until_status("a", "failed")
        assert here.told[-1].error == (
            "MCP client for `a` timed out after 0 seconds. Add or adjust `startup_timeout_sec` "
            "in your config.toml:\n[mcp_servers.a]\nstartup_timeout_sec = XX"
        )
        assert here["a"].reason == "no answer to initialize in 0.01 s"


async def test_a_list_that_takes_too_long_is_told_with_its_own_words() -> None:
    maker = FakeMaker(a=Script())
    maker.scripts["a"].gate("tools/list")
    async with world(CODEX, program("a", start_timeout=0.01), maker=maker) as here:
        await here.until_status("a", "failed")
        failure = here["a"].failure
        assert failure is not None and failure.hello is not None
        assert failure.wire == "timed out awaiting tools/list after 10ms"


async def test_a_program_that_ends_at_once_is_told_with_its_last_words() -> None:
    maker = FakeMaker(a=Script(refuse=[died(3, "boom: missing API key", "")]))
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until_status("a", "failed")
        assert here["a"].reason == "exited 3 — boom: missing API key"
        await anyio.wait_all_tasks_blocked()
        assert here["a"].status == "failed", "nobody but the person can mend this"


async def test_an_unknown_program_is_told_by_name_and_not_tried_again() -> None:
    missing = SessionClosed(CloseReason(errno=2, text="No such file or directory: nope"))
    maker = FakeMaker(a=Script(refuse=[missing]))
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until_status("a", "failed")
        assert here["a"].reason == "No such file or directory: nope"
        assert here.told[-1].failed is not None
        assert here.told[-1].failed.wire == "No such file or directory (os error 2)"
        await anyio.wait_all_tasks_blocked()
        assert len(maker.sessions["a"]) == 1


async def test_an_illegal_name_fails_without_a_session() -> None:
    spec = program("a b", start_fault="Invalid MCP server name 'a b': must match pattern ^x$")
    async with world(CODEX, spec) as here:
        await here.until_status("a b", "failed")
        assert here.maker.sessions == {}


async def test_a_challenge_means_sign_in_and_is_not_tried_again() -> None:
    maker = FakeMaker(a=Script(refuse=[http(401, challenge=("Bearer",))]))
    async with world(PANEL, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "authenticationRequired")
        assert here.told[-1].error == (
            "The a MCP server is not logged in. Run `codex mcp login a`."
        )
        assert here.told[-1].failure_reason is None
        await anyio.wait_all_tasks_blocked()
        assert here["a"].status == "authenticationRequired"


async def test_a_challenge_in_spite_of_stored_credentials_means_sign_in_again() -> None:
    maker = FakeMaker(a=Script(refuse=[http(401, challenge=("Bearer",))]))
    maker.stored = "oAuth"
    async with world(CODEX, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "authenticationRequired")
        assert here.told[-1].failure_reason == "reauthenticationRequired"
        assert here.told[-1].error == (
            "The a MCP server requires OAuth reauthentication. Run `codex mcp login a`."
        )


async def test_a_token_that_cannot_be_renewed_is_told_in_its_own_words() -> None:
    maker = FakeMaker(a=Script(refuse=[CoreError("Token expired")]))
    maker.stored = "notLoggedIn"
    async with world(CODEX, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "authenticationRequired")
        assert here["a"].failure is not None
        assert here["a"].failure.message == "MCP startup failed: Token expired"
        assert here.told[-1].failure_reason == "reauthenticationRequired"


async def test_a_refusal_without_challenge_is_an_ordinary_failure() -> None:
    maker = FakeMaker(a=Script(refuse=[http(401, body="unauthorized")]))
    async with world(CODEX, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "failed")
        assert here["a"].reason == "HTTP 401 from h.example"
        assert here["a"].failure is not None
        assert "unexpected server response: HTTP 401: unauthorized" in here["a"].failure.wire


# --- the end of a connection


async def test_codex_never_tries_again_by_itself() -> None:
    async with world(CODEX, program("a"), auto=True) as here:
        await here.until_status("a", "connected")
        here.maker.latest("a").die(CloseReason(exit_code=9))
        await here.until_status("a", "failed")
        await anyio.wait_all_tasks_blocked()
        assert len(here.maker.sessions["a"]) == 1
        assert here.said("a") == ["starting", "ready"], "a crash tells clients nothing"
        with pytest.raises(SessionClosed):
            await here["a"].usable()


async def test_the_panel_says_how_a_server_died_and_when_it_tries_again() -> None:
    async with world(PANEL, program("a")) as here:
        await here.until_status("a", "connected")
        here.maker.latest("a").die(CloseReason(exit_code=-9, tail=("out of memory",)))
        await here.until_status("a", "waiting")
        assert here["a"].reason == "killed by SIGKILL — out of memory; try 2 in 1 s"
        assert here["a"].limit == 1.0
        await here.clock.advance(1)
        await here.until_status("a", "connected")
        assert len(here.maker.sessions["a"]) == 2
        assert here.said("a") == ["starting", "ready", "starting", "ready"]


async def test_pauses_between_tries_double_up_to_a_minute() -> None:
    maker = FakeMaker(a=Script(refuse=[http(503)]))
    pauses: list[float] = []
    async with world(PANEL, endpoint("a"), maker=maker) as here:
        for _ in range(8):
            await here.until_status("a", "waiting")
            pauses.append(here["a"].limit or 0)
            before = len(maker.sessions["a"])
            await here.clock.advance((here["a"].limit or 0) * 1.2)
            await here.until(lambda before=before: len(maker.sessions["a"]) > before)
        assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
        await here.until_status("a", "waiting")
        assert here["a"].reason == "HTTP 503 from h.example; try 10 in 60 s"


async def test_a_server_that_names_a_pause_is_given_it() -> None:
    maker = FakeMaker(a=Script(refuse=[http(503, retry_after=17.0)]))
    async with world(PANEL, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "waiting")
        assert here["a"].limit == 17.0


async def test_a_program_that_keeps_dying_in_its_handshake_is_left_alone() -> None:
    async with world(PANEL, program("a"), auto=True) as here:
        await here.until_status("a", "connected")
        here.maker.scripts["a"].refuse.append(died(1))
        here.maker.latest("a").die(CloseReason(exit_code=1))
        with anyio.fail_after(5):
            while len(here.maker.sessions["a"]) < 5 or here["a"].status != "failed":
                await here.moved.wait()
        await anyio.wait_all_tasks_blocked()
        assert here["a"].status == "failed"
        assert len(here.maker.sessions["a"]) == 5


async def test_after_a_steady_connection_tries_count_from_one() -> None:
    maker = FakeMaker(a=Script())
    async with world(PANEL, program("a"), maker=maker) as here:
        for expected in (1.0, 2.0):
            await here.until_status("a", "connected")
            maker.latest("a").die(CloseReason(exit_code=1))
            await here.until_status("a", "waiting")
            assert here["a"].limit == expected
            await here.clock.advance(expected)


async def test_two_pings_without_answer_end_a_silent_http_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.mcp.connection.PING_DEADLINE", 0.01)
    maker = FakeMaker(a=Script())
    maker.scripts["a"].gate("ping")
    async with world(PANEL, endpoint("a"), maker=maker, ping_every=30) as here:
        await here.until_status("a", "connected")
        await here.clock.advance(30)
        await here.until(lambda: maker.latest("a").methods.count("ping") == 1)
        assert here["a"].status == "connected"
        while maker.latest("a").methods.count("ping") < 2:
            await here.clock.advance(30)
            await anyio.wait_all_tasks_blocked()
        await here.until_status("a", "waiting")
        assert here["a"].reason.startswith("no answer to ping in 0.01 s")


@pytest.mark.parametrize(
    ("refused", "status"),
    [(http(400), "connected"), (http(405), "connected"), (http(503), "waiting")],
)
async def test_a_server_that_does_not_know_pings_is_there_all_the_same(
    refused: HttpFailed, status: str
) -> None:
    maker = FakeMaker(a=Script(replies={"ping": [refused]}))
    async with world(PANEL, endpoint("a"), maker=maker, ping_every=30) as here:
        await here.until_status("a", "connected")
        await here.clock.advance(30)
        await here.until(lambda: "ping" in maker.latest("a").methods)
        await here.until_status("a", status)


async def test_programs_are_not_pinged() -> None:
    async with world(PANEL, program("a"), ping_every=30) as here:
        await here.until_status("a", "connected")
        await here.clock.advance(100)
        assert "ping" not in here.maker.latest("a").methods


# --- what servers say


async def test_changed_tools_are_listed_again_for_the_panel_only() -> None:
    for policy, count in ((PANEL, 2), (CODEX, 1)):
        async with world(policy, program("a")) as here:
            await here.until_status("a", "connected")
            here.maker.scripts["a"].tools.append(tool("new"))
            await here.maker.latest("a").say("notifications/tools/list_changed")
            await anyio.wait_all_tasks_blocked()
            tools = here["a"].listing("tools")
            assert tools is not None and len(tools.items) == count


async def test_a_list_that_cannot_be_read_again_keeps_what_was_known() -> None:
    async with world(PANEL, program("a")) as here:
        await here.until_status("a", "connected")
        here.maker.scripts["a"].replies["tools/list"] = [PeerError(-32603, "busy")]
        here["a"].relist("tools")
        await here.until(lambda: (here["a"].listing("tools") or pytest.fail()).faults)
        tools = here["a"].listing("tools")
        assert tools is not None and list(tools.items) == ["t"]
        assert [f.message for f in tools.faults] == ["busy (error -32603 to tools/list)"]


async def test_requests_that_nobody_knows_are_refused() -> None:
    async with world(CODEX, program("a")) as here:
        await here.until_status("a", "connected")
        with anyio.fail_after(5):
            answer = await here.maker.latest("a").ask(7, "sampling/createMessage", {})
            assert answer == {"error": {"code": -32601, "message": "sampling/createMessage"}}
            assert await here.maker.latest("a").ask(8, "ping", {}) == {}


async def test_a_question_without_anybody_to_ask_is_declined_with_the_clock_stopped() -> None:
    question = {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    async with world(CODEX, program("a")) as here:
        await here.until_status("a", "connected")
        session = here.maker.latest("a")
        with anyio.fail_after(5):
            assert await session.ask(1, "elicitation/create", question) == {"action": "decline"}
            refused = await session.ask(2, "elicitation/create", {"message": "m"})
        assert refused["error"]["code"] == -32602
        assert session.pauses == 0


# --- commands


async def test_reconnecting_tells_starting_at_once_and_ends_the_old_session() -> None:
    async with world(PANEL, program("a")) as here:
        await here.until_status("a", "connected")
        first = here.maker.latest("a")
        assert here.runtime.reconnect("a")
        assert here["a"].status == "starting"
        await here.until_status("a", "connected")
        assert first.closed_by_us
        assert here.maker.latest("a") is not first
        assert here.maker.most_open == 1, "the old one ends before the new one begins"


async def test_a_waiting_server_can_be_tried_at_once() -> None:
    maker = FakeMaker(a=Script(refuse=[http(503)]))
    async with world(PANEL, endpoint("a"), maker=maker) as here:
        await here.until_status("a", "waiting")
        maker.scripts["a"].refuse.clear()
        here.runtime.reconnect("a")
        await here.until_status("a", "connected")


async def test_a_cancelled_start_stays_cancelled_until_it_is_asked_for() -> None:
    maker = FakeMaker(a=Script())
    gate = maker.scripts["a"].gate("initialize")
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until(lambda: maker.sessions.get("a"))
        here.runtime.cancel("a")
        await here.until_status("a", "cancelled")
        assert maker.latest("a").closed_by_us
        gate.set()
        here.runtime.reconnect("a")
        await here.until_status("a", "connected")


async def test_a_command_before_the_first_turn_of_the_task_is_obeyed() -> None:
    async with world(PANEL, program("a"), program("b")) as here:
        here.runtime.cancel("a")
        here.runtime.reconnect("b")
        await here.until_status("b", "connected")
        await here.until_status("a", "cancelled")
        assert len(here.maker.sessions["b"]) == 1


async def test_history_keeps_each_state_with_its_reason() -> None:
    maker = FakeMaker(a=Script(refuse=[died(3, "boom")]))
    async with world(PANEL, program("a"), maker=maker) as here:
        await here.until_status("a", "failed")
        maker.scripts["a"].refuse.clear()
        here.runtime.reconnect("a")
        await here.until_status("a", "connected")
        states = [(past.status, past.reason) for past in here["a"].history]
        assert states == [
            ("starting", ""),
            ("failed", "exited 3 — boom"),
            ("starting", ""),
            ("connected", ""),
        ]
        for _ in range(60):
            here.runtime.reconnect("a")
        assert len(here["a"].history) == 50


# --- reload


async def test_reload_keeps_the_unchanged_and_tells_ready_again() -> None:
    async with world(CODEX, program("a")) as here:
        await here.until_status("a", "connected")
        here.runtime.reload([program("a")])
        assert here.said("a") == ["starting", "ready", "ready"]
        assert len(here.maker.sessions["a"]) == 1


async def test_reload_starts_the_new_and_the_changed_and_drops_the_removed() -> None:
    async with world(CODEX, program("a"), program("gone"), program("off")) as here:
        for name in ("a", "gone", "off"):
            await here.until_status(name, "connected")
        off = program("off", standing="disabled")
        here.runtime.reload([program("a", "a", "--changed"), program("new"), off])
        for name in ("a", "new"):
            await here.until_status(name, "connected")
        assert here.said("a") == ["starting", "ready", "starting", "ready"]
        assert here.said("new") == ["starting", "ready"]
        assert here.said("gone") == here.said("off") == ["starting", "ready"]
        assert set(here.runtime.connections) == {"a", "new"}
        assert here.runtime.runtime_status("off") == "disabled"
        assert here.runtime.runtime_status("gone") is None
        await here.until(lambda: here.maker.latest("gone").closed_by_us)


async def test_codex_restarts_for_any_part_of_the_entry_the_panel_only_for_the_connection() -> None:
    for policy, sessions in ((CODEX, 2), (PANEL, 1)):
        async with world(policy, program("a")) as here:
            await here.until_status("a", "connected")
            here.runtime.reload([program("a", disabled_tools=frozenset({"t"}))])
            await here.until_status("a", "connected")
            await anyio.wait_all_tasks_blocked()
            assert len(here.maker.sessions["a"]) == sessions
            assert not here["a"].spec.allows("t")


async def test_reload_starts_failed_and_dead_servers_again() -> None:
    maker = FakeMaker(bad=Script(refuse=[died(3)]))
    async with world(CODEX, program("bad"), program("dead"), maker=maker) as here:
        await here.until_status("bad", "failed")
        await here.until_status("dead", "connected")
        maker.latest("dead").die(CloseReason(exit_code=1))
        await here.until_status("dead", "failed")
        here.runtime.reload([program("bad"), program("dead")])
        await here.until_status("dead", "connected")
        await here.until(lambda: len(here.said("bad")) == 4)
        assert here.said("bad") == ["starting", "failed"] * 2


async def test_a_start_that_is_dropped_is_told_as_cancelled() -> None:
    maker = FakeMaker(slow=Script(), changed=Script())
    for script in maker.scripts.values():
        script.gate("initialize")
    async with world(CODEX, program("slow"), program("changed"), maker=maker) as here:
        here.runtime.reload([program("changed", "x")])
        assert here.said("slow") == ["starting", "cancelled"]
        assert here.said("changed") == ["starting", "cancelled", "starting"]
        assert here.told[2].error is None


async def test_a_start_under_way_survives_a_reload_that_changes_nothing() -> None:
    maker = FakeMaker(slow=Script())
    gate = maker.scripts["slow"].gate("initialize")
    async with world(CODEX, program("slow"), maker=maker) as here:
        await here.until(lambda: maker.sessions.get("slow"))
        here.runtime.reload([program("slow")])
        gate.set()
        await here.until_status("slow", "connected")
        assert here.said("slow") == ["starting", "ready"]


# --- following the files


async def test_a_removed_server_runs_on_until_it_is_ended() -> None:
    async with world(PANEL, program("a"), program("b")) as here:
        await here.until_status("a", "connected")
        await here.until_status("b", "connected")
        here.runtime.follow([])
        assert here["a"].live and not here["a"].configured
        here.runtime.reconnect("a")
        here.runtime.cancel("b")
        assert here.runtime.connections == {}
        await here.until(lambda: here.maker.latest("a").closed_by_us)


async def test_a_changed_server_runs_on_until_the_change_is_agreed_to() -> None:
    waiting = {"a"}
    async with world(PANEL, program("a"), held=lambda spec: spec.name in waiting) as here:
        assert here.runtime.connections == {}, "nothing starts before the yes"
        waiting.clear()
        here.runtime.follow([program("a")])
        await here.until_status("a", "connected")
        waiting.add("a")
        here.runtime.follow([program("a", "other")])
        assert here["a"].live
        assert here["a"].spec.target == program("a").target
        waiting.clear()
        here.runtime.reload([program("a", "other")])
        assert here["a"].status == "starting"
        await here.until_status("a", "connected")
        assert here["a"].spec.target == program("a", "other").target


async def test_a_switched_off_server_ends_at_once_and_a_broken_entry_changes_nothing() -> None:
    async with world(PANEL, program("off"), program("broken")) as here:
        await here.until_status("off", "connected")
        await here.until_status("broken", "connected")
        broken = ServerSpec(name="broken", target=None, standing="invalid")
        here.runtime.follow([program("off", standing="disabled"), broken])
        assert set(here.runtime.connections) == {"broken"}
        assert here["broken"].live


async def test_untrusted_servers_are_never_started() -> None:
    async with world(PANEL, program("a", standing="untrusted")) as here:
        here.runtime.follow([program("a", standing="untrusted")])
        here.runtime.reload([program("a", standing="untrusted")])
        assert not here.runtime.reconnect("a")
        assert here.maker.sessions == {}


# --- closing


async def test_closing_waits_for_all_at_once_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.mcp.runtime.CLOSING", 0.05)
    maker = FakeMaker(slow=Script(takes=0.3), quick=Script())
    async with world(CODEX, program("slow"), program("quick"), maker=maker) as here:
        await here.until_status("slow", "connected")
        await here.until_status("quick", "connected")
        with anyio.fail_after(0.25):
            await here.runtime.aclose()
        assert maker.latest("quick").closed_by_us and maker.latest("slow").closed_by_us


async def test_occurrences_tell_each_step_with_its_duration() -> None:
    async with world(PANEL, program("a")) as here:
        await here.until_status("a", "connected")
        steps = [e for e in here.events if isinstance(e, ServerHappened)]
        assert [step.what for step in steps] == ["starting", "ready"]
        assert steps[1].ms is not None and steps[1].thread_id == "T"


async def test_waiting_for_a_start_gives_the_session_or_the_reason() -> None:
    maker = FakeMaker(good=Script(), bad=Script(refuse=[died(1)]))
    gates = [maker.scripts[name].gate("initialize") for name in ("good", "bad")]
    results: dict[str, Any] = {}
    async with world(CODEX, program("good"), program("bad"), maker=maker) as here:

        async def wait(name: str) -> None:
            try:
                results[name] = await here[name].usable()
            except StartFailed as failed:
                results[name] = failed.message

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                for name in ("good", "bad"):
                    tasks.start_soon(wait, name)
                await anyio.wait_all_tasks_blocked()
                assert results == {}
                for gate in gates:
                    gate.set()
        assert results["good"] is maker.latest("good")
        assert results["bad"].startswith("MCP startup failed: handshaking with MCP server failed")
