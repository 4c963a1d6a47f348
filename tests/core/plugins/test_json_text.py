"""Faults of JSON texts, in the words and at the places of serde_json (observed in Codex 0.171.0)."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.plugins.json_shape import (
    ANY,
    SKIPPED,
    TEXT,
    Items,
    Maybe,
    Record,
    Word,
    read_exactly,
)
from core.plugins.json_text import describe, quoted
from core.plugins.json_tokens import JsonFault

FAULTS = [
    (b"", "EOF while parsing a value", 1, 0),
    (b"  \n ", "EOF while parsing a value", 2, 1),
    (b'{"a":1}}', "trailing characters", 1, 8),
    (b'{"a" 1}', "expected `:`", 1, 6),
    (b'{"a":1,}', "trailing comma", 1, 8),
    (b"[1,]", "trailing comma", 1, 4),
    (b"[1 2]", "expected `,` or `]`", 1, 4),
    (b'{"a":1 "b":2}', "expected `,` or `}`", 1, 8),
    (b"{a:1}", "key must be a string", 1, 2),
    (b'{"a":1', "EOF while parsing an object", 1, 6),
    (b"[1", "EOF while parsing a list", 1, 2),
    (b'{"a":tru}', "expected ident", 1, 9),
    (b'{"a":"b', "EOF while parsing a string", 1, 7),
    (b'{"a":"\\q"}', "invalid escape", 1, 8),
    (b'{"a":01}', "invalid number", 1, 7),
    (b'{"a":-}', "invalid number", 1, 7),
    (b'{"a":1.}', "invalid number", 1, 8),
    (b'{"a":1e}', "invalid number", 1, 8),
    (b'{"a":"\\ud800"}', "unexpected end of hex escape", 1, 13),
    (b'{"a":"\\udc00"}', "lone leading surrogate in hex escape", 1, 12),
    (b'{"a":"\\u12"}', "invalid escape", 1, 12),
    (b"\xef\xbb\xbf{}", "expected value", 1, 1),
    (b"// no comments\n{}", "expected value", 1, 1),
    (b'{\n  "a": [\n    1,\n    oops\n  ]\n}', "expected value", 4, 5),
    (b"[" * 200, "recursion limit exceeded", 1, 128),
    (
        b'{"a":"x\ty"}',
        "control character (\\u0000-\\u001F) found while parsing a string",
        1,
        8,
    ),
]


@pytest.mark.parametrize(("text", "reason", "line", "column"), FAULTS)
def test_a_fault_has_the_real_words_and_place(text: bytes, reason: str, line: int, column: int):
    with pytest.raises(JsonFault) as caught:
        read_exactly(text, ANY)
    assert str(caught.value) == f"{reason} at line {line} column {column}"


def test_columns_count_bytes_not_characters():
    with pytest.raises(JsonFault) as caught:
        read_exactly('{"ä": x}'.encode(), ANY)
    assert (caught.value.line, caught.value.column) == (1, 8)


def test_numbers_outside_64_bits_come_as_fractions_and_none_is_too_big():
    assert read_exactly(b"18446744073709551615", ANY) == 2**64 - 1
    assert isinstance(read_exactly(b"18446744073709551616", ANY), float)
    assert isinstance(read_exactly(b"-9223372036854775809", ANY), float)
    assert math.isinf(read_exactly(b"1e999", ANY))


def test_a_member_that_stands_twice_keeps_its_last_value_and_is_remembered():
    value = read_exactly(b'{"a": 1, "b": 2, "a": 3}', ANY)
    assert value == {"a": 3, "b": 2}
    assert value.repeated == {"a"}


def test_what_is_passed_over_may_be_deep_and_have_lone_surrogates():
    read_exactly(b"[" * 5000 + b"]" * 5000, SKIPPED)
    read_exactly(b'{"x": ["\\ud800"]}', SKIPPED)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[1,]", "expected value at line 1 column 4"),
        (b'{"a" 1}', "expected `:` at line 1 column 6"),
        (b'["\\q"]', "invalid escape at line 1 column 4"),
        (b"[1", "EOF while parsing a list at line 1 column 2"),
    ],
)
def test_what_is_passed_over_must_be_json_all_the_same(text: bytes, reason: str):
    with pytest.raises(JsonFault) as caught:
        read_exactly(text, SKIPPED)
    assert str(caught.value) == reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.booleans())
def test_every_json_text_is_read_as_others_read_it(value: Any, indented: bool):
    text = json.dumps(value, indent=2 if indented else None, ensure_ascii=not indented)
    assert read_exactly(text.encode(), ANY) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_have_a_place(data: bytes):
    try:
        read_exactly(data.decode("utf-8", "replace").encode(), ANY)
    except JsonFault as fault:
        assert fault.line >= 1
        assert fault.column >= 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "boolean `true`"),
        (7, "integer `7`"),
        (1.5, "number"),
        ('say "hi"\n', 'string "say \\"hi\\"\\n"'),
        ([], "sequence"),
        ({}, "map"),
    ],
)
def test_values_are_named_as_serde_names_them(value: Any, text: str):
    assert describe(value) == text


def test_quoted_text_shows_what_cannot_be_seen():
    assert quoted("a\x07\u200b\u0301é") == '"a\\u{7}\\u{200b}\\u{301}é"'


MEMBERS = Record(
    "Thing",
    {"kind": Word(("A", "B")), "name": Maybe(TEXT), "items": Items(TEXT)},
    required=("kind",),
    refuses_others=True,
    aliases={"label": "name"},
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"kind": "A"}', {"kind": "A"}),
        (b'{"kind": {"B": null}}', {"kind": "B"}),
        (
            b'{"kind": "A", "label": null, "items": ["x"]}',
            {"kind": "A", "name": None, "items": ["x"]},
        ),
        (b'["A", "n", []]', {"kind": "A", "name": "n", "items": []}),
        (b'["A"]', {"kind": "A"}),
    ],
)
def test_a_record_is_read_as_serde_derives_it(text: bytes, value: Any):
    assert read_exactly(text, MEMBERS) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (b"{}", "missing field `kind` at line 1 column 2"),
        (b"7", "invalid type: integer `7`, expected struct Thing at line 1 column 1"),
        (b"x", "expected value at line 1 column 1"),
        (b'{"kind": 7}', "expected value at line 1 column 10"),
        (b'{"kind": "C"}', "unknown variant `C`, expected `A` or `B` at line 1 column 12"),
        (b'{"kind": {"A": 1}}', "invalid type: integer `1`, expected unit at line 1 column 16"),
        (b'{"kind": {"A": null, "B": null}}', "expected value at line 1 column 19"),
        (
            b'{"kind": "A", "name": 7}',
            "invalid type: integer `7`, expected a string at line 1 column 23",
        ),
        (b'{"kind": "A", "label": "a", "name": "b"}', "duplicate field `name` at line 1 column 34"),
        (
            b'{"x": 1, "kind": "A"}',
            "unknown field `x`, expected one of `kind`, `name`, `items` at line 1 column 4",
        ),
        (b'["A", "n", [], 1]', "trailing characters at line 1 column 16"),
        (b"[]", "invalid length 0, expected struct Thing with 3 elements at line 1 column 2"),
    ],
)
def test_a_record_that_is_refused_says_why(text: bytes, fault: str):
    with pytest.raises(JsonFault) as caught:
        read_exactly(text, MEMBERS)
    assert str(caught.value) == fault
