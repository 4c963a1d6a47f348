from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.forms.pattern import matches


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^[a-z]+$", "abc", True),
        (r"^[a-z]+$", "abC", False),
        (r"b", "abc", True),
        (r"^\d{4}-\d\d$", "2026-07", True),
        (r"^\d{4}$", "20260", False),
        (r"^[^@]+@[^@.]+\.[^@]+$", "a@b.c", True),
        (r"^(?:foo|ba[rz])*$", "foobarbaz", True),
        (r"^(?:foo|ba[rz])*$", "foobab", False),
        (r"\bcat\b", "a cat!", True),
        (r"\bcat\b", "concat", False),
        (r"^a{2,3}$", "aaaa", False),
        (r"^a{2,3}?$", "aaa", True),
        (r"^.$", "\n", False),
        (r"^a$", "a\n", False),
        (r"^\w+$", "é", False),
        (r"^\d$", "٣", False),
        (r"", "", True),
    ],
)
def test_patterns_are_matched_as_json_schema_means_them(
    pattern: str, text: str, found: bool
) -> None:
    assert matches(pattern, text) is found


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", r"(?=a)a", r"(?<!a)b", r"^\p{L}+$", "[", "(" * 500, "a" * 3000, r"(?i:a)", "(?P<a>"],
)
def test_what_cannot_be_told_is_not_guessed(pattern: str) -> None:
    assert matches(pattern, "a") is None


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|aa)+$",
        "(a*)*b",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "(((((a*)*)*)*)*)*c",
        "((){65535}){65535}",
        "(?:a{1000}){1000}",
        "(.*)*" * 200,
    ],
)
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    began = time.process_time()
    assert matches(pattern, "a" * 9_999 + "!") in (True, False, None)
    assert time.process_time() - began < 3


SAFE = st.from_regex(re.compile(r"\A\^?([abc.]|[ab]\*|\[a-c\]\+|(b|cc)){1,6}\$?\Z"))


@given(SAFE, st.text("abc", max_size=12))
def test_where_both_can_tell_we_say_what_python_says(pattern: str, text: str) -> None:
    assert matches(pattern, text) is (re.search(pattern, text) is not None)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_may_be_a_pattern(pattern: str, text: str) -> None:
    assert matches(pattern, text) in (True, False, None)
