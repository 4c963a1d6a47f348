"""Real marketplaces, read as Codex 0.171.0 has been seen to read them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.plugins.brings import count
from core.plugins.discovery import Candidate, resolve
from core.plugins.entry_manifest import entry_manifest
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.marketplace_file import Marketplace, load
from core.protocol.plugins import GitSource, LocalSource
from core.protocol.rows import PluginRow
from tests.conftest import SHARED
from tests.core.plugins.test_catalog import Panel
from tests.core.plugins.world import World, put_market

CORPUS = SHARED / "corpus"
FILE = CORPUS / "EXPECTED.json"
EXPECTED: list[dict[str, Any]] = json.loads(FILE.read_text()) if FILE.is_file() else []

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not EXPECTED, reason="the corpus of marketplaces is not here"),
]


def kind_of(source: object) -> str:
    kinds = ((LocalSource, "local"), (GitSource, "git"))
    return next((word for kind, word in kinds if isinstance(source, kind)), "npm")


IN_EACH = pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected["root"])


def read(expected: dict[str, Any]) -> Marketplace | None:
    place = resolve(Candidate(kind="local", root=str(CORPUS / expected["root"]), key="m"))
    if place is None:
        return None
    return load(place.path, place.root, home="/home/nobody", format=place.format)


@IN_EACH
def test_the_same_file_is_chosen_and_the_same_entries_are_listed(expected: dict[str, Any]):
    market = read(expected)
    if expected["usedManifest"] is None:
        assert market is None or market.listed == ()
        return
    assert market is not None
    assert market.path == str(CORPUS / expected["root"] / expected["usedManifest"])
    assert market.refusal is None
    assert len(market.listed) == expected["listed"]
    assert market.display_name == expected["displayName"]
    assert Counter(kind_of(entry.source) for entry in market.listed) == expected["sourceTypes"]
    policies = Counter(f"{entry.installation}/{entry.authentication}" for entry in market.listed)
    assert policies == expected["policies"]


@IN_EACH
def test_every_entry_that_is_dropped_is_explained(expected: dict[str, Any]):
    market = read(expected)
    if market is None:
        assert expected["usedManifest"] is None
        return
    explained = {skip.name for skip in market.skipped if skip.message}
    for dropped in expected["dropped"] or ():
        assert dropped["name"] in explained
    assert len(market.entries) + len(market.skipped) == market.total
    assert market.listed or market.name_fault or market.skipped or not market.total


@IN_EACH
def test_local_plugins_bring_what_codex_has_counted(expected: dict[str, Any]):
    market = read(expected)
    if market is None or expected["components"] is None:
        return
    counted = Counter[str]()
    for entry in market.listed:
        if isinstance(entry.source, LocalSource):
            manifest = read_manifest(entry.source.path) or entry_manifest(entry, entry.source.path)
            if isinstance(manifest, Manifest):
                brings = count(manifest, installed=True)
                counted.update(skills=brings.skills, hooks=brings.hooks, mcpServers=brings.servers)
    assert dict(counted) == {name: expected["components"].get(name, 0) for name in counted}


@pytest.mark.anyio
async def test_all_of_it_at_once_comes_as_rows_with_reasons(world: World, tmp_path: Path):
    put_market(world.user, "mine")
    for number, expected in enumerate(EXPECTED):
        world.add_market(CORPUS / expected["root"], f"m{number}")
    panel = Panel(world, deadline=30)
    with anyio.fail_after(40):
        await panel.catalog.refresh()
    rows: list[PluginRow] = list(panel.rows.values())
    listed = sum(expected["listed"] or 0 for expected in EXPECTED)
    assert len([row for row in rows if row.state not in ("skipped", "leftOver")]) >= listed
    for row in rows:
        if row.state in ("skipped", "broken"):
            assert row.reason
            assert row.problems or row.reason.startswith("its ")
        assert all(problem.evidence.file for problem in row.problems)
