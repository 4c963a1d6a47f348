"""Which layer has the last word over what was just written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.config.merge import at, has
from core.config.model import Layer, Loaded
from core.config.version import jsonable


def overridden(paths: Sequence[tuple[str, ...]], loaded: Loaded) -> dict[str, Any] | None:
    """`overriddenMetadata` of the first path whose effective value is not the user's, or None."""
    for path in paths:
        if _value(loaded.user.value, path) == _value(loaded.merged, path):
            continue
        layer = loaded.layer_of(*path)
        if layer is None:
            continue
        return {
            "message": _message(layer),
            "overridingLayer": {"name": layer.wire_source(), "version": layer.version},
            "effectiveValue": jsonable(_value(loaded.merged, path)),
        }
    return None


def _value(tree: Any, path: tuple[str, ...]) -> Any:
    return at(tree, path) if has(tree, path) else None


def _message(layer: Layer) -> str:
    match layer.kind:
        case "system":
            return f"Overridden by managed config (system): {layer.file}"
        case "cloud":
            return f"Overridden by enterprise-managed config: {layer.name}"
        case "project":
            return f"Overridden by project config: {layer.file}"
        case "user":
            return f"Overridden by user config: {layer.file}"
        case "thread":
            return "Overridden by session flags"
