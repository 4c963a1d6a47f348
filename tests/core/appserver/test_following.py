from __future__ import annotations

from typing import Any

import anyio
import pytest

from core.appserver.opening import Opening
from core.channels import EventHub
from core.errors import CoreError
from core.protocol.events import Notice, PluginsChanged
from core.protocol.facts import Evidence
from core.protocol.rows import PluginRow
from core.scope import RequestScope
from core.threads.policy import CODEX, PANEL
from tests.core.appserver.wire import Client, Handlers, OpenGate, served

pytestmark = pytest.mark.anyio

RELOAD = "config/mcpServer/reload"


def opening(hub: EventHub, **handlers: Any) -> Opening:
    made = Opening()
    made.done(Handlers({RELOAD: handlers.get("reload")}), OpenGate(), hub=hub)  # type: ignore[arg-type]
    return made


def notice(text: str) -> Notice:
    return Notice(area="panel", about="x", text=text)


async def events(client: Client) -> list[dict[str, Any]]:
    message = await client.receive()
    assert message["method"] == "jackfield/event"
    return message["params"]["events"]


async def test_a_subscriber_hears_of_everything_from_the_answer_on():
    hub = EventHub(capacity=2)
    async with served({}, opening=opening(hub)) as client:
        await client.initialize()
        hub.emit(notice("before"))
        answer = await client.call("jackfield/subscribe")
        assert answer["result"]["version"] == "1.2.3"
        assert set(answer["result"]["methods"]) == {"initialize", RELOAD, "jackfield/subscribe"}
        for text in "abc":
            hub.emit(notice(text))
        told = await events(client)
        assert [one["type"] for one in told] == ["lagged", "notice", "notice"]
        assert [one.get("text") for one in told] == [None, "b", "c"]


async def test_nobody_is_told_who_did_not_ask():
    hub = EventHub()
    async with served({}, opening=opening(hub)) as client:
        await client.initialize()
        hub.emit(notice("a"))
        await anyio.wait_all_tasks_blocked()
        client.hang_up()
        assert await client.receive_all() == []


async def test_what_a_client_does_not_read_is_folded():
    hub = EventHub()
    rows = tuple(
        PluginRow(id=str(n), name="x" * 2_000, marketplace="m", plugin_id=str(n))
        for n in range(1_000)
    )
    async with served({}, opening=opening(hub)) as client:
        await client.initialize()
        await client.call("jackfield/subscribe")
        for revision in range(1, 60):  # 2 MB each
            hub.emit(PluginsChanged(revision=revision, upserted=rows))
            await anyio.wait_all_tasks_blocked()
        told: list[Any] = []
        while not told or told[-1]["revision"] < 59:
            told += await events(client)
        assert len(told) < 20


async def test_a_text_that_is_no_utf_8_does_not_end_the_stream():
    hub = EventHub()
    async with served({}, opening=opening(hub)) as client:
        await client.initialize()
        await client.call("jackfield/subscribe")
        hub.emit(notice("bad \udcff path"))
        assert (await events(client))[0]["text"] == "bad ? path"
        hub.emit(notice("next"))
        assert (await events(client))[0]["text"] == "next"


@pytest.mark.parametrize(("able", "panel"), [({"jackfieldPanel": True}, True), ({}, False)])
async def test_a_panel_has_its_own_policy_and_hears_more_of_errors(
    able: dict[str, Any], panel: bool
):
    asked: list[RequestScope] = []

    async def reload(params: Any, scope: RequestScope) -> Any:
        asked.append(scope)
        raise CoreError("no", data={"a": 1}, hint="do this", evidence=Evidence(file="/f", line=3))

    async with served({}, opening=opening(EventHub(), reload=reload)) as client:
        await client.initialize(**able)
        error = (await client.call(RELOAD))["error"]
    assert asked[0].caller.policy is (PANEL if panel else CODEX)
    more = {"hint": "do this", "evidence": {"file": "/f", "line": 3}, "data": {"a": 1}}
    assert error["data"] == (more if panel else {"a": 1})
    assert error["message"] == "no"
