from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.forms.templates import expand, schema_of, variables

VALUES = {"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768"}


@pytest.mark.parametrize(
    ("template", "uri"),
    [  # RFC 6570, section 1.2 and 3.2
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{+path}/here", "/foo/bar/here"),
        ("X{#var}", "X#value"),
        ("map?{x,y}", "map?1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("X{.x,y}", "X.1024.768"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{?x,none,y}", "?x=1024&y=768"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{var:3}", "val"),
        ("{none}", ""),
        ("{not a name}", ""),
        ("demo://a/{var}", "demo://a/value"),
    ],
)
def test_values_make_a_uri(template: str, uri: str) -> None:
    assert expand(template, VALUES) == uri


def test_variables_of_a_query_may_be_left_out() -> None:
    assert variables("note:{id}/{+path*}{?lang,id}") == {"id": True, "path": True, "lang": False}
    schema = schema_of("note:{id}{?lang}")
    assert list(schema["properties"]) == ["id", "lang"] and schema["required"] == ["id"]


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=3), st.text(max_size=9), max_size=3))
def test_any_template_and_any_value_may_come(template: str, values: dict[str, str]) -> None:
    expand(template, values)
    expand("{a}{?b}", {"a": "\x1b[2J\u202e", "b": template})


@given(st.text(st.characters(codec="utf-8")))
def test_what_is_filled_in_cannot_leave_its_place(text: str) -> None:
    assert re.fullmatch(r"note:[A-Za-z0-9%._~-]*", expand("note:{id}", {"id": text}))
