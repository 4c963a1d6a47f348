"""Four layers that are never mixed up: what can be had, what an app is, what is callable, what is
connected. No row, event or table speaks of two of them, and a change in one leaves the others be.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, get_args, get_type_hints

import anyio
import pytest
from msgspec.structs import fields

from core import method_table as methods
from core.compose import open_core
from core.demo import DemoWorld, demo_world
from core.protocol import jackfield as wire
from core.protocol.apps import AppInstalledParams, AppReadParams
from core.protocol.events import STATE_EVENTS, RefreshEvent, RefreshFinished
from core.protocol.rows import DOMAINS, ROW_TYPES, Domain, Row
from tests.core.service.opened import Opened
from tui.store import ViewStore

# What each layer alone may say, in the words of the rows.
FACTS: dict[str, frozenset[str]] = {
    "plugins": frozenset(
        {"installed", "offered", "version", "install_policy", "auth_policy", "brings",
         "source_kind", "listed", "total", "checked_at", "format", "ref"}
    ),
    "app metadata": frozenset({"accessible", "install_url", "brought_by", "labels"}),
    "installed snapshot": frozenset({"callable_tools", "committed_at"}),
    "MCP status": frozenset(
        {"status", "transport", "target", "auth", "tools_total", "templates", "heard_at", "pid",
         "latency_ms", "protocol", "server_version", "stderr_tail", "limit"}
    ),
    "inventory": frozenset({"effect", "filtered", "tokens", "seen_at", "visible"}),
}  # fmt: skip
LAYER_OF: dict[Domain, str] = {
    "marketplaces": "plugins",
    "plugins": "plugins",
    "apps": "app metadata",
    "installed": "installed snapshot",
    "servers": "MCP status",
    "inventory": "inventory",
}
CALLABLE = {"installed", "inventory"}
"""Domains that may say what the model may call."""


def names(row: type[Row]) -> set[str]:
    return {field.name for field in fields(row)}


# --- types


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_row_has_facts_of_its_own_layer_only(domain: Domain) -> None:
    own = LAYER_OF.get(domain)
    for layer, words in FACTS.items():
        if layer != own:
            assert not names(ROW_TYPES[domain]) & words, f"{domain} speaks of {layer}"


@pytest.mark.parametrize("domain", DOMAINS)
def test_only_snapshot_and_inventory_say_what_may_be_called(domain: Domain) -> None:
    assert ("callable" in names(ROW_TYPES[domain])) == (domain in CALLABLE)


def test_every_layer_has_rows_of_its_own_type() -> None:
    assert len(set(ROW_TYPES.values())) == len(DOMAINS) == len(ROW_TYPES)
    for layer, words in FACTS.items():
        spoken = {domain for domain, row in ROW_TYPES.items() if names(row) & words}
        assert {LAYER_OF.get(domain) for domain in spoken} == {layer}


def test_an_event_carries_rows_of_one_type_and_a_table_holds_one() -> None:
    for domain, kind in STATE_EVENTS.items():
        hint = get_type_hints(kind)["upserted"]
        assert get_args(hint)[0] is ROW_TYPES[domain]
    store = ViewStore()
    assert len({id(store.table(domain)) for domain in DOMAINS}) == len(DOMAINS)
    for domain in DOMAINS:
        assert store.table(domain).domain == domain


# --- a running core


def quiet(world: DemoWorld) -> None:
    """Without the server that is tried again and again."""
    file = world.codex_home / "config.toml"
    text = file.read_text()
    file.write_text(text[: text.index("[mcp_servers.wiki]")])


@asynccontextmanager
async def running(*held: str) -> AsyncGenerator[tuple[Opened, DemoWorld]]:
    """The demo's world, whole; `held` doors of its sites stay closed."""
    async with demo_world(delays=False) as world:
        quiet(world)
        if held:
            world.gates.hold(*held)
            world.gates.release(*(f"directory/{page}" for page in range(1, 10)), "workspace/1")
            world.gates.release(*(f"server/{name}" for name in ("issues", "search", "traces")))
        async with open_core(world.deps()) as core:
            made = Opened(core.client())
            core.hub.listen(made.events.append)
            with anyio.fail_after(40):
                await made.start(consent_all=True)
                waited: set[Domain] = {"plugins", "servers"} | (set() if held else {"apps"})
                await made.until(lambda: {e.domain for e in made.of(RefreshFinished)} >= waited, 30)
                yield made, world


async def revisions(core: Opened) -> dict[Domain, int]:
    return {domain: (await core.rows(domain)).revision for domain in DOMAINS}


async def settled(core: Opened) -> dict[Domain, int]:
    """The revisions once nothing moves any more of itself."""
    before = await revisions(core)
    with anyio.fail_after(20):
        while True:
            for _ in range(3):
                await anyio.wait_all_tasks_blocked()
                await core.client.call(methods.JACKFIELD_STATUS, wire.NoParams())
            now = await revisions(core)
            if now == before:
                return now
            before = now


async def until_row(core: Opened, domain: Domain, row: str, **facts: Any) -> Any:
    with anyio.fail_after(15):
        while True:
            found = (await core.by_id(domain)).get(row)
            if found is not None and all(getattr(found, k) == v for k, v in facts.items()):
                return found
            await anyio.wait_all_tasks_blocked()


def others(now: dict[Domain, int], *touched: Domain) -> dict[Domain, int]:
    return {domain: revision for domain, revision in now.items() if domain not in touched}


@pytest.mark.anyio
async def test_a_plugin_stays_enabled_while_its_server_is_dead() -> None:
    async with running() as (core, _):
        server = await until_row(core, "servers", "review-index", status="connected")
        plugin = (await core.by_id("plugins"))["code-review@acme-tools"]
        assert (server.plugin_id, plugin.enabled) == ("code-review@acme-tools", True)
        before = await settled(core)
        core.events.clear()
        os.kill(server.pid, signal.SIGKILL)
        dead = await until_row(core, "servers", "review-index", pid=None)
        assert dead.status in ("waiting", "failed", "starting") and dead.enabled
        after = await revisions(core)
        assert after["servers"] > before["servers"]
        touched: tuple[Domain, ...] = ("servers", "inventory", "problems")
        assert others(after, *touched) == others(before, *touched)
        assert (await core.by_id("plugins"))["code-review@acme-tools"] is plugin


@pytest.mark.anyio
async def test_an_app_can_be_read_while_the_installed_snapshot_is_empty() -> None:
    async with running("tools") as (core, _):
        await core.until(lambda: core.of(RefreshEvent, domain="apps"))
        with anyio.fail_after(15):
            while not (apps := await core.by_id("apps")):
                await anyio.wait_all_tasks_blocked()
        app = next(iter(apps))
        read = await core.client.call(
            methods.APP_READ, AppReadParams(app_ids=[app], include_tools=False)
        )
        assert [found.id for found in read.apps] == [app]
        told = await core.client.call(methods.APP_INSTALLED, AppInstalledParams())
        assert told.apps == ()
        assert await core.by_id("installed") == {}
        assert not any(row.source == "app" for row in (await core.by_id("inventory")).values())


@pytest.mark.anyio
async def test_a_plugin_is_switched_and_no_other_layer_moves() -> None:
    async with running() as (core, _):
        before = await settled(core)
        plugin = "changelog-writer@acme-tools"
        params = wire.SwitchParams(kind="plugin", id=plugin, enabled=False)
        result = await core.client.call(methods.JACKFIELD_SWITCH, params)
        assert result.written
        await until_row(core, "plugins", plugin, enabled=False)
        after = await settled(core)
        assert after["plugins"] > before["plugins"]
        touched: tuple[Domain, ...] = ("plugins", "marketplaces", "config", "problems")
        assert others(after, *touched) == others(before, *touched)


@pytest.mark.anyio
async def test_a_server_is_switched_and_no_other_layer_moves() -> None:
    async with running() as (core, _):
        await until_row(core, "servers", "billing", status="connected")
        before = await settled(core)
        params = wire.SwitchParams(kind="server", id="billing", enabled=False)
        await core.client.call(methods.JACKFIELD_SWITCH, params)
        await until_row(core, "servers", "billing", status="disabled")
        after = await settled(core)
        assert after["servers"] > before["servers"]
        touched: tuple[Domain, ...] = ("servers", "inventory", "config", "problems")
        assert others(after, *touched) == others(before, *touched)


@pytest.mark.anyio
async def test_the_directory_is_read_anew_and_no_other_layer_moves() -> None:
    async with running() as (core, _):
        before = await settled(core)
        await core.refresh("apps", forced=True)
        after = await settled(core)
        assert after["apps"] > before["apps"]
        touched: tuple[Domain, ...] = ("apps", "installed", "inventory")
        assert others(after, *touched) == others(before, *touched)


@pytest.mark.anyio
async def test_marketplaces_are_read_anew_and_no_other_layer_moves() -> None:
    async with running() as (core, world):
        before = await settled(core)
        (place, *_) = (world.home / "src" / "field-kit").rglob("marketplace.json")
        place.write_text(place.read_text().replace('"name"', '"name" ', 1))
        await core.refresh("plugins", forced=True)
        after = await settled(core)
        touched: tuple[Domain, ...] = ("marketplaces", "plugins", "problems")
        assert others(after, *touched) == others(before, *touched)
