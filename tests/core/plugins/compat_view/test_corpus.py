"""The compatibility view of real plugins, beside what Codex 0.171.0 has counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from core.config.paths import Home
from core.plugins.compat_view.view import CompatibilityReader, Subject
from core.plugins.marketplace_file import Marketplace
from core.protocol.jackfield_install import Compatibility
from core.protocol.plugins import LocalSource
from tests.core.plugins.test_corpus import EXPECTED, IN_EACH, pytestmark, read

__all__ = ["pytestmark"]
_COUNTED = {"skill": "skills", "hook": "hooks", "server": "mcpServers"}


def views(market: Marketplace) -> list[Compatibility]:
    home = Home(Path("/home/nobody"), Path("/home/nobody/.codex"), Path("/etc/nowhere"))
    reader = CompatibilityReader(home)
    return [
        reader.of_directory(
            Subject(plugin_id=f"{entry.name}@{market.name}", entry=entry),
            entry.source.path,
            installed=False,
        )
        for entry in market.listed
        if isinstance(entry.source, LocalSource)
    ]


def made_of_a_command(name: str) -> bool:
    return ":source-command-" in name


@IN_EACH
def test_what_codex_uses_is_what_it_has_counted(expected: dict[str, Any]):
    market = read(expected)
    if market is None or expected["components"] is None:
        return
    counted: Counter[str] = Counter()
    for view in views(market):
        parts = [part for part in view.uses if not made_of_a_command(part.name)]
        counted.update(_COUNTED[part.kind] for part in parts if part.kind in _COUNTED)
        if not view.refusal and not parts:
            counted["plugins_with_nothing"] += 1
        assert view.nothing == (not view.uses)
    wanted = {key: expected["components"].get(key, 0) for key in counted}
    assert dict(counted) == wanted


@IN_EACH
def test_installs_that_codex_refuses_are_told_beforehand(expected: dict[str, Any]):
    market = read(expected)
    if market is None:
        return
    refused = {view.name for view in views(market) if view.refusal}
    assert refused == {error["name"] for error in expected["installErrors"] or ()}


def test_what_contributes_nothing_says_what_is_ignored_instead():
    markets = [market for expected in EXPECTED if (market := read(expected)) is not None]
    empty = [view for market in markets for view in views(market) if view.nothing]
    assert len(empty) > 100
    explained = [view for view in empty if view.ignores or view.refusal or view.faults]
    assert len(explained) >= 0.85 * len(empty)
