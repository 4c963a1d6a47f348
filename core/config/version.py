"""The version of a layer: a hash of what it says, not of how it is written."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, cast

from core.config.serde import temporal_text

_TEMPORAL = (datetime.datetime, datetime.date, datetime.time)


def version_of(value: Mapping[str, Any]) -> str:
    """`sha256:` and the hash of the compact JSON with sorted keys, as Codex makes it."""
    try:
        text = json.dumps(
            value,
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
            default=_refuse,
        )
    except (_Unusual, ValueError):
        text = _canonical(value)
    if "." in text or "e" in text:
        # Floats are spelt differently there; only then is the slow way needed.
        text = _canonical(value) if _has_float(value) else text
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class _Unusual(TypeError):
    """Something that JSON does not know."""


def _refuse(value: Any) -> Any:
    raise _Unusual


def _has_float(value: Any) -> bool:
    level: list[Any] = [value]
    while level:
        following: list[Any] = []
        for parent in level:
            if type(parent) is float:
                return True
            if type(parent) is dict:
                following.extend(cast("dict[str, Any]", parent).values())
            elif type(parent) is list:
                following.extend(cast("list[Any]", parent))
        level = following
    return False


def _canonical(value: Any) -> str:
    if type(value) is dict:
        table = cast("dict[str, Any]", value)
        pairs = (f"{_text(key)}:{_canonical(table[key])}" for key in sorted(table))
        return "{" + ",".join(pairs) + "}"
    if type(value) is list:
        return "[" + ",".join(_canonical(item) for item in cast("list[Any]", value)) + "]"
    if type(value) is float:
        return json_float(value)
    if isinstance(value, _TEMPORAL):
        return '{"$__toml_private_datetime":' + _text(temporal_text(value)) + "}"
    return json.dumps(value, ensure_ascii=False)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_float(value: float) -> str:
    """A float as serde_json writes it: `1e+16`, `0.00001`, `1e-7`; null for what is no number."""
    if not math.isfinite(value):
        return "null"
    text = repr(value)
    if "e" not in text:
        return text
    mantissa, _, exponent = text.partition("e")
    if int(exponent) == -5:
        return format(Decimal(text), "f")
    return f"{mantissa}e{int(exponent):+d}"


def jsonable(value: Any) -> Any:
    """A TOML value as JSON: dates in the `toml` crate's private spelling, NaN as null."""
    if type(value) is dict:
        return {key: jsonable(member) for key, member in cast("dict[str, Any]", value).items()}
    if type(value) is list:
        return [jsonable(item) for item in cast("list[Any]", value)]
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, _TEMPORAL):
        return {"$__toml_private_datetime": temporal_text(value)}
    return value
