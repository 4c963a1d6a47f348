"""Loads what the first requests need, while the server has nothing else to do."""

from __future__ import annotations

from typing import Any

from core import method_table as methods
from core.methods import Method

_FIRST: tuple[Method[Any, Any], ...] = (
    methods.PLUGIN_LIST,
    methods.PLUGIN_INSTALLED,
    methods.MCP_SERVER_STATUS_LIST,
    methods.THREAD_START,
    methods.APP_LIST,
    methods.CONFIG_READ,
    methods.SKILLS_LIST,
)
"""What clients ask for when they start."""


def warm() -> None:
    """Load the types of the usual first requests and build what checks them. In a thread.

    Their library alone costs the first request of a process more than its answer does.
    """
    for method in _FIRST:
        build = getattr(method.params, "model_rebuild", None)
        if build is not None:
            build()
        _ = method.result
