"""What pydantic refused, told as the real parser tells it.

That one stops at the first thing that does not fit, in the order of the document, and notices what
is missing at the end of an object. Pydantic collects everything, so the error that the other would
have met first is chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, cast, get_args, get_origin

from core.appserver.serde_text import (
    STRUCT_NAMES,
    classes,
    fits_integer,
    items,
    unexpected,
    unknown_variant,
    wrong_type,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails, ValidationError

_LAST = 1 << 62  # after every member of a document

_EXPECTED: Mapping[str, str] = {
    "string_type": "a string",
    "bool_type": "a boolean",
    "float_type": "f64",
    "list_type": "a sequence",
    "tuple_type": "a sequence",
    "dict_type": "a map",
}


def describe(error: ValidationError, raw: Any, kind: Any) -> str:
    """The refusal of `raw`, parsed JSON, as parameters of type `kind`."""
    first = min(error.errors(include_url=False), key=lambda detail: _position(raw, detail))
    return _say(first, kind)


def _position(raw: Any, detail: ErrorDetails) -> tuple[int, ...]:
    """Where the other parser would have met this error."""
    at: list[int] = []
    for step in detail["loc"]:
        if isinstance(raw, dict) and step in raw:
            members = cast("dict[str, Any]", raw)
            at.append(list(members).index(str(step)))
            raw = members[str(step)]
        elif isinstance(raw, list) and isinstance(step, int):
            at.append(step)
            raw = cast("list[Any]", raw)[step]
    if detail["type"] in ("missing", "union_tag_not_found"):
        at.append(_LAST)
    return tuple(at)


def _say(detail: ErrorDetails, kind: Any) -> str:
    value, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "missing":
            return f"missing field `{detail['loc'][-1]}`"
        case "union_tag_not_found":
            return f"missing field `{_names(context['discriminator'])[0]}`"
        case "union_tag_invalid":
            return unknown_variant(context["tag"], _names(context["expected_tags"]))
        case "literal_error" | "enum":
            return unknown_variant(value, _names(context["expected"]))
        case "value_error":
            return str(context["error"])
        case "greater_than_equal" | "less_than_equal" if fits_integer(value):
            name = _integer(_annotation(kind, detail["loc"]))
            return f"invalid value: {unexpected(value)}, expected {name}"
        case _:
            return wrong_type(value, _expected(detail, kind))


def _expected(detail: ErrorDetails, kind: Any) -> str:
    what = detail["type"]
    if what == "model_type":
        name = str(detail.get("ctx", {})["class_name"])
        return f"struct {STRUCT_NAMES.get(name, name)}"
    annotation = _annotation(kind, detail["loc"])
    if marked := next((str(note.what) for note in _notes(annotation, "what")), ""):
        return marked
    if what == "int_type":
        return _integer(annotation)
    return _EXPECTED.get(what, "any value")


def _names(listed: object) -> list[str]:
    """The names in pydantic's `'a', 'b' or 'c'`."""
    return re.findall(r"'([^']*)'", str(listed))


def _annotation(kind: Any, loc: tuple[int | str, ...]) -> Any:
    """The annotation at a place of a parameter type; tags of unions lead nowhere."""
    here = kind
    for step in loc:
        if isinstance(step, int):
            here = next(items(here), here)
            continue
        for field in _fields(here, step):
            here = Annotated[(field.annotation, *field.metadata, None)]
            break
    return here


def _fields(annotation: Any, alias: str) -> Iterator[Any]:
    for model in classes(annotation):
        fields: Mapping[str, Any] = getattr(model, "model_fields", {})
        yield from (field for field in fields.values() if field.alias == alias)


def _notes(annotation: Any, attribute: str) -> Iterator[Any]:
    """Metadata that has an attribute; what is said of a list's items is not said of the list."""
    if get_origin(annotation) is Annotated:
        for note in get_args(annotation)[1:]:
            for inner in (note, *getattr(note, "metadata", ())):
                if not isinstance(inner, type) and hasattr(inner, attribute):
                    yield inner
    if get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from _notes(part, attribute)


def _integer(annotation: Any) -> str:
    """`u32` and its like, from the limits of an annotation."""
    low = next((note.ge for note in _notes(annotation, "ge")), None)
    high = next((note.le for note in _notes(annotation, "le")), None)
    signed = low is None or low < 0
    wide = high is None or high > 2**32
    return ("i" if signed else "u") + ("64" if wide else "32")
