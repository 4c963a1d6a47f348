"""What a JSON Schema asks for, as far as a form can ask it; the rest is asked for as raw JSON.

Schemas are foreign: only references into the same document are followed, and depth, references
and the number of fields are bounded. The constraints themselves are checked by
`tui.forms.checking`; what stands here decides only what a field looks like.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, cast

from tui.forms.reading import (
    Schema,
    between,
    count_of,
    object_of,
    range_hint,
    text_hint,
    text_of,
    texts_of,
    types_of,
)

Kind: TypeAlias = Literal[
    "text", "integer", "number", "choice", "choices", "object", "list", "const", "raw"
]

MOST_FIELDS = 80
MOST_NODES = 20_000
MOST_OPTIONS = 2_000
DEPTH = 4
HOPS = 16
_SECRET = re.compile(r"passw|secret|token$|api[-_]?key|credential", re.IGNORECASE)
_SIMPLE = frozenset({"text", "integer", "number", "choice", "raw", "const"})


class _Unset:
    """There is no value; null is one."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = _Unset()


@dataclass(frozen=True)
class Option:
    """One of a few values, and what it is called."""

    value: Any
    label: str


@dataclass(frozen=True)
class Member:
    """A member of an object."""

    name: str
    shape: Shape
    required: bool


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What one field asks for.

    Attributes:
        hint: What is expected, in a few words: `1 to 50`, `date`, `≤ 256`.
        default: `UNSET` when there is none.
        options: Of a choice, or of choices.
        members: Of an object.
        item: Of a list.
        least, most: Items of a list; None = no bound.
        secret: It is typed unseen.
    """

    kind: Kind
    title: str = ""
    about: str = ""
    hint: str = ""
    default: Any = UNSET
    nullable: bool = False
    options: tuple[Option, ...] = ()
    members: tuple[Member, ...] = ()
    item: Shape | None = None
    least: int = 0
    most: int | None = None
    secret: bool = False


class NoForm(Exception):
    """There can be no form; the text says why. The value is asked for as raw JSON."""


def shape_of(schema: Any) -> Shape:
    """The shape of an object to fill in: a tool's arguments, an answer.

    Raises:
        NoForm: It is no object's schema, is too large, or refers to what is not there.
    """
    if not isinstance(schema, dict):
        raise NoForm("the schema is no object")
    root = cast("Schema", schema)
    if larger_than(root, MOST_NODES):
        raise NoForm("the schema is too large for a form")
    try:
        return _Reader(root).root()
    except RecursionError:
        raise NoForm("the schema is nested too deeply for a form") from None


def larger_than(value: Any, most: int) -> bool:
    """More than `most` values stand in it, at any depth."""
    waiting: list[Any] = [value]
    count = 0
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            inner = list(cast("dict[str, Any]", one).values())
        elif isinstance(one, list):
            inner = cast("list[Any]", one)
        else:
            continue
        count += len(inner)
        if count > most:
            return True
        waiting.extend(inner)
    return False


class _Reader:
    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MOST_FIELDS

    def root(self) -> Shape:
        schema, _ = self._resolved(self._root, frozenset())
        if schema is None:
            raise NoForm("the schema refers to what is not there")
        if schema.get("type", "object") != "object":
            raise NoForm("the schema asks for no object")
        if object_of(schema.get("properties")):
            return self._object(schema, 0, frozenset())
        if any(key in schema for key in ("anyOf", "oneOf", "allOf", "patternProperties")):
            raise NoForm("the schema has no list of properties")
        return Shape(kind="object")

    def shape(self, schema: Any, depth: int, seen: frozenset[str], name: str = "") -> Shape:
        """Of any schema below the root; raw JSON where a form has nothing better."""
        if schema is True or schema == {}:
            return self._leaf(Shape(kind="raw", hint="any JSON"))
        known = cast("Schema", schema) if isinstance(schema, dict) else None
        resolved, seen = self._resolved(known, seen) if known is not None else (None, seen)
        if resolved is None:
            return self._leaf(Shape(kind="raw", hint="raw JSON"))
        shape = self._known(resolved, depth, seen, name)
        return replace(
            shape,
            title=text_of(resolved, "title") or shape.title,
            about=text_of(resolved, "description") or shape.about,
            default=resolved.get("default", shape.default),
        )

    def _known(self, schema: Schema, depth: int, seen: frozenset[str], name: str) -> Shape:
        if "const" in schema:
            value = schema["const"]
            return self._leaf(Shape(kind="const", options=(Option(value, label_of(value)),)))
        if options := _enum(schema):
            return self._leaf(Shape(kind="choice", options=options))
        for key in ("oneOf", "anyOf"):
            if isinstance(schema.get(key), list):
                return self._variants(schema, key, depth, seen, name)
        kinds, nullable = types_of(schema)
        if len(kinds) != 1:
            return self._leaf(Shape(kind="raw", hint="raw JSON", nullable=nullable))
        shape = self._typed(kinds[0], schema, depth, seen, name)
        return replace(shape, nullable=nullable)

    def _typed(
        self, kind: str, schema: Schema, depth: int, seen: frozenset[str], name: str
    ) -> Shape:
        match kind:
            case "string":
                secret = schema.get("format") == "password" or bool(_SECRET.search(name))
                return self._leaf(Shape(kind="text", hint=text_hint(schema), secret=secret))
            case "integer" | "number":
                word = "whole number" if kind == "integer" else "number"
                hint = range_hint(schema) or word
                return self._leaf(Shape(kind=cast("Kind", kind), hint=hint))
            case "boolean":
                return self._leaf(Shape(kind="choice", options=_YES_NO))
            case "null":
                return self._leaf(Shape(kind="const", options=(Option(None, "null"),)))
            case "array":
                return self._array(schema, depth, seen, name)
            case "object" if object_of(schema.get("properties")) and depth < DEPTH:
                return self._object(schema, depth, seen)
            case "object":
                return self._leaf(Shape(kind="raw", hint="JSON object"))
            case _:
                return self._leaf(Shape(kind="raw", hint="raw JSON"))

    def _object(self, schema: Schema, depth: int, seen: frozenset[str]) -> Shape:
        required = texts_of(schema.get("required"))
        members: list[Member] = []
        for name, inner in object_of(schema.get("properties")).items():
            if inner is False:
                continue
            shape = self.shape(inner, depth + 1, seen, name)
            members.append(Member(name, shape, name in required))
        return Shape(kind="object", members=tuple(members))

    def _array(self, schema: Schema, depth: int, seen: frozenset[str], name: str) -> Shape:
        items = schema.get("items")
        if isinstance(items, list) or "prefixItems" in schema or depth >= DEPTH:
            return self._leaf(Shape(kind="raw", hint="JSON list"))
        item = self.shape(items if items is not None else {}, depth + 1, seen, name)
        least, most = count_of(schema, "minItems") or 0, count_of(schema, "maxItems")
        hint = between(least or None, most)
        if item.kind == "choice" and not item.nullable:
            return Shape(kind="choices", options=item.options, hint=hint, least=least, most=most)
        if item.kind in _SIMPLE or item.kind == "object":
            return Shape(kind="list", item=item, hint=hint, least=least, most=most)
        return self._leaf(Shape(kind="raw", hint="JSON list"))

    def _variants(
        self, schema: Schema, key: str, depth: int, seen: frozenset[str], name: str
    ) -> Shape:
        """One of several: a choice of constants, a value or null; else raw JSON."""
        outer = {k: v for k, v in schema.items() if k not in (key, "title", "description")}
        found: list[tuple[Schema, frozenset[str]]] = []
        nullable = False
        for variant in cast("list[Any]", schema[key])[:MOST_OPTIONS]:
            known = cast("Schema", variant) if isinstance(variant, dict) else None
            one, inner = self._resolved(known, seen) if known is not None else (None, seen)
            if one is None:
                return self._leaf(Shape(kind="raw", hint="raw JSON"))
            if one.get("type") == "null" or one.get("const", UNSET) is None:
                nullable = True
            else:
                found.append((one, inner))
        if found and all("const" in one for one, _ in found):
            options = tuple(
                Option(one["const"], text_of(one, "title") or label_of(one["const"]))
                for one, _ in found
            )
            return self._leaf(Shape(kind="choice", options=options, nullable=nullable))
        if len(found) == 1 and depth < DEPTH:
            one, inner = found[0]
            return replace(self.shape({**outer, **one}, depth, inner, name), nullable=nullable)
        return self._leaf(Shape(kind="raw", hint="raw JSON", nullable=nullable))

    def _leaf(self, shape: Shape) -> Shape:
        self._left -= 1
        if self._left < 0:
            raise NoForm(f"more than {MOST_FIELDS} fields are too many for a form")
        return shape

    def _resolved(
        self, schema: Schema, seen: frozenset[str]
    ) -> tuple[Schema | None, frozenset[str]]:
        """With references and `allOf` put in; None for what refers elsewhere, or to itself."""
        for _ in range(HOPS):
            if "$ref" in schema:
                ref = schema["$ref"]
                target = self._target(ref) if isinstance(ref, str) and ref not in seen else None
                if target is None:
                    return None, seen
                seen |= {ref}
                schema = {**target, **{k: v for k, v in schema.items() if k != "$ref"}}
            elif isinstance(schema.get("allOf"), list):
                schema = _merged(schema)
            else:
                return schema, seen
        return None, seen

    def _target(self, ref: str) -> Schema | None:
        if not ref.startswith("#"):
            return None
        found: Any = self._root
        for part in ref[1:].split("/")[1:] if ref != "#" else []:
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict):
                return None
            found = cast("Schema", found).get(key)
        if ref != "#" and not ref.startswith("#/"):
            return None
        return cast("Schema", found) if isinstance(found, dict) else None


def _merged(schema: Schema) -> Schema:
    """`allOf` put into the schema itself, members of properties and required put together."""
    whole: dict[str, Any] = {}
    rest = {key: value for key, value in schema.items() if key != "allOf"}
    for part in (*cast("list[Any]", schema["allOf"]), rest):
        for key, value in object_of(part).items():
            if key == "properties":
                whole[key] = {**object_of(whole.get(key)), **object_of(value)}
            elif key == "required":
                whole[key] = [*texts_of(whole.get(key)), *texts_of(value)]
            else:
                whole[key] = value
    return whole


_YES_NO = (Option(True, "yes"), Option(False, "no"))


def label_of(value: Any) -> str:
    """A value as an option is called."""
    if isinstance(value, str):
        return value or '""'
    try:
        return json.dumps(value, ensure_ascii=False)[:80]
    except (ValueError, RecursionError):
        return "…"


def _enum(schema: Schema) -> tuple[Option, ...]:
    values = schema.get("enum")
    if not isinstance(values, list) or len(cast("list[Any]", values)) > MOST_OPTIONS:
        return ()
    names = schema.get("enumNames")
    labels = cast("list[Any]", names) if isinstance(names, list) else []
    options: list[Option] = []
    for at, value in enumerate(cast("list[Any]", values)):
        label = labels[at] if at < len(labels) and isinstance(labels[at], str) else ""
        options.append(Option(value, label or label_of(value)))
    return tuple(options)
