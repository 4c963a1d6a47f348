"""The fast reader never gives what the exact one would not give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.plugins import json_fast
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_tokens import JsonFault

PIECES = st.lists(
    st.sampled_from(['{"a":', '{"a":1,"a":', "[", "]", "}", "1", ",", '"x:"', '"\\u003a"', " "]),
    max_size=12,
)


@given(PIECES.map("".join))
def test_both_readers_agree_wherever_the_fast_one_gives_a_value(text: str):
    value = json_fast.decode(text.encode())
    if value is json_fast.SUSPECT:
        return
    exact: Any = read_exactly(text.encode(), ANY)
    assert value == exact
    assert type(value) is type(exact)


@pytest.mark.parametrize(
    "text",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": 1, "\\u0062": 2}}',
        b"[" * 130 + b"]" * 130,
        b"\xef\xbb\xbf{}",
        b'{"a": 1,}',
        b'{"a": "\\ud800"}',
    ],
)
def test_what_the_exact_reader_must_see_is_suspect(text: bytes):
    assert json_fast.decode(text) is json_fast.SUSPECT


def test_colons_and_brackets_in_strings_are_not_suspect_by_themselves():
    text = b'{"url": "https://a:b", "text": "[[[[{{{{"}'
    assert json_fast.decode(text) == {"url": "https://a:b", "text": "[[[[{{{{"}


def test_whatever_is_too_deep_for_the_exact_reader_is_never_decoded():
    for depth in (127, 128):
        text = b"[" * depth + b"]" * depth
        decoded = json_fast.decode(text)
        try:
            exact = read_exactly(text, ANY)
        except JsonFault:
            assert decoded is json_fast.SUSPECT
        else:
            assert decoded in (json_fast.SUSPECT, exact)
