"""elicitation/create: what a server may ask a person, and what is answered without asking.

Source: MCP 2025-06-18 "Elicitation"; the grammar of forms and the answers given without asking
were observed in Codex 0.171.0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from core.mcp.shapes import Malformed

UNPARSABLE = "data did not match any variant of untagged enum ElicitRequestParamsWire"
Action = Literal["accept", "decline", "cancel"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of a server, parsed and written out again from what was understood.

    Attributes:
        schema: Of a form; None for a page.
        url, elicitation_id: Of a page; None for a form.
        meta: Without `progressToken`; None when nothing is left.
    """

    message: str
    schema: dict[str, Any] | None = None
    url: str | None = None
    elicitation_id: str | None = None
    meta: dict[str, Any] | None = None

    @property
    def mode(self) -> Literal["form", "url"]:
        return "url" if self.schema is None else "form"

    @property
    def mere_permission(self) -> bool:
        """A form without fields: only yes or no is asked."""
        return self.schema is not None and not self.schema["properties"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the person, or a rule, said. `content` counts for `accept` only."""

    action: Action
    content: Any = None
    meta: Any = None

    def result(self) -> dict[str, Any]:
        """As the server gets it."""
        value: dict[str, Any] = {"action": self.action}
        if self.action == "accept":
            value["content"] = {} if self.content is None else self.content
        if self.meta is not None:
            value["_meta"] = self.meta
        return value


@dataclass(frozen=True, kw_only=True)
class Approvals:
    """What a thread lets servers ask.

    Attributes:
        ask: Questions reach the person at all.
        full_access: The sandbox is off; permissions are then given without asking.
    """

    ask: bool = True
    full_access: bool = False

    def settled(self, question: Question) -> Answer | None:
        """The answer that needs no person, or None when one must be asked."""
        if self.ask:
            return None
        if self.full_access and question.mere_permission:
            return Answer(action="accept")
        return Answer(action="decline")


class Asker(Protocol):
    """Puts a question to a person and waits for as long as it takes."""

    async def ask(self, server: str, environment_id: str | None, question: Question) -> Answer: ...


class NotAskable(Exception):
    """Understood, but not in a form that clients take; answered with `cancel`."""


def parse(params: dict[str, Any]) -> Question:
    """A question from the parameters of elicitation/create.

    Raises:
        Malformed: No form or page of the protocol; to be answered with −32602 and `UNPARSABLE`.
        NotAskable: The form has a title or text of its own, for which clients have no place.
    """
    message = _text(params.get("message"))
    meta = _object(params.get("_meta") or {})
    kept = {name: value for name, value in meta.items() if name != "progressToken"} or None
    if params.get("mode") == "url":
        url, elicitation_id = params.get("url"), params.get("elicitationId")
        if not isinstance(url, str) or not isinstance(elicitation_id, str):
            raise Malformed("url or elicitationId is missing")
        return Question(message=message, url=url, elicitation_id=elicitation_id, meta=kept)
    schema, extra = _form(params.get("requestedSchema"))
    if extra:
        raise NotAskable("the form has a title or description of its own")
    return Question(message=message, schema=schema, meta=kept)


def _form(value: Any) -> tuple[dict[str, Any], bool]:
    source = _object(value)
    properties = source.get("properties")
    if source.get("type") != "object" or not isinstance(properties, dict):
        raise Malformed("requestedSchema is no object schema")
    fields = cast("dict[str, Any]", properties)
    form: dict[str, Any] = {}
    if source.get("$schema") is not None:
        form["$schema"] = _text(source["$schema"])
    form["type"] = "object"
    form["properties"] = {name: _field(field) for name, field in fields.items()}
    if source.get("required") is not None:
        form["required"] = _texts(source["required"])
    return form, any(source.get(name) is not None for name in ("title", "description"))


def _field(value: Any) -> dict[str, Any]:
    source = _object(value)
    kind = source.get("type")
    make = _KINDS.get(kind) if isinstance(kind, str) else None
    if make is None:
        raise Malformed("a field is of no kind that forms have")
    field: dict[str, Any] = {"type": kind}
    _copy(source, field, {"title": _text, "description": _text})
    make(source, field)
    return field


def _copy(
    source: dict[str, Any], field: dict[str, Any], members: dict[str, Callable[[Any], Any]]
) -> None:
    for name, check in members.items():
        if source.get(name) is not None:
            field[name] = check(source[name])


def _string(source: dict[str, Any], field: dict[str, Any]) -> None:
    if (options := _options(source.get("oneOf"))) is not None:
        field["oneOf"] = options
    elif _all_texts(source.get("enum")):
        field["enum"] = source["enum"]
        if _all_texts(source.get("enumNames")):
            field["enumNames"] = source["enumNames"]
    else:
        _copy(source, field, {"minLength": _count, "maxLength": _count, "format": _format})
    _copy(source, field, {"default": _text})


def _array(source: dict[str, Any], field: dict[str, Any]) -> None:
    _copy(source, field, {"minItems": _count, "maxItems": _count})
    items = _object(source.get("items"))
    titled = items.get("anyOf") if items.get("anyOf") is not None else items.get("oneOf")
    if (options := _options(titled)) is not None:
        field["items"] = {"anyOf": options}
    elif items.get("type") == "string" and _all_texts(items.get("enum")):
        field["items"] = {"type": "string", "enum": items["enum"]}
    else:
        raise Malformed("a list field names no choices")
    _copy(source, field, {"default": _texts})


def _number(source: dict[str, Any], field: dict[str, Any]) -> None:
    _copy(source, field, dict.fromkeys(("minimum", "maximum", "default"), _float))


def _integer(source: dict[str, Any], field: dict[str, Any]) -> None:
    _copy(source, field, dict.fromkeys(("minimum", "maximum", "default"), _int))


def _boolean(source: dict[str, Any], field: dict[str, Any]) -> None:
    _copy(source, field, {"default": _bool})


_KINDS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "string": _string,
    "array": _array,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}


def _options(value: Any) -> list[dict[str, str]] | None:
    if not isinstance(value, list):
        return None
    options: list[dict[str, str]] = []
    for item in cast("list[Any]", value):
        if not isinstance(item, dict):
            return None
        known = cast("dict[str, Any]", item)
        const, title = known.get("const"), known.get("title")
        if not isinstance(const, str) or not isinstance(title, str):
            return None
        options.append({"const": const, "title": title})
    return options


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    raise Malformed("an object is missing")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Malformed("a text is missing")


def _all_texts(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[Any]", value)
    )


def _texts(value: Any) -> list[str]:
    if _all_texts(value):
        return value
    raise Malformed("a list of texts is missing")


def _bool(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Malformed("true or false is missing")


def _int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise Malformed("a whole number is missing")


def _float(value: Any) -> float:
    return float(value) if isinstance(value, float) else float(_int(value))


def _count(value: Any) -> int:
    if _int(value) < 0:
        raise Malformed("a count is below zero")
    return value


def _format(value: Any) -> str:
    if value in ("email", "uri", "date", "date-time"):
        return value
    raise Malformed("format is none that forms have")
