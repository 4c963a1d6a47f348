"""The npm server "everything" through the panel's own methods: a call, questions, a live feed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from core import method_table as methods
from core.protocol import jackfield as wire
from core.protocol import jackfield_tools as tools
from core.protocol.events import ElicitationRequested, OperationProgress, ResourceUpdated
from tests.integration.everything import EVERYTHING, everything_command
from tests.integration.live import Live, deps_of, live

pytestmark = [pytest.mark.anyio, pytest.mark.needs("node", EVERYTHING)]


@asynccontextmanager
async def connected(tmp_path: Path) -> AsyncGenerator[Live]:
    command = everything_command()
    assert command is not None
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    work.mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        f"[mcp_servers.everything]\ncommand = {json.dumps(command[0])}\n"
        f"args = {json.dumps(command[1:])}\n"
    )
    async with live(deps_of(home, work, tmp_path / "etc")) as here:
        await here.start(consent_all=True)
        await here.until(lambda: here.server("everything").status == "connected")
        yield here


async def call(here: Live, tool: str, **arguments: Any) -> tools.ToolCallResult:
    params = tools.ToolCallParams(id=f"everything/{tool}", arguments=arguments)
    return await here.client.call(methods.JACKFIELD_TOOL_CALL, params)


def seen(here: Live, kind: type[Any]) -> list[Any]:
    return [event for event in here.events if isinstance(event, kind)]


async def test_a_call_its_progress_and_its_structured_answer(tmp_path: Path) -> None:
    async with connected(tmp_path) as here:
        echo = await call(here, "echo", message="hello")
        assert echo.content == ({"type": "text", "text": "Echo: hello"},)
        weather = await call(here, "get-structured-content", location="New York")
        assert weather.structured and "temperature" in weather.structured_content
        long = await call(here, "trigger-long-running-operation", duration=1, steps=4)
        assert long.outcome == "answered" and long.duration_ms >= 900
        shares = [event.share for event in seen(here, OperationProgress) if event.share]
        assert shares and shares == sorted(shares)


async def test_a_form_is_asked_answered_and_the_call_goes_on(tmp_path: Path) -> None:
    async with connected(tmp_path) as here:
        results: list[tools.ToolCallResult] = []

        async def ask() -> None:
            results.append(await call(here, "trigger-elicitation-request"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await here.until(lambda: seen(here, ElicitationRequested))
            (question,) = seen(here, ElicitationRequested)
            assert question.mode == "form" and question.requested_schema["properties"]
            answer = wire.ElicitationAnswer(
                id=question.id, action="accept", content={"name": "Ann Onymous"}
            )
            await here.client.call(methods.JACKFIELD_ELICITATION_ANSWER, answer)
        assert "Ann Onymous" in repr(results[0].content)


async def test_a_resource_is_read_and_its_changes_told(tmp_path: Path) -> None:
    async with connected(tmp_path) as here:
        uri = "demo://resource/dynamic/text/1"
        params = tools.ResourceParams(server="everything", uri=uri)
        read = await here.client.call(methods.JACKFIELD_RESOURCE_READ, params)
        assert "Resource 1" in read.contents[0]["text"]
        await here.client.call(methods.JACKFIELD_RESOURCE_SUBSCRIBE, params)
        await call(here, "toggle-subscriber-updates")
        await here.until(lambda: seen(here, ResourceUpdated))
        assert {(event.name, event.uri) for event in seen(here, ResourceUpdated)} == {
            ("everything", uri)
        }


async def test_prompts_come_with_their_arguments_completed(tmp_path: Path) -> None:
    async with connected(tmp_path) as here:
        server = tools.ServerParams(server="everything")
        await here.until(lambda: "everything/prompt:completable-prompt" in here.tables["inventory"])
        listed = await here.client.call(methods.JACKFIELD_PROMPT_LIST, server)
        assert listed.complete and "completable-prompt" in {p["name"] for p in listed.prompts}
        ref = {"type": "ref/prompt", "name": "completable-prompt"}
        params = tools.CompleteParams(
            server="everything", ref=ref, argument="department", value="E"
        )
        found = await here.client.call(methods.JACKFIELD_COMPLETE, params)
        assert found.values == ("Engineering",)
        wanted = tools.PromptGetParams(
            server="everything",
            name="args-prompt",
            arguments={"city": "Bonn"},
        )
        prompt = await here.client.call(methods.JACKFIELD_PROMPT_GET, wanted)
        assert "Bonn" in prompt.messages[0]["content"]["text"]
