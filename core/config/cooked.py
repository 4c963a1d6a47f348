"""A layer's tree in the form that Codex hashes and shows: floats as floats, paths absolute."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

_SECONDS = ("startup_timeout_sec", "tool_timeout_sec")


def cooked(value: Mapping[str, Any]) -> dict[str, Any]:
    """The tree of a layer whose paths are absolute already."""
    result = dict(value)
    servers = result.get("mcp_servers")
    if type(servers) is dict:
        result["mcp_servers"] = {
            name: _seconds(entry) for name, entry in cast("dict[str, Any]", servers).items()
        }
    return result


def with_absolute_paths(value: dict[str, Any], base: str, home: str) -> dict[str, Any]:
    """The tree with relative paths taken from `base`; shared where there are none."""
    result = value
    skills = value.get("skills")
    config = cast("dict[str, Any]", skills).get("config") if type(skills) is dict else None
    if type(config) is list:
        entries = [_skill(entry, base, home) for entry in cast("list[Any]", config)]
        result = {**result, "skills": {**cast("dict[str, Any]", skills), "config": entries}}
    sandbox = value.get("sandbox_workspace_write")
    roots = cast("dict[str, Any]", sandbox).get("writable_roots") if type(sandbox) is dict else None
    if type(roots) is list:
        absolute = [_absolute(root, base, home) for root in cast("list[Any]", roots)]
        table = cast("dict[str, Any]", sandbox)
        result = {**result, "sandbox_workspace_write": {**table, "writable_roots": absolute}}
    return result


def _skill(entry: Any, base: str, home: str) -> Any:
    if type(entry) is not dict or "path" not in entry:
        return cast("Any", entry)
    table = cast("dict[str, Any]", entry)
    return {**table, "path": _absolute(table["path"], base, home)}


def _absolute(path: Any, base: str, home: str) -> Any:
    if type(path) is not str:
        return path
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return os.path.normpath(os.path.join(base, path))


def _seconds(entry: Any) -> Any:
    if type(entry) is not dict:
        return entry
    table = cast("dict[str, Any]", entry)
    if not any(type(table.get(key)) is int for key in _SECONDS):
        return table
    return {
        key: float(member) if key in _SECONDS and type(member) is int else member
        for key, member in table.items()
    }
