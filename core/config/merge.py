"""How layers become one tree: tables are merged, everything else is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast


def merge(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """A new tree; what only one side has is shared with it, so never change either in place."""
    result = dict(base)
    for key, value in overlay.items():
        present = result.get(key)
        if type(present) is dict and type(value) is dict:
            result[key] = merge(cast("dict[str, Any]", present), cast("dict[str, Any]", value))
        else:
            result[key] = value
    return result


def with_plugin_apps(merged: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """What `[plugins.ID.apps]` of plugins that are on say, below `[apps]`; and who says it."""
    said: dict[str, Any] = {}
    by_app: dict[str, str] = {}
    for plugin_id, plugin in _table(merged, "plugins").items():
        table = cast("dict[str, Any]", plugin) if type(plugin) is dict else {}
        if table.get("enabled", True) is True and (told := _table(table, "apps")):
            said = merge(said, told)
            by_app.update(dict.fromkeys(told, plugin_id))
    if not said:
        return merged, by_app
    return merge({**merged, "apps": said}, {"apps": merged.get("apps", {})}), by_app


def _table(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = tree.get(key)
    return cast("dict[str, Any]", value) if type(value) is dict else {}


def override_tree(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The layer of a thread's `config` member or of `-c` options.

    Keys are cut at every dot, quotes have no meaning (observed in Codex 0.171.0). JSON's null
    becomes an empty text.
    """
    tree: dict[str, Any] = {}
    for dotted, value in overrides.items():
        *parents, last = dotted.split(".")
        table = tree
        for name in parents:
            child = table.get(name)
            if type(child) is not dict:
                child = table[name] = {}
            table = cast("dict[str, Any]", child)
        table[last] = _without_null(value)
    return tree


def _without_null(value: Any) -> Any:
    if value is None:
        return ""
    if type(value) is dict:
        table = cast("dict[str, Any]", value)
        return {key: _without_null(member) for key, member in table.items()}
    if type(value) is list:
        items = cast("list[Any]", value)
        return [_without_null(item) for item in items]
    return value


def at(tree: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path; raises KeyError when there is none."""
    value: Any = tree
    for step in path:
        value = _child(value, step)
    return value


def _child(value: Any, step: str | int) -> Any:
    if isinstance(step, str):
        table = cast("dict[str, Any]", value) if type(value) is dict else {}
        return table[step]
    items = cast("list[Any]", value) if type(value) is list else []
    if not 0 <= step < len(items):
        raise KeyError(step)
    return items[step]


def has(tree: Any, path: tuple[str | int, ...]) -> bool:
    """Whether a path leads to a value."""
    try:
        at(tree, path)
    except KeyError:
        return False
    return True
