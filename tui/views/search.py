"""The filter: by relevance, over all rows of a tab at once."""

from __future__ import annotations

from core.relevance import Hit, Searchable, nearest, plugin_searchable, relevance, search

__all__ = ["Hit", "Searchable", "nearest", "plugin_searchable", "relevance", "search"]
