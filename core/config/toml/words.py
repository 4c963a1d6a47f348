"""Judges and reads single words: keys, strings, numbers and the rest."""

from __future__ import annotations

import re

from core.config.toml.datetimes import datetime_fault
from core.config.toml.fault import TomlFault
from core.config.toml.lexer import Token

_BARE_EXPECTED = "expected letters, numbers, `-`, `_`"
_NOT_BARE = re.compile(r"[^A-Za-z0-9_-]")
_ESCAPES = {
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "\\": "\\",
    '"': '"',
}
_HEX = {"x": 2, "u": 4, "U": 8}
_HEX_DIGITS = re.compile(r"[0-9A-Fa-f]*")
_BASIC_PLAIN = re.compile(r'[^\x00-\x08\x0a-\x1f\x7f"\\]*')
_BASIC_MULTI_PLAIN = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f\\]*")
_LITERAL_BAD = re.compile(r"[\x00-\x08\x0a-\x1f\x7f']")
_LITERAL_MULTI_BAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_ESCAPE_EXPECTED = ", ".join(f"`{mark}`" for mark in 'befnr\\"xuU')
_QUOTES = {"s": '"', "S": '"""', "l": "'", "L": "'''"}
_NAMES = {
    "s": "basic string",
    "S": "multi-line basic string",
    "l": "literal string",
    "L": "multi-line literal string",
}


class LateFault(TomlFault):
    """A number that fits no type: told only when nothing else is wrong with the text."""


def read_key(text: str, token: Token) -> str:
    """The key that a token spells. Raises TomlFault."""
    if token.kind != "a":
        return read_string(text, token.kind, token.start, token.end)
    if token.start == token.end:
        raise TomlFault(token.start, f"unquoted keys cannot be empty, {_BARE_EXPECTED}")
    if bad := _NOT_BARE.search(text, token.start, token.end):
        raise TomlFault(bad.start(), f"invalid unquoted key, {_BARE_EXPECTED}")
    return text[token.start : token.end]


def read_string(text: str, kind: str, start: int, end: int) -> str:
    """The string that `text[start:end]` spells; `kind` is its token's. Raises TomlFault."""
    quote = _QUOTES[kind]
    inner = start + len(quote)
    if kind in "SL":
        if text.startswith("\n", inner):
            inner += 1
        elif text.startswith("\r\n", inner):
            inner += 2
    close = end - len(quote)
    if close < inner or not text.startswith(quote, close):
        raise TomlFault(end, f"invalid {_NAMES[kind]}, expected `{quote[0]}`")
    if kind in "lL":
        return _literal(text, kind, inner, close)
    return _basic(text, kind, inner, close)


def _literal(text: str, kind: str, start: int, end: int) -> str:
    pattern = _LITERAL_BAD if kind == "l" else _LITERAL_MULTI_BAD
    at = start
    while bad := pattern.search(text, at, end):
        at = bad.end()
        if kind == "L" and bad.group() == "\r":
            _newline_follows(text, at)
            continue
        visible = " visible" if kind == "l" else ""
        raise TomlFault(
            bad.start(), f"invalid {_NAMES[kind]}, expected non-single-quote{visible} characters"
        )
    return text[start:end].replace("\r\n", "\n")


def _newline_follows(text: str, at: int) -> None:
    if not text.startswith("\n", at):
        raise TomlFault(at, "carriage return must be followed by newline, expected newline")


def _basic(text: str, kind: str, start: int, end: int) -> str:
    plain = _BASIC_PLAIN if kind == "s" else _BASIC_MULTI_PLAIN
    parts: list[str] = []
    at = start
    while at < end:
        run = plain.match(text, at, end)
        if run is not None and run.end() > at:
            parts.append(run.group())
            at = run.end()
            continue
        if text[at] == "\\":
            at = _escape(text, kind, at + 1, end, parts)
        elif kind == "S" and text[at] == "\r":
            at += 1
            _newline_follows(text, at)
        else:
            expected = (
                "non-double-quote visible characters, `\\`" if kind == "s" else "`\\`, characters"
            )
            raise TomlFault(at, f"invalid {_NAMES[kind]}, expected {expected}")
    return "".join(parts)


def _escape(text: str, kind: str, at: int, end: int, parts: list[str]) -> int:
    """Read what follows a backslash; the offset after it."""
    mark = text[at] if at < end else ""
    if kind == "S" and mark in ("\t", " ", "\r", "\n"):
        return _escaped_newline(text, at, end)
    if mark in _HEX:
        return _hex(text, at + 1, end, _HEX[mark], parts)
    if mark not in _ESCAPES or not mark:
        raise TomlFault(at, f"missing escaped value, expected {_ESCAPE_EXPECTED}")
    parts.append(_ESCAPES[mark])
    return at + 1


def _hex(text: str, at: int, end: int, digits: int, parts: list[str]) -> int:
    found = _HEX_DIGITS.match(text, at, min(end, at + digits))
    stop = found.end() if found else at
    if stop - at != digits:
        raise TomlFault(stop, "too few unicode value digits, expected unicode hexadecimal value")
    value = int(text[at:stop], 16)
    if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        raise TomlFault(at, "invalid value, expected unicode hexadecimal value")
    parts.append(chr(value))
    return stop


def _escaped_newline(text: str, at: int, end: int) -> int:
    while at < end and text[at] in " \t":
        at += 1
    if text.startswith("\r", at) and at < end:
        at += 1
        _newline_follows(text, at)
    if not text.startswith("\n", at) or at >= end:
        raise TomlFault(at, "invalid multi-line basic string, expected newline")
    while at < end and text[at] in " \t\r\n":
        if text[at] == "\r":
            _newline_follows(text, at + 1)
        at += 1
    return at


def judge_scalar(text: str, kind: str, start: int, end: int) -> str:
    """What a scalar is: `string`, `boolean`, `date-time`, `float` or `integer`.

    Raises:
        TomlFault: It is none of these.
    """
    if kind != "a":
        read_string(text, kind, start, end)
        return "string"
    return _Bare(text, start, end).judge()


_RADIX = {"x": (16, "hexadecimal"), "o": (8, "octal"), "b": (2, "binary"), "d": (10, "integer")}
_SYMBOLS = {
    "t": ("true", "boolean"),
    "f": ("false", "boolean"),
    "i": ("inf", "float"),
    "n": ("nan", "float"),
}
_DIGITS = "0123456789"
_UNDERSCORE = "`_` may only go between digits"


class _Bare:
    """A bare word that should be a number, a date or a symbol."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._raw = text[start:end]
        self._start = start

    def _fault(self, at: int, reason: str) -> TomlFault:
        return TomlFault(self._start + at, reason)

    def judge(self) -> str:
        raw = self._raw
        first = raw[:1]
        if first in ("+", "-"):
            return self._signed()
        if first and first in "_123456789":
            return self._number(0)
        if first == "0":
            return self._zero(0, signed=False)
        if first == ".":
            return self._float(0)
        if first and first.lower() in _SYMBOLS:
            return self._symbol(first.lower())
        raise self._unquoted()

    def _unquoted(self) -> TomlFault:
        for quote in ("'''", '"""', "'", '"'):
            if self._raw.endswith(quote):
                return self._fault(0, f"missing opening quote, expected `{quote}`")
        return self._fault(0, "string values must be quoted, expected literal string")

    def _symbol(self, first: str) -> str:
        word, what = _SYMBOLS[first]
        if self._raw == word:
            return what
        if " " in self._raw:
            raise self._unquoted()
        raise self._fault(0, f"invalid {what}, expected `{word}`")

    def _signed(self) -> str:
        value = self._raw[1:]
        first = value[:1]
        if " " in value:
            raise self._unquoted()
        if first in ("+", "-"):
            raise self._fault(1, "redundant numeric sign, expected nothing")
        if first and first in "_123456789":
            return self._number(1)
        if first == "0":
            return self._zero(1, signed=True)
        if first == ".":
            return self._float(0)
        if first.lower() in ("i", "n") and first:
            word, what = _SYMBOLS[first.lower()]
            if value != word:
                raise self._fault(1, f"invalid {what}, expected `{word}`")
            return what
        raise self._unquoted()

    def _zero(self, at: int, *, signed: bool) -> str:
        value = self._raw[at:]
        mark = value[1:2]
        if not mark:
            return "integer"
        if mark.lower() not in _RADIX:
            return self._number(at)
        if " " in value:
            raise self._unquoted()
        radix, name = _RADIX[mark.lower()]
        if signed:
            raise self._fault(0, "integers with a radix cannot be signed, expected nothing")
        if mark == "d":
            raise self._fault(0, "redundant integer number prefix, expected nothing")
        if mark.isupper():
            raise self._fault(at, f"radix must be lowercase, expected `0{mark.lower()}`")
        return self._radixed(at + 2, radix, name)

    def _radixed(self, at: int, radix: int, name: str) -> str:
        digits = self._raw[at:]
        if digits[:1] in ("+", "-"):
            raise self._fault(at, "unexpected sign, expected nothing")
        allowed = "0123456789abcdef"[:radix]
        for index, mark in enumerate(digits):
            if mark.lower() not in allowed and mark != "_":
                raise self._fault(at + index, f"invalid {name} number")
        self._underscores(at)
        self._integer(digits.replace("_", ""), radix)
        return "integer"

    def _number(self, at: int) -> str:
        value = self._raw[at:]
        rest = value.lstrip(_DIGITS)
        if not rest:
            if value.startswith("0"):
                raise self._fault(at, "unexpected leading zero, expected nothing")
            self._integer(self._raw, 10)
            return "integer"
        if rest[0] in "-:":
            if reason := datetime_fault(self._raw):
                raise self._fault(0, reason)
            return "date-time"
        if " " in rest:
            raise self._unquoted()
        if any(mark in rest for mark in ".eE"):
            return self._float(at)
        if rest[0] == "_":
            if value.startswith("0"):
                raise self._fault(at, "unexpected leading zero, expected nothing")
            self._underscores(0)
            self._integer(self._raw.replace("_", ""), 10)
            return "integer"
        raise self._unquoted()

    def _integer(self, digits: str, radix: int) -> None:
        try:
            # Python refuses very long decimal numbers: they overflow all the same.
            value = int(digits, radix)
        except ValueError:
            raise LateFault(self._start, "integer number overflowed") from None
        if -(2**63) <= value < 2**63:
            return
        if -(2**127) <= value < 2**127:
            width = "i128"
        elif 0 <= value < 2**128:
            width = "u128"
        else:
            raise LateFault(self._start, "integer number overflowed")
        reason = f"invalid type: integer `{value}` as {width}, expected any valid TOML value"
        raise LateFault(self._start, reason)

    def _digits(self, at: int, what: str, *, leading_zero: bool) -> int:
        start = at
        count = 0
        while at < len(self._raw) and self._raw[at] in "0123456789_":
            count += self._raw[at] != "_"
            at += 1
        if count == 0:
            raise self._fault(start, f"invalid {what}, expected digits")
        if count > 1 and not leading_zero and self._raw[start] == "0":
            raise self._fault(start, "unexpected leading zero, expected nothing")
        return at

    def _float(self, at: int) -> str:
        raw = self._raw
        if " " in raw:
            raise self._unquoted()
        at = self._digits(at, "mantissa", leading_zero=False)
        if raw[at : at + 1] == ".":
            at = self._digits(at + 1, "fraction", leading_zero=True)
        if raw[at : at + 1] in ("e", "E"):
            at += 1
            if raw[at : at + 1] in ("+", "-"):
                at += 1
            at = self._digits(at, "exponent", leading_zero=True)
        if at < len(raw):
            raise self._fault(at, "invalid float, expected nothing")
        self._underscores(0, decimal=True)
        if float(raw.replace("_", "")) in (float("inf"), float("-inf")):
            raise LateFault(self._start, "floating-point number overflowed")
        return "float"

    def _underscores(self, start: int, *, decimal: bool = False) -> None:
        raw = self._raw
        allowed = _DIGITS if decimal else "0123456789abcdefABCDEF"
        for index in range(start, len(raw)):
            if raw[index] != "_":
                continue
            before = raw[index - 1 : index] if index > start else ""
            after = raw[index + 1 : index + 2]
            if not before or before not in allowed or not after or after not in allowed:
                raise self._fault(index, f"{_UNDERSCORE}, expected nothing")
