"""The hosted apps server, asked over real HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from core.demo import DemoWorld, demo_world
from core.demo.backend import HOSTED
from core.errors import CoreError
from core.mcp.headers_helper import HeadersHelper
from core.mcp.hosted import HostedLister, hosted_spec
from core.mcp.links import Plumbing
from core.mcp.slots import HandshakeSlots
from core.net.http import HttpClients
from core.process import Processes
from core.seams import HostedServer
from core.threads.policy import CODEX, PANEL

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def lister(deps: Any) -> AsyncGenerator[HostedLister]:
    processes = Processes()
    plumbing = Plumbing(
        processes=processes,
        http=HttpClients({}),
        helper=HeadersHelper(processes, {}, deps.clock),
        version="0",
    )
    yield HostedLister(plumbing, HandshakeSlots())
    await processes.aclose()


def server_of(world: DemoWorld) -> HostedServer:
    return HostedServer(
        url=world.urls["backend"] + HOSTED, headers={"x-openai-product-sku": "codex"}
    )


@pytest.mark.parametrize("policy", [CODEX, PANEL], ids=["codex", "panel"])
async def test_all_pages_of_the_hosted_tools_come_raw_and_in_order(deps: Any, policy: Any) -> None:
    async with demo_world(delays=False) as world, lister(deps) as hosted:
        with anyio.fail_after(10):
            tools = await hosted.list_hosted_tools(server_of(world), policy=policy, deadline=10)
        assert len(tools) == 62
        assert tools[0].raw["name"] == "boardroom_list_boards"
        assert tools[0].raw["_meta"]["connector_id"] == "boardroom"


async def test_a_hosted_server_that_is_not_there_is_named(deps: Any) -> None:
    async with demo_world(delays=False) as world, lister(deps) as hosted:
        server = replace(server_of(world), url=world.urls["wiki"] + HOSTED)
        with pytest.raises(CoreError) as caught:
            await hosted.list_hosted_tools(server, policy=PANEL, deadline=10)
        assert caught.value.message.startswith("connection refused by 127.0.0.1:")


async def test_a_hosted_server_that_says_nothing_is_left_at_the_deadline(deps: Any) -> None:
    async with demo_world(delays=False, gates=True) as world, lister(deps) as hosted:
        with anyio.fail_after(10), pytest.raises(CoreError) as caught:
            await hosted.list_hosted_tools(server_of(world), policy=PANEL, deadline=0.3)
        assert "0.3" in caught.value.message


def test_its_token_counts_as_configured_and_is_in_no_repr() -> None:
    server = HostedServer(url="https://apps.example/ps/mcp", bearer_token="secret")
    spec = hosted_spec(server, limit=30)
    assert spec.name == "codex_apps"
    assert "secret" not in repr(spec)
    assert "secret" not in repr(server)
