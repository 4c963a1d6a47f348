"""What msgspec refused, told as the real parser tells it; both stop at the same place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec.structs import fields

from core.appserver.serde_text import classes, items, struct_name, unknown_variant, wrong_type

_PLACE = re.compile(r" - at `\$(?P<path>[^`]*)`$")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]")
_EXPECTED = {
    "str": "a string",
    "bool": "a boolean",
    "int": "i64",
    "float": "f64",
    "array": "a sequence",
}


def describe(error: msgspec.ValidationError, raw: Any, kind: type[Any]) -> str:
    """The refusal of `raw`, parsed JSON, as parameters of type `kind`."""
    message = str(error)
    value, here = _at(_PLACE.search(message), raw, kind)
    if missing := re.match(r"Object missing required field `([^`]+)`", message):
        return f"missing field `{missing[1]}`"
    if message.startswith("Invalid enum value "):
        return unknown_variant(value, list(_literals(here)))
    wanted = re.match(r"Expected `([a-z]+)[^`]*`, got", message)
    if wanted is None:
        return _PLACE.sub("", message)
    if wanted[1] != "object":
        return wrong_type(value, _EXPECTED.get(wanted[1], "any value"))
    struct = next((one for one in classes(here) if issubclass(one, msgspec.Struct)), None)
    return wrong_type(value, f"struct {struct_name(struct)}" if struct else "a map")


def _at(place: re.Match[str] | None, raw: Any, kind: Any) -> tuple[Any, Any]:
    """The value at a place of the document, and the annotation that it did not fit."""
    for name, index in _STEP.findall(place["path"] if place else ""):
        if name:
            raw, kind = raw[name], _member(kind, name)
        else:
            raw, kind = raw[int(index)], next(items(kind), kind)
    return raw, kind


def _member(kind: Any, name: str) -> Any:
    for struct in classes(kind):
        if issubclass(struct, msgspec.Struct):
            for field in fields(struct):
                if field.encode_name == name:
                    return field.type
    return kind


def _literals(annotation: Any) -> Iterator[str]:
    for part in get_args(annotation):
        if isinstance(part, str):
            yield part
        else:
            yield from _literals(part)
