"""The YAML that front matter is written in, with libyaml's faults."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.plugins.yaml_scalars import YamlFault
from core.plugins.yaml_text import BROKEN, Mapping, Node, Scalar, Sequence, parse_yaml


def plain(node: Node | None) -> Any:
    match node:
        case None:
            return None
        case Scalar():
            return node.text
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return {plain(key): plain(value) for key, value in node.pairs}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("a: 1\nb: [x, \"y\", 'it''s']\n", {"a": "1", "b": ["x", "y", "it's"]}),
        ("a: |\n  x\n   y\n\nb: c\n", {"a": "x\n y\n", "b": "c"}),
        ("a: >-\n  one\n  two\n\n  three\n", {"a": "one two\nthree"}),
        ("a: |+\n  x\n\n", {"a": "x\n\n"}),
        ("a: |2\n   x\n", {"a": " x\n"}),
        ("- a\n-   b: c\n    d: e\n", ["a", {"b": "c", "d": "e"}]),
        ("a:\n- b\n- c", {"a": ["b", "c"]}),
        ("a: &x [1]\nb: *x\n", {"a": ["1"], "b": ["1"]}),
        ('a: "\\u00e9\\n\\x41"', {"a": "é\nA"}),
        ("? k\n: v", {"k": "v"}),
        ("{a: b, c}", {"a": "b", "c": ""}),
        ("%YAML 1.1\n---\na", "a"),
        ("key: value\n more", {"key": "value more"}),
        ("a: b #c", {"a": "b"}),
        ("a: b#c", {"a": "b#c"}),
        ("a: !!str 1", {"a": "1"}),
        ("a:\n  b:\n    c: 1\n  d: 2\n", {"a": {"b": {"c": "1"}, "d": "2"}}),
    ],
)
def test_texts_are_read_as_libyaml_reads_them(text: str, value: Any):
    assert plain(parse_yaml(text)) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a: b: c", "mapping values are not allowed in this context at line 1 column 5"),
        (
            "a: [1",
            "did not find expected ',' or ']' at line 2 column 1, "
            "while parsing a flow sequence at line 1 column 4",
        ),
        (
            'a: "x',
            "found unexpected end of stream at line 1 column 6, "
            "while scanning a quoted scalar at line 1 column 4",
        ),
        (
            "\ta: b",
            "found character that cannot start any token, while scanning for the next token",
        ),
        ("a: *no", "unknown anchor at line 1 column 4"),
        (
            'a: "b" c',
            "did not find expected key at line 1 column 8, while parsing a block mapping",
        ),
        (
            "--- a\n...\n--- b",
            "deserializing from YAML containing more than one document is not supported",
        ),
    ],
)
def test_faults_have_libyamls_words_and_places(text: str, fault: str):
    with pytest.raises(YamlFault) as caught:
        parse_yaml(text)
    assert str(caught.value) == fault


def test_aliases_inside_themselves_and_deep_nesting_end():
    with pytest.raises(YamlFault):
        parse_yaml("[" * 2000)
    with pytest.raises(YamlFault):
        plain(parse_yaml("a: &a [*a]"))


@given(st.text(alphabet=" \n\t-:?[]{},&*!|>'\"%@`#ab01\\", max_size=40))
def test_any_text_is_read_or_has_a_fault(text: str):
    try:
        plain(parse_yaml(text))
    except YamlFault as fault:
        assert str(fault)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[a: b, ? c : d, e]", [{"a": "b"}, {"c": "d"}, "e"]),
        ("[a, b,]", ["a", "b"]),
        ("{a, b: }", {"a": "", "b": ""}),
        ("a: 'x\n  y'", {"a": "x y"}),
        ('a: "x\\\n  y"', {"a": "xy"}),
        ('a: "\\t\\U0001F600\\_"', {"a": "\t\U0001f600\u00a0"}),
        ("a: x\n\n  y", {"a": "x\ny"}),
        ("- - a\n  - b\n- c", [["a", "b"], "c"]),
        ("a:\n\nb: 1", {"a": "", "b": "1"}),
        ("a: >\n  x\n    y\n  z\n", {"a": "x\n  y\nz\n"}),
    ],
)
def test_rarer_forms_are_read_too(text: str, value: Any):
    assert plain(parse_yaml(text)) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('a: "\\q"', "found unknown escape character"),
        ('a: "\\x4"', "did not find expected hexadecimal number"),
        ("a: b\n - c: d", "mapping values are not allowed in this context"),
        ("a: - b", "block sequence entries are not allowed in this context"),
        ("a: |x\n b", "did not find expected comment or line break"),
        ("{a: b", "did not find expected ',' or '}'"),
        ("- a\nb: c", "did not find expected '-' indicator"),
        ("...\na", "did not find expected node content, while parsing a block node"),
        ("{: a}", "did not find expected node content"),
        ("[a:]", "found unexpected ':'"),
        ("a: &x &y b", "did not find expected key"),
        ("a: !<x", "did not find the expected '>'"),
        ("a: !!", "did not find expected tag URI"),
        ("%x\n---\na", "found unknown directive name"),
        ("[a]]", "more than one document"),
        ("a: &", "did not find expected alphabetic or numeric character"),
    ],
)
def test_rarer_faults_have_their_words_too(text: str, fault: str):
    with pytest.raises(YamlFault, match=re.escape(fault)):
        parse_yaml(text)


def test_what_was_read_before_a_fault_is_kept_with_it():
    with pytest.raises(YamlFault) as caught:
        parse_yaml("a: 1\nb: [x, {c: d")
    partial = caught.value.partial
    assert isinstance(partial, Mapping)
    assert plain(partial) == {"a": "1", "b": ["x", {"c": "d"}]}


def test_a_value_that_never_came_is_marked():
    with pytest.raises(YamlFault) as caught:
        parse_yaml("a: 1\nb: @")
    partial = caught.value.partial
    assert isinstance(partial, Mapping)
    assert partial.pairs[-1][1] is BROKEN
