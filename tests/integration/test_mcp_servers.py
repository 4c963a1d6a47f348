"""Real MCP servers, where they are installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.mcp.client.eras import Era, Introduction
from core.mcp.client.factory import open_http_session, open_stdio_session
from core.mcp.client.session import Incoming, Session
from core.mcp.client.stdio import StdioTarget
from core.mcp.client.wire import HttpTarget
from core.net.http import HttpClients
from core.process import Processes
from tests.fakes.processes import group_lives
from tests.integration.everything import EVERYTHING, everything_command

pytestmark = pytest.mark.anyio
CAPABILITIES = {"elicitation": {"form": {}, "url": {}}}


def everything() -> list[str]:
    """The command line of the npm server "everything", without its transport."""
    command = everything_command()
    assert command is not None
    return command


def who(era: Era = "handshake") -> Introduction:
    return Introduction(name="jackfield", version="1", capabilities=CAPABILITIES, era=era)


@asynccontextmanager
async def over_stdio(*command: str, era: Era = "handshake") -> AsyncGenerator[Session]:
    program, *args = command
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    target, processes = StdioTarget(command=program, args=args, env=env), Processes()
    with anyio.fail_after(40):
        async with open_stdio_session(target, who(era), processes=processes) as session:
            yield session
        assert session.pid
        assert not group_lives(session.pid)


@contextmanager
def listening(kind: str) -> Generator[int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*everything(), kind],
        env={**os.environ, "PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


async def try_everything(session: Session) -> None:
    hello = await session.open(deadline=20)
    assert hello.server_info["name"] == "mcp-servers/everything"
    tools = (await session.request("tools/list", {}, deadline=10))["tools"]
    assert "echo" in {tool["name"] for tool in tools}

    async def call(name: str, heard: list[Incoming], **arguments: Any) -> str:
        params = {"name": name, "arguments": arguments}
        result = await session.request("tools/call", params, deadline=10, on_notice=heard.append)
        return result["content"][0]["text"]

    assert await call("echo", [], message="gr\u00fc\u00dfe") == "Echo: gr\u00fc\u00dfe"
    progress: list[Incoming] = []
    await call("trigger-long-running-operation", progress, duration=0.2, steps=4)
    assert [notice.params["progress"] for notice in progress] == [1, 2, 3, 4]

    async def decline() -> None:
        async for message in session.incoming:
            if message.method == "elicitation/create" and message.id is not None:
                await session.respond(message.id, result={"action": "decline"})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(decline)
        assert "declined" in await call("trigger-elicitation-request", [])
        tasks.cancel_scope.cancel()


@pytest.mark.needs("node", EVERYTHING)
async def test_everything_over_stdio() -> None:
    async with over_stdio(*everything(), "stdio") as session:
        await try_everything(session)


@pytest.mark.needs("node", EVERYTHING)
@pytest.mark.parametrize(("kind", "path"), [("streamableHttp", "/mcp"), ("sse", "/sse")])
async def test_everything_over_http(kind: str, path: str) -> None:
    with listening(kind) as port, anyio.fail_after(40):
        target = HttpTarget(url=f"http://127.0.0.1:{port}{path}", legacy_sse=True)
        async with open_http_session(target, who(), http=HttpClients({})) as session:
            await try_everything(session)


@pytest.mark.parametrize(
    ("era", "version"),
    [("handshake", "2025-06-18"), ("auto", "2026-07-28"), ("modern", "2026-07-28")],
)
async def test_time_server_in_both_eras(era: Era, version: str) -> None:
    command = [sys.executable, "-m", "mcp_server_time", "--local-timezone", "UTC"]
    async with over_stdio(*command, era=era) as session:
        assert (await session.open(deadline=30)).protocol_version == version
        tools = (await session.request("tools/list", {}, deadline=10))["tools"]
        assert {tool["name"] for tool in tools} == {"get_current_time", "convert_time"}
        params = {"name": "get_current_time", "arguments": {"timezone": "UTC"}}
        result = await session.request("tools/call", params, deadline=10)
        assert "UTC" in result["content"][0]["text"]


@pytest.mark.needs("node", EVERYTHING)
async def test_a_resource_of_everything_is_followed_and_its_change_arrives() -> None:
    async with over_stdio(*everything(), "stdio") as session:
        await session.open(deadline=20)
        resources = (await session.request("resources/list", {}, deadline=10))["resources"]
        uri = resources[0]["uri"]
        read = await session.request("resources/read", {"uri": uri}, deadline=10)
        assert read["contents"][0]["uri"] == uri
        await session.request("resources/subscribe", {"uri": uri}, deadline=10)
        toggle = {"name": "toggle-subscriber-updates", "arguments": {}}
        await session.request("tools/call", toggle, deadline=10)
        async for message in session.incoming:
            if message.method == "notifications/resources/updated":
                assert message.params["uri"] == uri
                return


async def inventory(session: Session) -> dict[str, int]:
    """How much there is of each kind that the server promises."""
    hello = await session.open(deadline=30)
    kinds = {"tools": "tools/list", "resources": "resources/list", "prompts": "prompts/list"}
    return {
        kind: len((await session.request(method, {}, deadline=10))[kind])
        for kind, method in kinds.items()
        if kind in hello.capabilities
    }


async def said(session: Session, name: str, **arguments: Any) -> str:
    params = {"name": name, "arguments": arguments}
    result = await session.request("tools/call", params, deadline=20)
    assert not result.get("isError"), result
    return result["content"][0]["text"]


@pytest.mark.needs("node", "mcp-server-filesystem")
async def test_the_filesystem_server_reads_what_it_may(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("grüße")
    async with over_stdio("mcp-server-filesystem", str(tmp_path)) as session:
        assert (await inventory(session))["tools"] == 14
        read = await said(session, "read_text_file", path=str(tmp_path / "note.txt"))
        assert read == "grüße"


@pytest.mark.needs("node", "mcp-server-memory")
async def test_the_memory_server_remembers(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    command = ["env", f"MEMORY_FILE_PATH={file}", "mcp-server-memory"]
    async with over_stdio(*command) as session:
        assert (await inventory(session))["tools"] == 9
        entity = {"name": "a", "entityType": "thing", "observations": ["is here"]}
        await said(session, "create_entities", entities=[entity])
        assert "is here" in await said(session, "read_graph")


@pytest.mark.needs("git")
@pytest.mark.parametrize(
    ("era", "version"), [("handshake", "2025-06-18"), ("modern", "2026-07-28")]
)
async def test_the_git_server_in_both_eras(tmp_path: Path, era: Era, version: str) -> None:
    await anyio.run_process(["git", "init", "-q", str(tmp_path)])
    command = [sys.executable, "-m", "mcp_server_git", "--repository", str(tmp_path)]
    async with over_stdio(*command, era=era) as session:
        assert (await session.open(deadline=30)).protocol_version == version
        tools = (await session.request("tools/list", {}, deadline=10))["tools"]
        assert len(tools) == 12
        assert "branch" in (await said(session, "git_status", repo_path=str(tmp_path))).lower()
