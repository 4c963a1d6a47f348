from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given

from tests.tui.forms.schemas import HOSTILE, JSON
from tui.forms.checking import Checked, Fault, check
from tui.forms.formats import format_fault


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": "integer"}, "x", "must be a whole number"),
        ({"type": ["string", "null"]}, 1, "must be a text or null"),
        ({"minimum": 3}, 2, "must be at least 3"),
        ({"exclusiveMaximum": 3}, 3, "must be less than 3"),
        ({"maxLength": 2}, "abc", "must have at most 2 characters"),
        ({"enum": ["a", 1]}, 2, "must be one of a, 1"),
        ({"const": 5}, 6, "must be 5"),
        ({"pattern": "^a"}, "b", "does not match ^a"),
        ({"pattern": "^" + "a" * 300}, "b", "does not match ^" + "a" * 103 + "…"),
        ({"format": "date"}, "2026-13-01", "month must be 1 to 12"),
        (
            {"anyOf": [{"type": "null"}, {"type": "string"}]},
            1,
            "fits none of the shapes that it may have",
        ),
        ({"oneOf": [{}, {}]}, 1, "fits more than one of the shapes that it may have"),
        ({"oneOf": [{"type": "null"}]}, 1, "fits none of the shapes that it may have"),
        ({"uniqueItems": True}, [1, 1], "two of its items are the same"),
        ({"minItems": 2}, [1], "must have at least 2 items"),
    ],
)
def test_a_fault_is_said_in_a_few_words(schema: Any, value: Any, fault: str) -> None:
    assert check(schema, value) == Checked((Fault((), fault),))


def test_faults_stand_at_their_place() -> None:
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {"b": {"type": "array", "items": {"type": "integer"}}},
        "additionalProperties": False,
        "patternProperties": {"^x-": {"type": "string"}},
    }
    checked = check(schema, {"b": [1, "two"], "c": 1, "x-a": 2})
    assert {fault.path: fault.text for fault in checked.faults} == {
        ("a",): "required",
        ("b", 1): "must be a whole number",
        ("c",): "is not known to it",
        ("x-a",): "must be a text",
    }


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"$ref": "#"}, "takes too long"),
        ({"$ref": "http://127.0.0.1:9/schema"}, "refers to what is not in it"),
        ({"$ref": "#/$defs/none"}, "refers to what is not in it"),
        ({"type": "objct"}, "the schema itself is wrong: type"),
        ({"minimum": "a"}, "the schema itself is wrong: minimum must be a number"),
        ("x", "the schema itself is wrong"),
        ({"enum": [str(n) for n in range(600_000)]}, "too large"),
        ({"pattern": r"(a)\1"}, "a pattern cannot be checked here"),
        ({"pattern": 5}, "the schema itself is wrong"),
    ],
)
def test_what_cannot_be_checked_is_said(schema: Any, said: str) -> None:
    checked = check(schema, "aa")
    assert said in checked.unchecked and checked.faults == ()


@pytest.mark.parametrize(
    "schema",
    [
        {
            "$defs": {
                **{f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(40)},
                "a40": {"type": "array"},
            },
            "$ref": "#/$defs/a0",
        },
        {"items": {"pattern": "(a+)+$"}},
        {"uniqueItems": True},
        {"items": {"patternProperties": {"(a+)+$": {}}}},
    ],
)
def test_no_schema_takes_for_ever(schema: Any) -> None:
    value = [{"a" * 40 + "!": n} for n in range(5_000)] + ["a" * 40 + "!"] * 5_000
    began = time.process_time()
    check(schema, value)
    assert time.process_time() - began < 10


def test_older_drafts_keep_their_own_rules() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"n": {"type": "integer"}},
        "properties": {"a": {"$ref": "#/definitions/n"}, "b": {"items": [{"type": "null"}]}},
    }
    checked = check(schema, {"a": "x", "b": [1]})
    assert [fault.path for fault in checked.faults] == [("a",), ("b", 0)]


@given(HOSTILE, JSON)
def test_any_schema_gives_an_answer(schema: Any, value: Any) -> None:
    checked = check(schema, value)
    assert all(len(fault.text) <= 120 for fault in checked.faults)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", "2026-02-28", "2026-02-30"),
        ("date-time", "2026-02-28T10:00:00Z", "2026-02-28T10:00:00"),
        ("date-time", "2026-12-31T23:59:60Z", "2026-12-31T25:00:00Z"),
        ("time", "10:00:00+02:00", "10:00"),
        ("email", "a@b.c", "a b@c"),
        ("uri", "https://a.example/x?y=1", "a.example"),
        ("ipv4", "127.0.0.1", "127.0.0.256"),
        ("ipv6", "::1", "1"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
    ],
)
def test_formats(name: str, good: str, bad: str) -> None:
    assert format_fault(name, good) == ""
    assert format_fault(name, bad)
    assert format_fault("unknown", bad) == ""
