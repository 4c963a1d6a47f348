"""Whole-string regular expressions of managed requirements, in the syntax of Rust's regex-lite.

A pattern is an administrator's rule: one that we cannot be sure to read as Codex does is refused,
never guessed at.
"""

from __future__ import annotations

import re


class PatternError(ValueError):
    """The pattern cannot be used; the text is the real one's where we know it."""


_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7F",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_LEADING_FLAGS = re.compile(r"\(\?([ims]+)\)")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_SCOPED_FLAGS = re.compile(r"\(\?[is]*(?:-[is]+)?:")
_POSIX = re.compile(r"\[:(\^?)([a-z]+):\]")
_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_HEX_BRACES = re.compile(r"\\[xuU]\{([0-9A-Fa-f]{1,8})\}")
_COUNT = re.compile(r"\{(\d+)(,(\d*))?\}")
_SAFE_ESCAPES = frozenset("dDsSwWbBAnrtfva")
# `\<` and `\>` are word boundaries there and nothing here.
_PUNCTUATION = frozenset("\\.+*?()|[]{}^$#&-~/:;,=!@%'\"_ `")


def compile_whole(expression: str) -> re.Pattern[str]:
    """A pattern that must match the whole candidate.

    Raises:
        PatternError: The text says what is wrong, without the pattern.
    """
    return _compile(expression, "\\A(?:{})\\Z")


def compile_anywhere(expression: str) -> re.Pattern[str]:
    """A pattern that is searched for in the candidate.

    Raises:
        PatternError: The text says what is wrong, without the pattern.
    """
    return _compile(expression, "(?:{})")


def _compile(expression: str, frame: str) -> re.Pattern[str]:
    flags = re.ASCII
    body = expression
    while leading := _LEADING_FLAGS.match(body):
        for flag in leading[1]:
            flags |= {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[flag]
        body = body[leading.end() :]
    translated = _Translator(body, multiline=bool(flags & re.MULTILINE)).run()
    try:
        return re.compile(frame.replace("{}", translated), flags)
    except (re.error, RecursionError, OverflowError) as error:
        raise PatternError(_told(str(error))) from None


def _told(reason: str) -> str:
    if "missing )" in reason:
        return "found open group without closing ')'"
    if "unterminated character set" in reason:
        return "found unclosed character class"
    if "unbalanced parenthesis" in reason:
        return "found closing ')' without matching '('"
    return reason


class _Translator:
    """Walks the pattern once; what both syntaxes mean alike passes through."""

    def __init__(self, text: str, *, multiline: bool) -> None:
        self._text = text
        self._at = 0
        self._out: list[str] = []
        # Rust's `$` is the very end; Python's also stands before a last newline.
        self._end = "$" if multiline else "\\Z"

    def _take(self, match: re.Match[str], replacement: str) -> None:
        self._at = match.end()
        self._out.append(replacement)

    def run(self) -> str:
        while self._at < len(self._text):
            mark = self._text[self._at]
            if mark == "\\":
                self._escape(in_class=False)
            elif mark == "[":
                self._class()
            elif mark == "(":
                self._group()
            elif mark in "*+?":
                self._at += 1
                self._quantified(mark)
            elif mark == "{":
                self._counted()
            elif mark == "$":
                self._at += 1
                self._out.append(self._end)
            else:
                self._at += 1
                self._out.append(mark)
        return "".join(self._out)

    def _group(self) -> None:
        text, at = self._text, self._at
        if not text.startswith("(?", at):
            self._at += 1
            self._out.append("(")
        elif text.startswith(("(?=", "(?!", "(?<=", "(?<!"), at):
            raise PatternError("look-around is not supported")
        elif named := _NAMED.match(text, at):
            self._take(named, f"(?P<{named[1]}>")
        elif scoped := _SCOPED_FLAGS.match(text, at):
            self._take(scoped, scoped.group())
        else:
            raise PatternError("flags inside a pattern are not supported")

    def _quantified(self, quantifier: str) -> None:
        following = self._text[self._at : self._at + 1]
        if following and following in "*+{":
            raise PatternError("repeated repetition is not supported")
        self._out.append(quantifier)
        if following == "?":
            self._at += 1
            self._out.append("?")

    def _counted(self) -> None:
        count = _COUNT.match(self._text, self._at)
        if count is None:
            raise PatternError("found counted repetition operator without a number")
        if max(int(part or 0) for part in (count[1], count[3])) > 65535:
            raise PatternError("counted repetition is too big")
        self._at = count.end()
        self._quantified(count.group())

    def _escape(self, *, in_class: bool) -> None:
        text, at = self._text, self._at
        if found := _HEX.match(text, at) or _HEX_BRACES.match(text, at):
            code = int(next(part for part in found.groups() if part), 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise PatternError("invalid escape")
            self._take(found, re.escape(chr(code)))
            return
        mark = text[at + 1 : at + 2]
        if mark in ("p", "P"):
            raise PatternError("Unicode character classes are not supported")
        if mark.isdigit() or mark == "k":
            raise PatternError("backreferences are not supported")
        if mark == "z" and not in_class:
            replacement = "\\Z"
        elif mark and mark in _PUNCTUATION | _SAFE_ESCAPES and not _odd(mark, in_class=in_class):
            replacement = "\\" + mark
        else:
            raise PatternError("invalid escape sequence")
        if mark == "b" and text.startswith("{", at + 2):
            raise PatternError("special word boundaries are not supported")
        self._at += 2
        self._out.append(replacement)

    def _class(self) -> None:
        self._at += 1
        self._out.append("[")
        if self._text.startswith("^", self._at):
            self._at += 1
            self._out.append("^")
        first = True
        while self._at < len(self._text):
            mark = self._text[self._at]
            if mark == "]" and not first:
                self._at += 1
                self._out.append("]")
                return
            if posix := _POSIX.match(self._text, self._at):
                if posix[1] or posix[2] not in _CLASSES:
                    raise PatternError("unsupported character class")
                self._take(posix, _CLASSES[posix[2]])
            elif mark == "[":
                raise PatternError("nested character classes are not supported")
            elif self._text[self._at : self._at + 2] in ("&&", "--", "~~"):
                raise PatternError("character class set operations are not supported")
            elif mark == "\\":
                self._escape(in_class=True)
            else:
                self._at += 1
                # Python warns of `||` in a class.
                self._out.append("\\" + mark if mark in "|]" else mark)
            first = False
        raise PatternError("found unclosed character class")


def _odd(mark: str, *, in_class: bool) -> bool:
    """Escapes that mean something else inside a character class."""
    return in_class and mark in "bBA"
