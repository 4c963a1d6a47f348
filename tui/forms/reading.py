"""Members of foreign schemas, taken as what they should be, and the hints made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, cast

Schema: TypeAlias = Mapping[str, Any]


def types_of(schema: Schema) -> tuple[list[str], bool]:
    """The types it names besides null, and whether null is allowed."""
    kind = schema.get("type")
    nullable = schema.get("nullable") is True
    if isinstance(kind, list):
        kinds = [one for one in cast("list[Any]", kind) if isinstance(one, str)]
        if "null" in kinds and len(kinds) > 1:
            return [one for one in kinds if one != "null"], True
        return kinds, nullable
    if isinstance(kind, str):
        return [kind], nullable
    return (["object"], nullable) if object_of(schema.get("properties")) else ([], nullable)


def text_hint(schema: Schema) -> str:
    """What a text is to be like."""
    least, most = count_of(schema, "minLength"), count_of(schema, "maxLength")
    words = (text_of(schema, "format"), between(least or None, most))
    return ", ".join(word for word in words if word)


def range_hint(schema: Schema) -> str:
    """What a number is to be like."""
    least, most = _figure(schema, "minimum"), _figure(schema, "maximum")
    if least is None and most is None:
        above, below = _figure(schema, "exclusiveMinimum"), _figure(schema, "exclusiveMaximum")
        words = (f"> {above}" if above else "", f"< {below}" if below else "")
        return ", ".join(word for word in words if word)
    return between(least, most)


def between(least: object, most: object) -> str:
    """`1 to 50`, `≥ 1`, `≤ 256`, or ""."""
    if least is not None and most is not None:
        return f"{least} to {most}"
    if least is not None:
        return f"≥ {least}"
    return f"≤ {most}" if most is not None else ""


def _figure(schema: Schema, key: str) -> str | None:
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return f"{value:g}" if isinstance(value, float) else str(value)[:20]


def count_of(schema: Schema, key: str) -> int | None:
    """A count that is not below zero."""
    value = schema.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < 1 << 53 else None


def text_of(schema: Schema, key: str) -> str:
    """A text, or ""."""
    value = schema.get(key)
    return value if isinstance(value, str) else ""


def texts_of(value: Any) -> list[str]:
    """The texts of a list."""
    if not isinstance(value, list):
        return []
    return [one for one in cast("list[Any]", value) if isinstance(one, str)]


def object_of(value: Any) -> dict[str, Any]:
    """An object, or {}."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
