"""plugin/search over local plugins."""

from __future__ import annotations

import pytest

from core.plugins.search import plain, rank, search
from core.protocol.plugins import (
    LocalSource,
    PluginInterface,
    PluginMarketplaceEntry,
    PluginSummary,
)


def plugin(name: str, shown: str | None = None, *keywords: str) -> PluginSummary:
    interface = PluginInterface(display_name=shown) if shown else None
    return PluginSummary(
        id=f"{name}@m",
        name=name,
        source=LocalSource("/p"),
        installed=False,
        enabled=False,
        interface=interface,
        keywords=keywords,
    )


@pytest.mark.parametrize(
    ("text", "same"), [(" Git-Hub__Tools! ", "git hub tools"), ("Ünï", "ünï"), ("--", "")]
)
def test_texts_are_compared_without_case_and_marks(text: str, same: str):
    assert plain(text) == same


@pytest.mark.parametrize(
    ("term", "found", "place"),
    [
        ("git tools", plugin("git-tools"), 0),
        ("shown so", plugin("x", "Shown So"), 0),
        ("git", plugin("git-tools"), 1),
        ("tools", plugin("git-tools"), 2),
        ("key", plugin("x", None, "key"), 3),
        ("ke", plugin("x", None, "other", "key"), 4),
        ("tools git", plugin("git-tools"), None),
        ("nothing", plugin("x", "y", "z"), None),
    ],
)
def test_a_hit_has_its_place(term: str, found: PluginSummary, place: int | None):
    assert rank(term, found) == place


def test_hits_come_best_first_and_in_listing_order_among_equals():
    plugins = (plugin("a", None, "git"), plugin("git-b"), plugin("git-a"), plugin("git"))
    market = PluginMarketplaceEntry(name="m", path="/m", interface=None, plugins=plugins)
    hits = search("GIT", [market])
    assert [hit.plugin.name for hit in hits] == ["git", "git-b", "git-a", "a"]
    assert search(" - ", [market]) == []
