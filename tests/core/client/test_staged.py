"""A core that is opened in two steps: what is there answers, the rest is waited for."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import open_core
from core.early import Early
from core.method_table import METHODS
from core.ports import Deps
from core.protocol import jackfield as wire
from core.protocol.events import RefreshStarted
from core.staging import open_staged
from tests.core.plugins.world import put_market, put_plugin

pytestmark = pytest.mark.anyio


def with_market(deps: Deps, root: Path) -> None:
    put_market(root, "p")
    put_plugin(root / "plugins/p", {"skills/a/SKILL.md": "---\ndescription: d\n---\n"})
    home = Early(deps).home.codex_home
    home.mkdir(parents=True, exist_ok=True)
    text = f'[marketplaces.m]\nsource_type = "local"\nsource = {json.dumps(str(root))}\n'
    (home / "config.toml").write_text(text)


async def rows(client: CoreClient, domain: str) -> wire.RowsResult:
    params = wire.RowsParams(domain=domain)  # type: ignore[arg-type]
    return await client.call(methods.JACKFIELD_ROWS, params)


async def test_every_method_of_the_table_is_served_and_no_other(deps: Deps):
    async with open_core(deps) as core:
        served = core.dispatcher.methods
    # Served by the face itself, or sent to the client.
    assert served - METHODS.keys() == set()
    unserved = {name for name in METHODS.keys() - served if name.startswith("jackfield/")}
    assert unserved == {"jackfield/subscribe"}


async def test_lists_are_empty_and_unconfirmed_until_their_owner_stands(deps: Deps):
    async with open_staged(deps) as client:
        for domain in ("servers", "plugins"):
            answer = await rows(client, domain)
            assert (answer.rows, answer.revision, answer.phase) == ((), 0, "cached")


async def test_plugins_come_once_and_are_read_once(deps: Deps, tmp_path: Path):
    with_market(deps, tmp_path / "shelf")
    async with open_staged(deps) as client, client.subscribe() as subscription:
        started: list[RefreshStarted] = []
        with anyio.fail_after(20):
            await client.call(methods.JACKFIELD_PANEL_START, wire.PanelStartParams())
            answer = await rows(client, "plugins")
            async for batch in subscription.batches():
                started += [event for event in batch if isinstance(event, RefreshStarted)]
                answer = await rows(client, "plugins")
                if answer.phase == "final":
                    break
        assert [row.name for row in answer.rows] == ["p"]
        assert [event.domain for event in started].count("plugins") == 1


async def test_a_call_that_needs_the_whole_waits_for_it(deps: Deps):
    async with open_staged(deps) as client:
        with anyio.fail_after(20):
            result = await client.call(methods.JACKFIELD_CONSENT_READ, wire.NoParams())
        assert result.items == ()


async def test_where_it_works_is_told_before_the_whole_stands(deps: Deps):
    async with open_staged(deps) as client:
        status = await client.call(methods.JACKFIELD_STATUS, wire.NoParams())
    assert status.cwd == str(deps.cwd)


async def test_an_end_before_the_whole_stands_leaves_nothing_behind(deps: Deps):
    with anyio.fail_after(10):
        async with open_staged(deps):
            pass
