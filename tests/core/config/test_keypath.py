from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.keypath import KeyPathError, format_key_path, parse_key_path


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ('plugins."p@m".enabled', ("plugins", "p@m", "enabled")),
        ("plugins.p@m.enabled", ("plugins", "p@m", "enabled")),
        (r'a."x.y"."z\"q"', ("a", "x.y", 'z"q')),
        ("a.'lit'.x", ("a", "'lit'", "x")),
        (" a . b ", (" a ", " b ")),
        ('a."x"y', ("a", "xy")),
        (r'a."\u0041"', ("a", "u0041")),
    ],
)
def test_a_key_path_is_cut_as_codex_cuts_it(text: str, segments: tuple[str, ...]):
    assert parse_key_path(text) == segments


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "keyPath must not be empty"),
        ("  ", "keyPath must not be empty"),
        ("plugins..x", "keyPath segments must not be empty"),
        ("a.", "keyPath segments must not be empty"),
        (".a", "keyPath segments must not be empty"),
        ('a.""', "keyPath segments must not be empty"),
        ('plugins."p@m', "unterminated quoted keyPath segment"),
        ('a."x\\', "unterminated escape in keyPath"),
        ('a.x"y"', "invalid quoted keyPath segment"),
    ],
)
def test_a_bad_key_path_is_refused_in_codex_words(text: str, message: str):
    with pytest.raises(KeyPathError, match=message):
        parse_key_path(text)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=4))
def test_a_formatted_path_reads_back(segments: list[str]):
    assert parse_key_path(format_key_path(segments)) == tuple(segments)
