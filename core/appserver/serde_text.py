"""The real app-server's words for parameters that it refuses. Observed in Codex 0.171.0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

_U64 = 2**64 - 1
_I64 = -(2**63)

STRUCT_NAMES = {
    "AccountReadParams": "GetAccountParams",
    "AppInstalledParams": "AppsInstalledParams",
    "AppListParams": "AppsListParams",
    "AppReadParams": "AppsReadParams",
    "McpServerResourceReadParams": "McpResourceReadParams",
    "McpServerStatusListParams": "ListMcpServerStatusParams",
}
"""What the real one calls a type where our name for it is another."""


def struct_name(kind: type[Any]) -> str:
    """The name that error texts have for a type."""
    return STRUCT_NAMES.get(kind.__name__, kind.__name__)


def debug_string(text: str) -> str:
    """A string in quotes, escaped as Rust's debug form does."""
    out = ['"']
    for char in text:
        match char:
            case '"' | "\\":
                out.append("\\" + char)
            case "\n" | "\r" | "\t":
                out.append({"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char])
            case "\0":
                out.append("\\0")
            case _ if not char.isprintable():
                out.append(f"\\u{{{ord(char):x}}}")
            case _:
                out.append(char)
    return "".join(out) + '"'


def unexpected(value: Any) -> str:
    """How a value of the wrong type is named."""
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{'true' if value else 'false'}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value!r}`"
        case str():
            return f"string {debug_string(value)}"
        case list():
            return "sequence"
        case _:
            return "map"


def fits_integer(value: int) -> bool:
    """The real parser's integers end at 64 bits; it stumbles over longer ones."""
    return _I64 <= value <= _U64


def wrong_type(value: Any, expected: str) -> str:
    """`invalid type: …, expected …`."""
    if type(value) is int and not fits_integer(value):
        sign = "u" if value > 0 else "i"
        return f"invalid type: integer `{value}` as {sign}128, expected any value"
    return f"invalid type: {unexpected(value)}, expected {expected}"


def unknown_variant(value: Any, names: Sequence[str]) -> str:
    """A value that is none of an enumeration's names."""
    if not isinstance(value, str):
        return wrong_type(value, "string or map")
    quoted = [f"`{name}`" for name in names]
    listed = " or ".join(quoted) if len(quoted) < 3 else "one of " + ", ".join(quoted)
    return f"unknown variant `{value}`, expected {listed}"


def positional(
    raw: Sequence[Any], name: str, members: Sequence[tuple[str, bool]]
) -> dict[str, Any] | str:
    """An array in place of an object, which the real parser takes when it is long enough.

    Args:
        raw: The array.
        name: Of the parameter type.
        members: Wire names in order, each with whether an array may end before it.

    Returns:
        The object, or the text of the refusal.
    """
    count = f"{len(members)} element" + ("" if len(members) == 1 else "s")
    if len(raw) > len(members):
        return f"invalid length {len(raw)}, expected {count} in sequence"
    if any(not optional for _, optional in members[len(raw) :]):
        return f"invalid length {len(raw)}, expected struct {name} with {count}"
    return dict(zip((member for member, _ in members), raw, strict=False))


def classes(annotation: Any) -> Iterator[type[Any]]:
    """The classes that an annotation allows, `NoneType` among them."""
    if annotation is None:
        yield type(None)
    elif isinstance(annotation, type):
        yield annotation
    elif get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from classes(part)


def items(annotation: Any) -> Iterator[Any]:
    """Item types of the lists that an annotation allows."""
    if get_origin(annotation) in (list, tuple):
        yield from get_args(annotation)[:1]
    elif get_origin(annotation) in (Annotated, Union, UnionType):
        for part in get_args(annotation):
            yield from items(part)
