"""Schemas for tests: sound ones of every kind, and what strangers send instead."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "token", "name with blank", "数", "$ref", "x/y~z"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def _with(base: dict[str, Any], **optional: Any) -> Any:
    return st.fixed_dictionaries({k: st.just(v) for k, v in base.items()}, optional=optional)


LEAVES = st.one_of(
    _with(
        {"type": "string"},
        minLength=st.integers(0, 3),
        maxLength=st.integers(3, 20),
        pattern=st.sampled_from(["^[a-z]*$", "(a+)+$", "["]),
        format=st.sampled_from(["date", "email", "uri", "date-time", "password", "odd"]),
        default=st.text(max_size=5),
        title=st.text(max_size=5),
    ),
    _with({"type": "integer"}, minimum=st.integers(-5, 0), maximum=st.integers(1, 99)),
    _with({"type": "number"}, exclusiveMinimum=st.integers(-5, 0), multipleOf=st.just(0.5)),
    _with({"type": "boolean"}, default=st.booleans()),
    _with({"type": "null"}),
    _with({"type": ["string", "null"]}),
    _with({"type": ["string", "integer"]}),
    st.just({"enum": ["low", "normal", 3, None]}),
    st.just({"const": "fixed"}),
    st.just({"oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]}),
    st.just({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
    st.just({"anyOf": [{"type": "integer"}, {"type": "object"}]}),
    st.just({"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": True}),
    st.just({"$ref": "#/$defs/leaf"}),
    st.just({"$ref": "https://example.com/schema"}),
    st.just({"allOf": [{"type": "string"}, {"maxLength": 4}]}),
    st.just({}),
    st.just(True),
)


def objects(inner: Any) -> Any:
    return st.dictionaries(NAMES, inner, max_size=4).flatmap(
        lambda members: st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.just(members)},
            optional={
                "required": st.lists(st.sampled_from([*members, "z"]), unique=True, max_size=2)
            },
        )
    )


NESTED = st.recursive(
    LEAVES,
    lambda inner: (
        objects(inner) | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
    ),
    max_leaves=6,
)
DEFS = {"leaf": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}}
SOUND = objects(NESTED).map(lambda schema: {**schema, "$defs": DEFS})

# Members that mean something, holding anything.
KEYS = st.sampled_from(
    ["type", "properties", "required", "items", "enum", "const", "oneOf", "anyOf", "allOf", "$ref"]
    + ["default", "title", "description", "minLength", "maximum", "pattern", "format", "minItems"]
    + ["$schema", "$id", "$defs", "patternProperties", "additionalProperties", "uniqueItems"]
)
HOSTILE = st.recursive(
    JSON | st.sampled_from(["object", "string", "array", "#", "#/properties/a", "http://x/y"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
