"""From the text of `params` to a method's parameters, or to the refusal that the wire needs."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import msgspec

from core.appserver.serde_text import classes, positional, struct_name, wrong_type
from core.errors import InvalidRequest
from core.methods import Method


class NotJson(Exception):
    """The text is no JSON that the other side's parser would take: the line gets no answer."""


def parse_params(method: Method[Any, Any], text: bytes) -> Any:
    """Parameters of a request.

    Args:
        method: Whose parameters they are.
        text: JSON; b"" when the member is missing.

    Raises:
        InvalidRequest: They do not fit; the message says why in the real one's words.
        NotJson: No answer at all.
    """
    kind = method.params
    text = text.strip()
    if text in (b"", b"null"):
        if not method.params_optional:
            raise _refused("missing field `params`")
        return kind()
    members = _members(kind)
    if method.params_optional and not members:
        if (raw := _plain(text)) != {}:
            raise _refused(wrong_type(raw, "unit"))
        return kind()
    if text.startswith(b"[") and members:
        fitted = positional(_plain(text), struct_name(kind), members)
        if isinstance(fitted, str):
            raise _refused(fitted)
        text = json.dumps(fitted).encode()
    return _struct(kind, text) if _is_struct(kind) else _model(kind, text)


def _struct(kind: type[Any], text: bytes) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        from core.appserver.refused_msgspec import describe

        raise _refused(describe(error, _plain(text), kind)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise NotJson from error


def _model(kind: Any, text: bytes) -> Any:
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_json(text, by_alias=True, by_name=False)
    except ValidationError as error:
        if error.errors(include_url=False, include_context=False)[0]["type"] == "json_invalid":
            raise NotJson from error
        from core.appserver.refused_pydantic import describe

        raise _refused(describe(error, _plain(text), kind)) from None


@cache
def _adapter(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@cache
def _members(kind: Any) -> tuple[tuple[str, bool], ...]:
    """Wire names in order, each with whether an array may end before it."""
    if _is_struct(kind):
        return tuple(
            (field.encode_name, not field.required and type(None) not in classes(field.type))
            for field in msgspec.structs.fields(kind)
        )
    fields: dict[str, Any] = getattr(kind, "model_fields", {})
    return tuple(
        (
            field.alias or name,
            not field.is_required() and type(None) not in classes(field.annotation),
        )
        for name, field in fields.items()
    )


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _plain(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotJson from error


def _refused(text: str) -> InvalidRequest:
    return InvalidRequest(f"Invalid request: {text}")
