"""Servers that misbehave, side by side with a good one: what each row says, and what is left.

Each test has all servers of one kind in one thread of the panel, so that none of them may hold up
or take down another.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

import core.process as process_module
from core.errors import CoreError, InternalError
from core.mcp.calls import call_tool
from core.net.http import HttpClients
from core.ports import Deps
from core.protocol.mcp import McpServerToolCallParams
from tests.core.threads.world import World, world
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.mcp_stdio import argv
from tests.fakes.ports import FakeClock
from tests.fakes.processes import group_lives

pytestmark = pytest.mark.anyio
GOOD = "good"
PATIENCE = 30.0
"""For a machine that runs other tests; what is waited for takes a second or two."""
Rows = Mapping[str, tuple[str, str]]
"""By mode: the state, and a pattern for the whole reason."""


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_module, "TERM_GRACE", 0.2)


def table(name: str, command: list[str] | None = None, url: str = "", more: str = "") -> str:
    if command is None:
        return f"[mcp_servers.{name}]\nurl = {json.dumps(url)}\n{more}\n"
    program, *args = command
    return (
        f"[mcp_servers.{name}]\ncommand = {json.dumps(program)}\n"
        f"args = {json.dumps(args)}\n{more}\n"
    )


SILENT = frozenset({
    "mute", "never", "wrong-id", "stop", "idle-stop", "sse-mute", "slow-headers", "slow-body", "accepted",
})  # fmt: skip
"""Modes that only a limit ends; the others keep the limits that they have."""


def stdio(*modes: str, more: str = "", **options: Any) -> str:
    tables = [
        table(mode, argv(mode, **options), more=more if mode in SILENT else "") for mode in modes
    ]
    return "".join([table(GOOD, argv()), *tables])


@asynccontextmanager
async def panel(deps: Deps, config: str) -> AsyncGenerator[World]:
    """The panel's thread over real processes and sockets; tries again only when told."""
    deps = replace(deps, clock=FakeClock(auto=False), http=HttpClients({}))
    pids: set[int] = set()
    with anyio.fail_after(2 * PATIENCE):
        async with world(deps, config, real=True, ping_every=0) as here:
            await here.panel.open(consent_all=True)
            await here.until_status(good="connected", seconds=PATIENCE)
            good = here.rows[GOOD].pid
            yield here
            assert (here.rows[GOOD].status, here.rows[GOOD].pid) == ("connected", good)
            pids |= {row.pid for row in here.rows.values() if row.pid}
        assert not here.processes.running
    assert not [pid for pid in pids if group_lives(pid)]


async def expect(here: World, rows: Rows) -> None:
    """Each row comes to its state, with its reason."""

    def off() -> list[str]:
        return [
            f"{name}: {row.status}, {row.reason}"
            for name, (status, reason) in rows.items()
            if (row := here.rows[name]).status != status or not re.fullmatch(reason, row.reason)
        ]

    with contextlib.suppress(TimeoutError):
        await here.until(lambda: not off(), PATIENCE)
    assert not (wrong := off()), "\n".join(wrong)


async def call(here: World, name: str) -> str:
    """How a call of its tool ends, for people; "" when it was answered."""
    thread = here.panel.thread
    assert thread is not None
    params = McpServerToolCallParams(thread_id=thread.id, server=name, tool="go")
    try:
        await call_tool(params, thread.id, thread.runtime)
    except InternalError as error:
        return (error.evidence.wire if error.evidence is not None else None) or error.message
    except CoreError as error:
        return error.message
    return ""


async def call_all(here: World, names: Mapping[str, str]) -> None:
    """All at once; each ends as it is expected to, a pattern for the whole."""
    said: dict[str, str] = {}

    async def one(name: str) -> None:
        said[name] = await call(here, name)

    async with anyio.create_task_group() as tasks:
        for name in names:
            tasks.start_soon(one, name)
    for name, pattern in names.items():
        assert re.fullmatch(pattern, said[name]), f"{name}: {said[name]}"


CONNECTED = ("connected", "")


# --- programs


async def test_programs_that_misbehave_at_the_start(deps: Deps) -> None:
    rows: Rows = {
        "exit": ("failed", "exited 3 — error: no API key configured"),
        "mute": ("failed", "no answer to initialize in 3 s"),
        "banner": CONNECTED,
        "bad-utf8": CONNECTED,
        "die-discover": CONNECTED,
        "mute-discover": CONNECTED,
        "stubborn": CONNECTED,
        "orphan": CONNECTED,
    }
    config = stdio(*rows, more="startup_timeout_sec = 3")
    config += table("missing", ["/no/such/program"])
    async with panel(deps, config) as here:
        gone = r"No such file or directory: /no/such/program"
        await expect(here, {**rows, "missing": ("failed", gone)})


async def test_programs_that_misbehave_in_a_call(deps: Deps) -> None:
    again = r"; try \d in \d+ s"
    killed, left, half = "killed by SIGKILL", "exited 4 — fatal: giving up", r"exited 0 — \{.*"
    closed = "The server closed its standard output"
    late = "no answer to tools/call in 4 s"
    calls = {
        "kill": killed, "exit-call": left, "half": half, "close-stdout": closed,
        "never": late, "wrong-id": late, "stop": late,
        "garbage": "", "huge": "", "twice": "", "stderr": "", "crlf": "", "batch": "", "deep": "",
        "close-stdin": "",
    }  # fmt: skip
    gone = {mode for mode in calls if mode in ("kill", "exit-call", "half", "close-stdout")}
    rows: Rows = {
        mode: ("waiting", f"(?:{calls[mode]}){again}") if mode in gone else CONNECTED
        for mode in calls
    }
    config = stdio(*calls, more="tool_timeout_sec = 4", mb=2)
    async with panel(deps, config) as here:
        await here.until_status(seconds=PATIENCE, **dict.fromkeys(calls, "connected"))
        await call_all(here, calls)
        await expect(here, rows)
        assert await call(here, GOOD) == ""


async def test_programs_that_misbehave_while_nobody_asks(deps: Deps) -> None:
    again = r"; try \d in \d+ s"
    rows: Rows = {
        "idle-exit": ("waiting", f"exited 6{again}"),
        "idle-half": ("waiting", rf"exited 0 — \{{.*{again}"),
        "idle-close": ("waiting", f"The server closed its standard output{again}"),
        "idle-garbage": CONNECTED,
        "idle-flood": CONNECTED,
        "idle-changes": CONNECTED,
        "idle-stop": CONNECTED,
    }
    config = stdio(*rows, more="tool_timeout_sec = 2", seconds=1)
    async with panel(deps, config) as here:
        await expect(here, rows)
        await here.until(lambda: (here.rows["idle-changes"].tools or 0) > 1, PATIENCE)
        assert await call(here, "idle-flood") == ""
        assert await call(here, "idle-stop") == "no answer to tools/call in 2 s"
        assert here.rows["idle-stop"].status == "connected"


# --- endpoints


@asynccontextmanager
async def endpoints(
    deps: Deps, when: str, modes: Mapping[str, Any], more: str = ""
) -> AsyncGenerator[tuple[World, dict[str, FakeMcpHttp]]]:
    """A server for each mode; it goes wrong with the requests named by `when`."""
    with ExitStack() as servers:
        fakes: dict[str, FakeMcpHttp] = {}
        for mode in modes:
            plan = {when: int(mode) if mode.isdigit() else mode} if when else {}
            fakes[mode] = servers.enter_context(
                FakeMcpHttp(plan=plan, extra={"retry-after": "7"} if mode == "429" else {})
            )
        config = table(GOOD, argv())
        for mode, fake in fakes.items():
            config += table(mode, url=fake.url, more=more if mode in SILENT else "")
        async with AsyncExitStack() as stack:
            yield await stack.enter_async_context(panel(deps, config)), fakes


async def test_endpoints_that_misbehave_at_the_start(deps: Deps) -> None:
    late = "no answer to initialize in 5 s"
    again = r"; try \d in \d+ s"
    rows: Rows = {
        "401": ("failed", r"HTTP 401 from 127\.0\.0\.1:\d+"),
        "403": ("failed", r"HTTP 403 from 127\.0\.0\.1:\d+"),
        "404": ("failed", r"HTTP 404 from 127\.0\.0\.1:\d+"),
        "429": ("waiting", rf"HTTP 429 from 127\.0\.0\.1:\d+{again}"),
        "500": ("waiting", rf"HTTP 500 from 127\.0\.0\.1:\d+{again}"),
        "503": ("waiting", rf"HTTP 503 from 127\.0\.0\.1:\d+{again}"),
        "html": ("failed", r"127\.0\.0\.1:\d+ answered with text/html instead of JSON"),
        "no-type": ("failed", r"127\.0\.0\.1:\d+ answered with no content type instead of JSON"),
        "bad-json": ("failed", r".* answered initialize with what is no JSON"),
        "accepted": ("failed", r"HTTP 202 from .*"),
        "redirect": ("failed", r"HTTP 307 from .*"),
        "close": ("waiting", rf".*{again}"),
        "reset": ("waiting", rf".*{again}"),
        "truncated": ("waiting", rf".*: the connection was closed too early{again}"),
        "sse-cut": ("failed", r".* ended its stream before answering initialize"),
        "sse-reset": ("waiting", rf".*: Connection reset by peer{again}"),
        "sse-mute": ("waiting", late + again),
        "slow-headers": ("waiting", late + again),
        "slow-body": ("waiting", late + again),
        "sse": CONNECTED,
        "sse-parts": CONNECTED,
        "gzip": CONNECTED,
    }
    async with endpoints(deps, "initialize", rows, "startup_timeout_sec = 5") as (here, _):
        await expect(here, rows)


async def test_endpoints_that_misbehave_in_a_call_stay_connected(deps: Deps) -> None:
    late = "no answer to tools/call in 3 s"
    calls = {
        "403": r"HTTP 403 from .*", "429": r"HTTP 429 from .*", "500": r"HTTP 500 from .*",
        "html": r".* instead of JSON", "no-type": r".* instead of JSON", "bad-json": r".* no JSON",
        "accepted": late, "redirect": r"HTTP 307 from .*", "close": r".+", "reset": r".+",
        "truncated": r".+", "sse-cut": r".+", "sse-reset": r".+", "sse-mute": late,
        "slow-headers": late, "slow-body": late, "wrong-id": r".* with something else",
        "sse": "", "sse-parts": "", "sse-cut-id": "", "null-id": r".*", "gzip": "", "huge": "",
    }  # fmt: skip
    async with endpoints(deps, "tools/call", calls, "tool_timeout_sec = 3") as (here, fakes):
        await here.until_status(seconds=PATIENCE, **dict.fromkeys(calls, "connected"))
        await call_all(here, calls)
        assert {here.rows[name].status for name in calls} == {"connected"}
        for fake in fakes.values():
            fake.plan.clear()
        await call_all(here, dict.fromkeys(calls, ""))


async def test_endpoints_that_go_away_while_nobody_asks(deps: Deps) -> None:
    names = ("killed", "stream", "sessions")
    async with endpoints(deps, "", dict.fromkeys(names)) as (here, fakes):
        await here.until_status(seconds=PATIENCE, **dict.fromkeys(names, "connected"))
        for fake in fakes.values():
            with fake.changed:
                assert fake.changed.wait_for(lambda fake=fake: fake.of("GET"), 5)
        fakes["killed"].stop()
        fakes["stream"].drop_streams()
        fakes["sessions"].forget_sessions()
        refused = r"connection refused by 127\.0\.0\.1:\d+; try \d in \d+ s"
        await expect(here, {"killed": ("waiting", refused)})
        await call_all(here, {"stream": "", "sessions": ""})
        assert {here.rows[name].status for name in ("stream", "sessions")} == {"connected"}
