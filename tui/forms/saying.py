"""What a validation error says to a person: a few words, below its field."""

from __future__ import annotations

import json
from typing import Any, Final, cast

MOST = 120
_KINDS: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_BOUNDS: Final = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "exclusiveMinimum": "must be more than {}",
    "exclusiveMaximum": "must be less than {}",
    "multipleOf": "must be a multiple of {}",
    "minLength": "must have at least {} characters",
    "maxLength": "must have at most {} characters",
    "minItems": "must have at least {} items",
    "maxItems": "must have at most {} items",
    "minProperties": "must have at least {} members",
    "maxProperties": "must have at most {} members",
    "const": "must be {}",
    "uniqueItems": "two of its items are the same",
    "anyOf": "fits none of the shapes that it may have",
    "not": "has a shape that it may not have",
}


def fault_text(error: Any) -> str:
    """Of an error of jsonschema, or of our own keywords."""
    said = cast("str", error.message) if error.cause is not None else _said(error)
    return said if len(said) <= MOST else f"{said[: MOST - 1]}…"


def _said(error: Any) -> str:
    keyword, wanted = str(error.validator), error.validator_value
    if keyword in _BOUNDS:
        return _BOUNDS[keyword].format(_short(wanted))
    match keyword:
        case "type":
            kinds = cast("list[Any]", wanted) if isinstance(wanted, list) else [wanted]
            return f"must be {' or '.join(_KINDS.get(str(kind), str(kind)) for kind in kinds)}"
        case "enum":
            return f"must be one of {', '.join(_short(one) for one in list(wanted)[:12])}"
        case "oneOf":
            many = not error.context
            which = "more than one" if many else "none"
            return f"fits {which} of the shapes that it may have"
        case "additionalProperties" | "None":
            return "is not known to it"
        case _:
            return str(error.message)


def _short(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):
        return "…"
    return text if len(text) <= 60 else f"{text[:59]}…"
