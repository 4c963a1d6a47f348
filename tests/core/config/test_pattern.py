from __future__ import annotations

import pytest

from core.config.pattern import PatternError, compile_whole


@pytest.mark.parametrize(
    ("expression", "matching", "not_matching"),
    [
        ("a|b", ["a", "b"], ["ab", "xa", "bx"]),
        (r"https://[a-z]+\.example/.*", ["https://x.example/"], ["http://x.example/"]),
        (r"\d{2,3}", ["12", "123"], ["1", "1234", "١٢"]),
        ("(?i)ABC", ["abc", "ABC"], ["abd"]),
        ("(?i:a)b", ["Ab", "ab"], ["aB"]),
        ("(?<name>a)(?P<other>b)", ["ab"], ["a"]),
        ("a$", ["a"], ["a\n"]),
        ("[[:alpha:]_-]+", ["ab_-"], ["1"]),
        (r"[^\]]x", ["ax"], ["]x"]),
        (r"\x41\u{42}\.", ["AB."], ["AB!"]),
        ("(?s).+", ["a\nb"], [""]),
        (".+", ["ab"], ["a\nb"]),
        (r"a\z", ["a"], ["a\n"]),
        ("a+?b*?", ["a", "aab"], ["b"]),
        ("", [""], ["a"]),
    ],
)
def test_a_pattern_matches_whole_texts_only(
    expression: str, matching: list[str], not_matching: list[str]
):
    pattern = compile_whole(expression)
    assert all(pattern.match(text) for text in matching)
    assert not any(pattern.match(text) for text in not_matching)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(", "found open group without closing"),
        (")", "found closing"),
        ("[", "found unclosed character class"),
        ("[a", "found unclosed character class"),
        (r"\p{L}", "Unicode character classes are not supported"),
        ("(?=x)", "look-around is not supported"),
        ("(?!x)", "look-around is not supported"),
        ("(?<=x)", "look-around is not supported"),
        (r"(a)\1", "backreferences are not supported"),
        ("a(?i)b", "flags inside a pattern"),
        ("(?x)a b", "flags inside a pattern"),
        ("(?m:a$)", "flags inside a pattern"),
        ("a*+", "repeated repetition"),
        ("a{,2}", "without a number"),
        ("[a[b]]", "nested character classes"),
        ("[a&&b]", "set operations"),
        (r"\<a", "invalid escape sequence"),
        (r"\b{start}", "special word boundaries"),
        (r"\q", "invalid escape sequence"),
        ("a{99999}", "too big"),
        ("*a", "nothing to repeat"),
        ("(?P=x)", "flags inside a pattern"),
        ("\\", "invalid escape sequence"),
    ],
)
def test_a_pattern_that_cannot_be_read_surely_is_refused(expression: str, reason: str):
    with pytest.raises(PatternError, match=reason):
        compile_whole(expression)
