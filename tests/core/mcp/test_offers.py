from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from core.errors import InternalError, PeerError
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    HttpFailed,
    Incoming,
    OnNotice,
    ServerHello,
    SessionClosed,
)
from core.mcp.masking import Secrets
from core.mcp.showing import MOST_BLOCKS, masked, shown_blocks, shown_value, size_of
from core.ports import Deps
from core.protocol.events import ResourceUpdated
from core.protocol.jackfield_tools import ResourceParams
from core.scope import Caller, RequestScope
from core.service.tools import ToolsService
from tests.core.mcp.fakes import FakeMaker, FakeSession, Script
from tests.core.threads.world import PANEL, World, world
from tests.fakes.ports import FakeClock

SCOPE = RequestScope(caller=Caller(policy=PANEL))
MODERN = "2026-07-28"


class Listening(FakeSession):
    """A session of 2026-07-28, whose subscriptions are requests that last."""

    heard: OnNotice | None = None
    ends: anyio.Event
    params: dict[str, Any] | None = None

    async def open(self, *, deadline: float) -> ServerHello:
        self.ends = anyio.Event()
        return replace(await super().open(deadline=deadline), protocol_version=MODERN)

    async def request(self, method: str, params: Any = None, **more: Any) -> dict[str, Any]:
        if method != "subscriptions/listen":
            return await super().request(method, params, **more)
        self.heard, self.params = more["on_notice"], params
        assert more["deadline"] is None
        await self.ends.wait()
        raise SessionClosed(CloseReason(exit_code=3))

    def tell(self, method: str, **params: Any) -> None:
        assert self.heard is not None
        self.heard(Incoming(method=method, params=params))


class Maker(FakeMaker):
    def make(self, script: Script) -> FakeSession:
        return Listening(script)


@asynccontextmanager
async def listening(deps: Deps) -> AsyncGenerator[tuple[World, ToolsService, Listening]]:
    able = {"tools": {}, "resources": {"subscribe": True}}
    maker = Maker(one=Script(capabilities=able))
    chosen = replace(deps, clock=FakeClock(auto=False))
    config = '[mcp_servers.one]\ncommand = "one"\n'
    async with world(chosen, config, maker=maker, ping_every=0) as here:
        service = ToolsService(here.threads, here.panel, deps.browser, here.events.append)
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        session = maker.latest("one")
        assert isinstance(session, Listening)
        yield here, service, session


def told(here: World) -> list[tuple[str, str]]:
    updates = [event for event in here.events if isinstance(event, ResourceUpdated)]
    return [(event.what, event.uri) for event in updates]


@pytest.mark.anyio
async def test_a_subscription_of_the_newer_protocol_is_a_request_that_lasts(deps: Deps) -> None:
    async with listening(deps) as (here, service, session):
        params = ResourceParams(server="one", uri="a:1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.resource_subscribe, params, SCOPE)
            await here.until(lambda: session.heard)
            assert session.params == {"notifications": {"resourceSubscriptions": ["a:1"]}}
            session.tell("notifications/subscriptions/acknowledged")
        session.tell("notifications/resources/updated", uri="b:2")
        session.tell("notifications/resources/updated", uri="a:1")
        assert told(here) == [("updated", "a:1")]
        session.ends.set()
        await here.until(lambda: len(told(here)) == 2)
        assert told(here)[1] == ("lost", "a:1")


@pytest.mark.anyio
async def test_letting_go_ends_the_request_and_says_nothing(deps: Deps) -> None:
    async with listening(deps) as (here, service, session):
        params = ResourceParams(server="one", uri="a:1")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.resource_subscribe, params, SCOPE)
            await here.until(lambda: session.heard)
            session.tell("notifications/subscriptions/acknowledged")
        await service.resource_unsubscribe(params, SCOPE)
        await anyio.wait_all_tasks_blocked()
        assert told(here) == [] and "resources/unsubscribe" not in session.methods


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PeerError(-32002, "no such thing"), "no such thing (error -32002 to resources/read)"),
        (DeadlinePassed("resources/read", 5), "no answer to resources/read in 5 s"),
        (
            HttpFailed(CloseReason(http_status=503, host="h.example")),
            "HTTP 503 from h.example",
        ),
    ],
)
async def test_refusals_are_told_in_words_for_people(
    deps: Deps, error: Exception, said: str
) -> None:
    maker = FakeMaker(one=Script(replies={"resources/read": [error]}))  # type: ignore[list-item]
    config = '[mcp_servers.one]\ncommand = "one"\n'
    async with world(deps, config, maker=maker, ping_every=0) as here:
        service = ToolsService(here.threads, here.panel, deps.browser, here.events.append)
        await here.panel.open(consent_all=True)
        await here.until_status(one="connected")
        with pytest.raises(InternalError) as raised:
            await service.resource_read(ResourceParams(server="one", uri="a"), SCOPE)
        assert raised.value.message == said


# -- what may be shown


def test_values_are_masked_at_any_depth_and_bytes_left_alone() -> None:
    secrets = Secrets(["s3cret-value"])
    data = "QUJD" * 40
    value = {"a": ["x s3cret-value"], "token": "t", "data": data, "n": 1, "b": {"password": ""}}
    assert masked(value, secrets) == {
        "a": ["x •••"],
        "token": "•••",
        "data": data,
        "n": 1,
        "b": {"password": ""},
    }


def test_too_many_and_too_deep_parts_are_left_out_and_it_is_said() -> None:
    deep: Any = "x"
    for _ in range(3000):
        deep = [deep]
    shown = shown_blocks([{"type": "text", "text": "a"}] * (MOST_BLOCKS + 5), Secrets())
    assert len(shown.blocks) == MOST_BLOCKS and shown.cut == "5 more parts are left out"
    shown = shown_blocks([{"type": "x", "deep": deep}], Secrets())
    assert shown.blocks == [{"type": "text", "text": ""}] and "nested too deeply" in shown.cut
    assert shown_value(deep, Secrets(), limit=10_000, what="it", shown=shown) is None
    assert size_of(deep) == 0


def test_what_is_not_too_much_is_counted_and_kept() -> None:
    shown = shown_blocks([{"type": "text", "text": "abc"}], Secrets())
    value = shown_value({"n": 1}, Secrets(), limit=100, what="it", shown=shown)
    assert value == {"n": 1} and shown.cut == "" and shown.bytes == 37
