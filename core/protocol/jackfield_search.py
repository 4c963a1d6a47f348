"""jackfield/search: plugins of all marketplaces, by relevance."""

from __future__ import annotations

from typing import Literal

from core.protocol.jackfield import Message
from core.protocol.rows import PluginRow

Found = Literal["exact", "prefix", "word", "part", "text"]


class SearchParams(Message, frozen=True, kw_only=True):
    """`query`: words as they stand in a name or text. `limit`: of hits; 0 = all."""

    query: str
    limit: int = 0


class SearchHit(Message, frozen=True, kw_only=True):
    """A plugin, and where the query was found: `exact` to `part` of its name, or in its `text`.

    `marketplace_name`: as its file says.
    """

    found: Found
    marketplace_name: str
    plugin: PluginRow


class SearchResult(Message, frozen=True, kw_only=True):
    """Hits, best first, installed ones before others. `total`: plugins that were looked at."""

    query: str
    total: int
    hits: tuple[SearchHit, ...]
