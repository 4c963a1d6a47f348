"""plugin/search over local plugins: what it looks at and how it ranks.

As observed in Codex 0.171.0: name, display name and keywords; words are not put in another order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core.protocol.plugins import PluginMarketplaceEntry, PluginSearchItem, PluginSummary

_APART = re.compile(r"[\W_]+")


def plain(text: str) -> str:
    """Lower case, with one blank for each run of what is neither letter nor digit."""
    return _APART.sub(" ", text.lower()).strip()


def rank(term: str, plugin: PluginSummary) -> int | None:
    """0 equal, 1 begins with, 2 contains, 3 keyword equal, 4 keyword contains; None: no hit."""
    titles = [plain(plugin.name)]
    if plugin.interface is not None and plugin.interface.display_name:
        titles.append(plain(plugin.interface.display_name))
    if term in titles:
        return 0
    if any(title.startswith(term) for title in titles):
        return 1
    if any(term in title for title in titles):
        return 2
    keywords = [plain(keyword) for keyword in plugin.keywords]
    if term in keywords:
        return 3
    return 4 if any(term in keyword for keyword in keywords) else None


def search(term: str, marketplaces: Iterable[PluginMarketplaceEntry]) -> list[PluginSearchItem]:
    """The hits, best first, in listing order among equals; an empty term finds nothing."""
    term = plain(term)
    if not term:
        return []
    hits: list[tuple[int, PluginSearchItem]] = []
    for marketplace in marketplaces:
        for plugin in marketplace.plugins:
            place = rank(term, plugin)
            if place is not None:
                hits.append(
                    (
                        place,
                        PluginSearchItem(
                            plugin=plugin,
                            marketplace_name=marketplace.name,
                            marketplace_path=marketplace.path,
                        ),
                    )
                )
    return [hit for _, hit in sorted(hits, key=lambda pair: pair[0])]
