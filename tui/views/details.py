"""Careful reading of the free JSON that detail requests bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

JsonObject = Mapping[str, Any]


def items_of(value: object) -> list[JsonObject]:
    """The objects of a JSON list; a plain text becomes an object with a `name`."""
    if isinstance(value, Mapping):
        named = cast("Mapping[str, Any]", value)
        return [{"name": key, **object_of(entry)} for key, entry in named.items()]
    if not isinstance(value, list):
        return []
    entries = cast("list[object]", value)
    return [object_of(entry) or {"name": str(entry)} for entry in entries]


def object_of(value: object) -> JsonObject:
    """A JSON object; {} for anything else."""
    return cast("JsonObject", value) if isinstance(value, Mapping) else {}


def text_of(source: JsonObject, *keys: str) -> str:
    """The first of the members that is a text or a number, as text; ""."""
    for key in keys:
        value = source.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return f"{value:g}"
    return ""


def texts_of(value: object) -> list[str]:
    """The texts of a JSON list; [] for anything else."""
    if not isinstance(value, list):
        return []
    return [str(entry) for entry in cast("list[object]", value)]


def numbers_of(value: object) -> list[float]:
    """The numbers of a JSON list; [] for anything else."""
    if not isinstance(value, list):
        return []
    entries = cast("list[object]", value)
    return [
        float(entry)
        for entry in entries
        if isinstance(entry, int | float) and not isinstance(entry, bool)
    ]
