"""The shapes of what servers answer: known members are kept, others dropped, faults are named.

Members that a server left out stay out; a null where a value may be missing counts as left out.
Source: MCP 2025-06-18, schema; what Codex 0.171.0 keeps and refuses was observed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Check = Callable[[Any], Any]
Fields = Mapping[str, Check]


class Malformed(Exception):
    """`message` names the member and what is wrong with it, e.g. `inputSchema is missing`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise Malformed("is no text")


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise Malformed("is neither true nor false")


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise Malformed("is no number")


def _size(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise Malformed("is no size")


def _object(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value  # pyright: ignore[reportUnknownVariableType]
    raise Malformed("is no object")


def _one_of(*words: str) -> Check:
    def check(value: Any) -> str:
        if value in words:
            return value
        raise Malformed(f"is none of {', '.join(words)}")

    return check


def _list_of(item: Check) -> Check:
    def check(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise Malformed("is no list")
        return [item(each) for each in value]  # pyright: ignore[reportUnknownVariableType]

    return check


def _record(required: Fields, optional: Fields) -> Check:
    fields = {**required, **optional}

    def check(value: Any) -> dict[str, Any]:
        known = _object(value)
        kept: dict[str, Any] = {}
        for name, inner in fields.items():
            found = known.get(name)
            if found is None:
                if name in required:
                    raise Malformed(f"{name} is missing")
                continue
            try:
                kept[name] = inner(found)
            except Malformed as fault:
                joint = " " if fault.message.startswith("is ") else "."
                raise Malformed(f"{name}{joint}{fault.message}") from None
        return kept

    return check


_ICON = _record(
    {"src": _text},
    {"mimeType": _text, "sizes": _list_of(_text), "theme": _one_of("light", "dark")},
)
_ANNOTATIONS = _record(
    {},
    {
        "audience": _list_of(_one_of("user", "assistant")),
        "priority": _number,
        "lastModified": _text,
    },
)
_HINTS = _record(
    {},
    {
        "title": _text,
        "readOnlyHint": _flag,
        "destructiveHint": _flag,
        "idempotentHint": _flag,
        "openWorldHint": _flag,
    },
)

tool: Check = _record(
    {"name": _text, "inputSchema": _object},
    {
        "title": _text,
        "description": _text,
        "outputSchema": _object,
        "annotations": _HINTS,
        "icons": _list_of(_ICON),
        "_meta": _object,
    },
)
"""One entry of tools/list. Raises Malformed."""

_RESOURCE: Fields = {
    "title": _text,
    "description": _text,
    "mimeType": _text,
    "size": _size,
    "annotations": _ANNOTATIONS,
    "icons": _list_of(_ICON),
    "_meta": _object,
}

resource: Check = _record({"uri": _text, "name": _text}, _RESOURCE)
"""One entry of resources/list. Raises Malformed."""

template: Check = _record(
    {"uriTemplate": _text, "name": _text},
    {"title": _text, "description": _text, "mimeType": _text, "annotations": _ANNOTATIONS},
)
"""One entry of resources/templates/list. Raises Malformed."""

prompt: Check = _record(
    {"name": _text},
    {
        "title": _text,
        "description": _text,
        "arguments": _list_of(
            _record({"name": _text}, {"title": _text, "description": _text, "required": _flag})
        ),
        "_meta": _object,
    },
)
"""One entry of prompts/list. Raises Malformed."""

_INFO = _record(
    {"name": _text, "version": _text},
    {"title": _text, "description": _text, "icons": _list_of(_ICON), "websiteUrl": _text},
)
_LIST_CHANGED = _record({}, {"listChanged": _flag})
_CAPABILITIES = _record(
    {},
    {
        "experimental": _object,
        "extensions": _object,
        "logging": _object,
        "completions": _object,
        "prompts": _LIST_CHANGED,
        "resources": _record({}, {"subscribe": _flag, "listChanged": _flag}),
        "tools": _LIST_CHANGED,
    },
)


def server_info(value: Any) -> dict[str, Any]:
    """`serverInfo` of an initialize answer. Raises Malformed."""
    return _INFO(value)


def capabilities(value: Any) -> dict[str, Any]:
    """`capabilities` of an initialize answer. Raises Malformed."""
    return _CAPABILITIES(value)


_CONTENTS = {"uri": _text}
_TEXT_CONTENTS = _record({**_CONTENTS, "text": _text}, {"mimeType": _text, "_meta": _object})
_BLOB_CONTENTS = _record({**_CONTENTS, "blob": _text}, {"mimeType": _text, "_meta": _object})


def contents(value: Any) -> dict[str, Any]:
    """One entry of a resources/read answer, text or blob. Raises Malformed."""
    known = _object(value)
    if known.get("text") is not None:
        return _TEXT_CONTENTS(known)
    if known.get("blob") is not None:
        return _BLOB_CONTENTS(known)
    raise Malformed("text or blob is missing")


_MARKED: Fields = {"annotations": _ANNOTATIONS, "_meta": _object}
_MEDIA = {"type": _text, "data": _text, "mimeType": _text}
_BLOCKS: dict[str, Check] = {
    "text": _record({"type": _text, "text": _text}, _MARKED),
    "image": _record(_MEDIA, _MARKED),
    "audio": _record(_MEDIA, _MARKED),
    "resource": _record({"type": _text, "resource": contents}, _MARKED),
    "resource_link": _record({"type": _text, "uri": _text, "name": _text}, _RESOURCE),
}


def block(value: Any) -> dict[str, Any]:
    """One content block of a tools/call answer. Raises Malformed."""
    known = _object(value)
    check = _BLOCKS.get(known.get("type", ""))
    if check is None:
        raise Malformed("type is none that we know")
    return check(known)


def call_result(value: Any) -> dict[str, Any]:
    """The result of tools/call: `content` always, the rest as it was sent. Raises Malformed."""
    known = _object(value)
    if known.get("content") is None and "structuredContent" not in known:
        raise Malformed("content is missing")
    kept: dict[str, Any] = {"content": _list_of(block)(known.get("content") or [])}
    if "structuredContent" in known:
        kept["structuredContent"] = known["structuredContent"]
    kept.update(_record({}, {"isError": _flag, "_meta": _object})(known))
    return kept


def read_result(value: Any) -> list[dict[str, Any]]:
    """The contents of a resources/read answer. Raises Malformed."""
    return _record({"contents": _list_of(contents)}, {})(value)["contents"]


_MESSAGE = _record({"role": _text, "content": block}, {})


def prompt_result(value: Any) -> dict[str, Any]:
    """The result of prompts/get: `messages`, and a `description` if any. Raises Malformed."""
    return _record({"messages": _list_of(_MESSAGE)}, {"description": _text})(value)
