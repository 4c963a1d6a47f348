"""The panel over real processes, well-behaved and not."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest

from core.deps import SystemClock
from core.ports import Deps
from tests.core.threads.world import World, world
from tests.fakes import mcp_stdio

pytestmark = pytest.mark.anyio


def table(name: str, command: list[str], **facts: Any) -> str:
    lines = [f"[mcp_servers.{name}]", f"command = {json.dumps(command[0])}"]
    lines += [f"args = {json.dumps(command[1:])}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
    return "\n".join(lines) + "\n"


def real(path: Path) -> str:
    return os.path.realpath(path)


@asynccontextmanager
async def opened(deps: Deps, config: str) -> AsyncGenerator[World]:
    async with world(replace(deps, clock=SystemClock()), config, real=True) as here:
        await here.panel.open(consent_all=True)
        yield here


async def test_five_good_servers_are_there_whatever_the_others_do(deps: Deps) -> None:
    good = [f"good{number}" for number in range(5)]
    config = "".join(table(name, mcp_stdio.argv()) for name in good)
    config += table("mute", mcp_stdio.argv("mute"))
    config += table("exits", ["/bin/sh", "-c", "echo boom: missing API key >&2; exit 3"])
    config += table("missing", ["nope-server"])
    config += '[mcp_servers.refused]\nurl = "http://127.0.0.1:9/mcp"\n'
    async with opened(deps, config) as here:
        await here.until_status(seconds=10, **dict.fromkeys(good, "connected"))
        await here.until_status(exits="failed", missing="failed", mute="starting")
        assert here.rows["exits"].reason == "exited 3 — boom: missing API key"
        assert here.rows["missing"].reason == "No such file or directory: nope-server"
        with anyio.fail_after(3):
            here.panel.cancel("mute")
            await here.until_status(mute="cancelled")


async def test_the_end_of_a_process_is_seen_at_once_and_mended(deps: Deps) -> None:
    async with opened(deps, table("one", mcp_stdio.argv())) as here:
        await here.until_status(one="connected")
        first = here.rows["one"].pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await here.until(lambda: here.rows["one"].status != "connected", seconds=1)
        assert here.rows["one"].reason.startswith("killed by SIGKILL")
        await here.until_status(one="connected")
        assert here.rows["one"].pid not in (None, first)


async def test_leaving_ends_every_process_and_its_children_within_three_seconds(
    deps: Deps,
) -> None:
    config = table("stubborn", mcp_stdio.argv("stubborn"))
    config += table("orphan", mcp_stdio.argv("orphan"))
    config += table("mute", mcp_stdio.argv("mute"))
    config += table("launcher", ["/bin/sh", "-c", "sleep 600; true"])
    with anyio.fail_after(12):
        async with opened(deps, config) as here:
            await here.until_status(stubborn="connected", orphan="connected")
            await here.until(lambda: len(here.processes.running) == 4)
            processes = [psutil.Process(each.pid) for each in here.processes.running]
            family = [*processes, *(c for p in processes for c in p.children(recursive=True))]
            with anyio.fail_after(3):
                await here.threads.aclose()
                await anyio.lowlevel.checkpoint()
    assert [p for p in family if p.is_running() and p.status() != psutil.STATUS_ZOMBIE] == []


async def test_a_reconnected_server_is_another_process(deps: Deps) -> None:
    async with opened(deps, table("one", mcp_stdio.argv())) as here:
        await here.until_status(one="connected")
        first = here.rows["one"].pid
        here.panel.reconnect(["one"])
        await here.until_status(one="connected")
        await here.until(lambda: here.rows["one"].pid not in (None, first))
        assert first is not None and not psutil.pid_exists(first)


async def test_a_process_sees_its_environment_and_directory_only(deps: Deps) -> None:
    show = (
        "import os,sys,json; print(json.dumps([sorted(os.environ), os.getcwd()]), file=sys.stderr)"
    )
    (deps.cwd / "sub").mkdir()
    config = table("one", [sys.executable, "-S", "-c", show], cwd="sub", env_vars=["FOO", "UNSET"])
    environ = {**deps.environ, "FOO": "f", "SECRET_OF_OURS": "s", "LANG": "C.UTF-8"}
    async with opened(replace(deps, environ=environ), config) as here:
        await here.until_status(one="failed")
        names, cwd = json.loads(here.rows["one"].stderr_tail[-1])
    assert [name for name in names if name != "LC_CTYPE"] == ["FOO", "HOME", "LANG", "PATH"]
    assert cwd == real(deps.cwd / "sub")


async def test_the_headers_helper_runs_through_a_shell_and_once(deps: Deps) -> None:
    from core.mcp.faults import StartFailed
    from core.mcp.headers_helper import HeadersHelper
    from core.process import Processes

    processes = Processes()
    helper = HeadersHelper(processes, deps.environ, SystemClock())
    cwd = str(deps.cwd)
    command = 'echo x >> runs; printf \'{"X-Key": "%s"}\' "$(cat runs | wc -l | tr -d \' \')"'
    results: list[dict[str, str]] = []

    async def ask() -> None:
        results.append(await helper.headers(command, cwd))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask)
    assert results == [{"X-Key": "1"}] * 3
    helper.forget(command, cwd)
    assert await helper.headers(command, cwd) == {"X-Key": "2"}
    for failing, wire in (
        ("exit 3", "MCP HTTP headers helper exited with status exit status: 3"),
        ("echo no", "MCP HTTP headers helper must output a JSON object of strings"),
        ("echo '{\"a\": 1}'", "MCP HTTP headers helper must output a JSON object of strings"),
    ):
        with pytest.raises(StartFailed) as caught:
            await helper.headers(failing, cwd)
        assert caught.value.wire == wire
    await processes.aclose()
