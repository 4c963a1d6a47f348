"""Texts that Codex 0.171.0 refuses, with the place and the words it was seen to answer."""

from __future__ import annotations

import pytest

from core.config.toml.fault import TomlFault, codex_place_of, excerpt, place_of
from core.config.toml.read import NotUtf8, decode, read_toml
from core.config.toml.tree import build

REFUSED = [
    ("a", "1:2: key with no value, expected `=`"),
    ("a =", "1:4: string values must be quoted, expected literal string"),
    ("a = \n", "1:5: string values must be quoted, expected literal string"),
    ('a = "x', '1:7: invalid basic string, expected `"`'),
    ('a = "x\n', '1:7: invalid basic string, expected `"`'),
    ("a = 'x\n", "1:7: invalid literal string, expected `'`"),
    ("a = 'x", "1:7: invalid literal string, expected `'`"),
    ('a = """x', '1:9: invalid multi-line basic string, expected `"`'),
    ('a = """x\ny\n', '2:3: invalid multi-line basic string, expected `"`'),
    ("a = '''x\n", "1:10: invalid multi-line literal string, expected `'`"),
    ("a = 1 b = 2", "1:9: unexpected key or value, expected newline, `#`"),
    ("a = 1 2", "1:5: string values must be quoted, expected literal string"),
    ("a = [1", "1:7: unclosed array, expected `]`"),
    ("a = [1\n\n", "1:7: unclosed array, expected `]`"),
    ("a = [1 2]", "1:6: string values must be quoted, expected literal string"),
    ("a = [1,,2]", "1:8: extra comma in array, expected value"),
    ("a = [,]", "1:6: extra comma in array, expected value"),
    ("a = [", "1:6: unclosed array, expected `]`"),
    ("a = {", "1:6: unclosed inline table, expected `}`"),
    ("a = {b", "1:7: unclosed inline table, expected `}`"),
    ("a = {b=", "1:8: unclosed inline table, expected `}`"),
    ("a = {b=1", "1:9: unclosed inline table, expected `}`"),
    ("a = {b=1 c=2}", "1:11: extra assignment between key-value pairs, expected `,`"),
    ("a = {b=1,,c=2}", "1:10: extra comma in inline table, expected key"),
    ("a = {,}", "1:6: extra comma in inline table, expected key"),
    ("[a", "1:3: unclosed table, expected `]`"),
    ("[a\n", "1:3: unclosed table, expected `]`"),
    ("[a.", "1:4: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("[a.]", "1:4: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("[.a]", "1:2: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("[]", "1:2: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("[ ]", "1:3: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("[[a", "1:4: unclosed array table, expected `]]`"),
    ("[[a]", "1:5: unclosed array table, expected `]`"),
    ("[[a] ]", "1:5: unclosed array table, expected `]`"),
    ("[a]]", "1:4: unexpected key or value, expected newline, `#`"),
    ("[a] x", "1:5: unexpected key or value, expected newline, `#`"),
    ("[a] b=1", "1:5: unexpected key or value, expected newline, `#`"),
    ("[a]\n[a]", "2:2: duplicate key"),
    ("[a]\nb=1\nb=2", "3:1: duplicate key"),
    ("a=1\na=2", "2:1: duplicate key"),
    ("a.b=1\na=1", "2:1: duplicate key"),
    ("a=1\na.b=1", "2:1: cannot extend value of type integer with a dotted key"),
    ("[a]\n[[a]]", "2:3: duplicate key"),
    ("[[a]]\n[a]", "2:2: duplicate key"),
    ("a=[]\n[[a]]", "2:3: duplicate key"),
    ("a={}\n[a]", "2:2: duplicate key"),
    ("a={}\n[a.b]", "2:2: cannot extend value of type inline table with a dotted key"),
    ("a={}\na.b=1", "2:1: cannot extend value of type inline table with a dotted key"),
    ("[a.b]\n[a]\nb.c=1", "3:1: duplicate key"),
    ("[a]\nb.c=1\n[a.b]", "3:4: duplicate key"),
    ("a = tru", "1:5: invalid boolean, expected `true`"),
    ("a = yes", "1:5: string values must be quoted, expected literal string"),
    ("a = True", "1:5: invalid boolean, expected `true`"),
    ("a = nul", "1:5: invalid float, expected `nan`"),
    ("a = null", "1:5: invalid float, expected `nan`"),
    ("a = 01", "1:5: unexpected leading zero, expected nothing"),
    ("a = 1_", "1:6: `_` may only go between digits, expected nothing"),
    ("a = _1", "1:5: `_` may only go between digits, expected nothing"),
    ("a = 1__0", "1:6: `_` may only go between digits, expected nothing"),
    ("a = 0x", "1:5: integer number overflowed"),
    ("a = 0xg", "1:7: invalid hexadecimal number"),
    ("a = 0b2", "1:7: invalid binary number"),
    ("a = 1.", "1:7: invalid fraction, expected digits"),
    ("a = .5", "1:5: invalid mantissa, expected digits"),
    ("a = 1.e5", "1:7: invalid fraction, expected digits"),
    ("a = 1e", "1:7: invalid exponent, expected digits"),
    ("a = +0x1", "1:5: integers with a radix cannot be signed, expected nothing"),
    ("a = --1", "1:6: redundant numeric sign, expected nothing"),
    ("a = 1.2.3", "1:8: invalid float, expected nothing"),
    ("a = infinity", "1:5: invalid float, expected `inf`"),
    ("a = nann", "1:5: invalid float, expected `nan`"),
    ("a = 2020-13-01", "1:5: invalid date, expected month between 01 and 12"),
    ("a = 2020-01-32", "1:5: invalid date, expected day between 01 and 31"),
    ("a = 2020-01-01T25:00:00", "1:5: invalid time, expected hour between 00 and 23"),
    ("a = 2020-01-01T", "1:5: invalid time, expected hour"),
    ("a = 12:60:00", "1:5: invalid time, expected minute between 00 and 59"),
    ("a = 2020-01-01 12:00:00+99:00", "1:5: invalid offset, expected hours between 00 and 23"),
    ('a = "\\x"', "1:8: too few unicode value digits, expected unicode hexadecimal value"),
    ('a = "\\u12"', "1:10: too few unicode value digits, expected unicode hexadecimal value"),
    ('a = "\\ud800"', "1:8: invalid value, expected unicode hexadecimal value"),
    ('a = "\\U00110000"', "1:8: invalid value, expected unicode hexadecimal value"),
    (
        'a = "\\q"',
        '1:7: missing escaped value, expected `b`, `e`, `f`, `n`, `r`, `\\`, `"`, `x`, `u`, `U`',
    ),
    (
        'a = "a\x01b"',
        "1:7: invalid basic string, expected non-double-quote visible characters, `\\`",
    ),
    ('a = "\x7f"', "1:6: invalid basic string, expected non-double-quote visible characters, `\\`"),
    ("a = 'a\x01'", "1:7: invalid literal string, expected non-single-quote visible characters"),
    ("# \x01\na=1", "1:3: invalid comment character, expected printable characters"),
    ("# \x7f", "1:3: invalid comment character, expected printable characters"),
    ("a = 1\rb = 2", "1:7: carriage return must be followed by newline, expected newline"),
    ("a = 1\r", "1:7: carriage return must be followed by newline, expected newline"),
    ("\r", "1:2: carriage return must be followed by newline, expected newline"),
    ('a = "x\ry"', "1:7: invalid basic string, expected non-double-quote visible characters, `\\`"),
    ("a = 1 # x\ry", "1:11: carriage return must be followed by newline, expected newline"),
    ("= 1", "1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    (". = 1", "1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("a. = 1", "1:4: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    (".a = 1", "1:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ("a..b = 1", "1:3: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ('"a = 1', "1:7: key with no value, expected `=`"),
    ("'a\nb' = 1", "1:3: key with no value, expected `=`"),
    ("a b = 1", "1:3: key with no value, expected `=`"),
    ('a"b" = 1', "1:2: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("a\n= 1", "1:2: key with no value, expected `=`"),
    ("é = 1", "1:1: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("a@b = 1", "1:2: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("a! = 1", "1:2: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("[a@b]", "1:3: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("[a b]", "1:3: unclosed table, expected `]`"),
    ('[a"b"]', "1:3: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ('[a.b"c"]', "1:5: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ("a = b'x'", "1:5: missing opening quote, expected `'`"),
    ("a = `x`", "1:5: string values must be quoted, expected literal string"),
    ("a = @x", "1:5: string values must be quoted, expected literal string"),
    ("a = x@y", "1:5: string values must be quoted, expected literal string"),
    ("a = <x>", "1:5: string values must be quoted, expected literal string"),
    ("a = $HOME", "1:5: string values must be quoted, expected literal string"),
    ("a = /path", "1:5: string values must be quoted, expected literal string"),
    ("a = C:\\x", "1:5: string values must be quoted, expected literal string"),
    ('a = "C:\\users"', "1:10: too few unicode value digits, expected unicode hexadecimal value"),
    ("a = 5s", "1:5: string values must be quoted, expected literal string"),
    ("a = 5 s", "1:5: string values must be quoted, expected literal string"),
    ("a = 1,", "1:6: unexpected key or value, expected newline, `#`"),
    ("a = [1],", "1:8: unexpected key or value, expected newline, `#`"),
    ("a := 1", "1:3: key with no value, expected `=`"),
    ("a: 1", "1:4: key with no value, expected `=`"),
    ('{"a":1}', "1:1: invalid key-value pair, expected key"),
    ('a = "x"y', "1:8: unexpected key or value, expected newline, `#`"),
    ('a = """x"""y', "1:12: unexpected key or value, expected newline, `#`"),
    ('a = "x" "y"', "1:9: unexpected key or value, expected newline, `#`"),
    ("a == 1", "1:4: extra `=`, expected nothing"),
    ("a = = 1", "1:5: extra `=`, expected nothing"),
    ("[a]=1", "1:4: unexpected key or value, expected newline, `#`"),
    ("[[a]]\nx", "2:2: key with no value, expected `=`"),
    ("a = [1]]", "1:8: unexpected key or value, expected newline, `#`"),
    ("a = {b=1}}", "1:10: unexpected key or value, expected newline, `#`"),
    ("}", "1:1: invalid key-value pair, expected key"),
    ("]", "1:1: missing table open, expected `[`"),
    ("a = ]", "1:5: missing array opening, expected `[`"),
    ("a = }", "1:5: missing inline table opening, expected `{`"),
    ("a = ,", "1:5: unexpected key or value, expected newline, `#`"),
    ("a=1\n\ufeffb=2", "2:1: invalid unquoted key, expected letters, numbers, `-`, `_`"),
    ('a = "\x00"', "1:6: invalid basic string, expected non-double-quote visible characters, `\\`"),
    ("a=1\x00", "1:3: string values must be quoted, expected literal string"),
    ("a = [[[[[", "1:10: unclosed array, expected `]`"),
    (
        "a = 99999999999999999999",
        "1:5: invalid type: integer `99999999999999999999` as i128, expected any valid TOML value",
    ),
    (
        "a=-9223372036854775809",
        "1:3: invalid type: integer `-9223372036854775809` as i128, expected any valid TOML value",
    ),
    ("a=1e999", "1:3: floating-point number overflowed"),
    ("a = 1e5_", "1:8: `_` may only go between digits, expected nothing"),
    ("a = 0o8", "1:7: invalid octal number"),
    (
        "a = 0xFFFFFFFFFFFFFFFFF",
        "1:5: invalid type: integer `295147905179352825855` as i128, expected any valid TOML value",
    ),
    ("a = {b={c=", "1:11: unclosed inline table, expected `}`"),
    ("a = [{", "1:7: unclosed inline table, expected `}`"),
    ("a = [{b=1]", "1:10: invalid inline table element, expected `,`"),
    ("a = {b=[1}", "1:10: missing comma between array elements, expected `,`"),
    ("a = [1}", "1:7: missing comma between array elements, expected `,`"),
    ("a = {b=1]", "1:9: invalid inline table element, expected `,`"),
    (
        "x = 1\n[t]\ny = [\n 1,\n 2\nz = 3\n",
        "6:1: missing comma between array elements, expected `,`",
    ),
    (
        "[mcp_servers.a]\ncommand = x\n",
        "2:11: string values must be quoted, expected literal string",
    ),
    ('a = "unterminated\nb = "x"\n', '1:18: invalid basic string, expected `"`'),
    ('"a"b = 1', "1:4: key with no value, expected `=`"),
    ("a = '''x''''''", "1:14: unexpected key or value, expected newline, `#`"),
    ('a = """a""""""', "1:14: unexpected key or value, expected newline, `#`"),
    ('a="""\\ x"""', "1:8: invalid multi-line basic string, expected newline"),
    ('a="a\\\nb"', "2:3: key with no value, expected `=`"),
    ("[a]\nb = { c = 1, c = 2 }", "2:14: duplicate key"),
    ("[a.b.c]\n[a.b]\n[a]\n[a.b]", "4:4: duplicate key"),
    ("a = [ 1, # c\n 2 ] trailing", "2:6: unexpected key or value, expected newline, `#`"),
    ("a = {b.c=1,b=2}", "1:12: duplicate key"),
    ("a = {b=1,b.c=2}", "1:10: cannot extend value of type integer with a dotted key"),
    ("a.b={}\n[a]\nc=1", "2:2: duplicate key"),
    ("[[a.b]]\n[a]\n[a.b.c]\n[a.b]", "4:4: duplicate key"),
    ("r = 2020-01-01T00:00:00TZ", "1:5: invalid offset, expected `Z`, +OFFSET, -OFFSET"),
    ("f = {g = 1, h.i }", "1:17: invalid literal string, expected `'`"),
    ("t.z = 07:32:0", "1:7: invalid time, expected a two-digit second (SS)"),
    ("s = 2020-0x1F", "1:5: invalid date, expected `-` (MM-DD)"),
    ("a =2021-1-1", "1:4: invalid date, expected a two-digit month (MM)"),
    ("x =12:", "1:4: invalid time, expected minute"),
    ("r = 2020-01-01x", "1:5: invalid date-time, expected `T` between date and time"),
    ("x = -24:00:00", "1:5: invalid datetime, expected year or hour"),
    ("a = 1_.51", "1:6: `_` may only go between digits, expected nothing"),
    ("s = 12:00:00.", "1:5: invalid time, expected nanosecond"),
    ("[[éarr]é]", "1:9: unclosed array table, expected `]`"),
]
TAKEN = [
    "a = {b=1,}",
    "a = {b=1\n}",
    "a = {\nb=1,\n}",
    "a = 12:00",
    'a = "\\x41"',
    'a = "\\e"',
    'a = "a\tb"',
    '"" = 1',
    "\ufeffa=1",
    'a="""a\\  \n b"""',
]


def told(text: str) -> str:
    try:
        read_toml(text)
    except TomlFault as fault:
        place = codex_place_of(text, fault.offset)
        return f"{place.line}:{place.column}: {fault.reason}"
    return "taken"


@pytest.mark.parametrize(("text", "expected"), REFUSED)
def test_a_refused_text_is_told_with_codex_place_and_words(text: str, expected: str):
    assert told(text) == expected


@pytest.mark.parametrize("text", TAKEN)
def test_what_codex_takes_is_taken(text: str):
    assert told(text) == "taken"


def test_arrays_may_be_nested_eighty_deep():
    assert told("a = " + "[" * 80 + "]" * 80) == "taken"
    assert told("a=" + "[" * 81 + "]" * 81) == (
        "1:83: cannot recurse further; max recursion depth met"
    )


def test_inline_tables_nested_too_deep_are_told_by_their_opening():
    assert told("a=" + "{a=" * 90 + "1" + "}" * 90) == (
        "1:243: cannot recurse further; max recursion depth met"
    )


@pytest.mark.parametrize("depth", [200, 5_000, 100_000])
def test_a_key_of_very_many_parts_is_refused_not_recursed_into(depth: int):
    assert told(".".join(["a"] * depth) + " = 1") == "1:1: recursion limit"


def test_a_hundred_thousand_brackets_end_in_a_fault():
    assert "max recursion depth" in told("a = " + "[" * 100_000)


def test_very_long_numbers_overflow():
    assert told("a = " + "9" * 10_000) == "1:5: integer number overflowed"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'a = "\xff"', "invalid utf-8 sequence of 1 bytes from index 5"),
        (b"\xff\xfe", "invalid utf-8 sequence of 1 bytes from index 0"),
        (b'a = "\xe2\x82', "incomplete utf-8 byte sequence from index 5"),
        (b"\xed\xa0\x80", "invalid utf-8 sequence of 1 bytes from index 0"),
    ],
)
def test_bytes_that_are_no_text_are_told_as_rust_does(data: bytes, reason: str):
    with pytest.raises(NotUtf8, match=reason):
        decode(data)


def test_a_bom_is_skipped_and_counts_as_a_column():
    assert read_toml("\ufeffa = 1").value == {"a": 1}
    assert told("\ufeffa = b") == "1:6: string values must be quoted, expected literal string"


def test_a_place_after_the_last_newline_is_on_the_line_before_it():
    assert (place_of("a\n", 2).line, place_of("a\n", 2).column) == (1, 3)


def test_columns_count_characters():
    assert place_of("é = é x", 6).column == 7


def test_the_excerpt_points_at_the_fault():
    with pytest.raises(TomlFault) as caught:
        build("bad = [\n")
    assert excerpt("bad = [\n", caught.value.offset, caught.value.reason) == (
        "TOML parse error at line 1, column 8\n"
        "  |\n"
        "1 | bad = [\n"
        "  |        ^\n"
        "unclosed array, expected `]`\n"
    )
