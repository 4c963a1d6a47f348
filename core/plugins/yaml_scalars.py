"""Scalars of YAML 1.1 in all their styles, read and complained about as libyaml does it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Mark(NamedTuple):
    """A place; all three count from 0."""

    offset: int
    line: int
    column: int

    def __str__(self) -> str:
        """1-based."""
        return f"line {self.line + 1} column {self.column + 1}"


class YamlFault(ValueError):
    """Why a text is no YAML, in libyaml's words.

    Attributes:
        partial: The node that was read up to here, or None.
    """

    def __init__(
        self, problem: str, mark: Mark, context: str = "", context_mark: Mark | None = None
    ) -> None:
        super().__init__(problem, mark, context)
        self.problem = problem
        self.mark = mark
        self.context = context
        self.context_mark = context_mark
        self.partial: object = None

    def __str__(self) -> str:
        """As Codex prints it: places at the very beginning are left out."""
        text = self.problem
        if self.mark.line or self.mark.column:
            text += f" at {self.mark}"
        elif self.mark.offset:
            text += f" at position {self.mark.offset}"
        if self.context:
            text += f", {self.context}"
            at = self.context_mark
            if at and (at.line or at.column) and at[1:] != self.mark[1:]:
                text += f" at {at}"
        return text


class Token(NamedTuple):
    """`kind` is the indicator's own spelling where it has one; `plain` marks plain scalars."""

    kind: str
    mark: Mark
    text: str = ""
    plain: bool = False


BREAKS = "\n\r\x85\u2028\u2029"
BLANKZ = f" \t{BREAKS}"
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_B = r" \t\n\r\x85\u2028\u2029"
_PLAIN_BLOCK = re.compile(rf"(?:[^:{_B}]|:(?=[^{_B}]))+")
_PLAIN_FLOW = re.compile(rf"(?:[^:{_B},?\[\]{{}}]|:(?=[^{_B},?\[\]{{}}])|\?)+")
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX = {"x": 2, "u": 4, "U": 8}


class Scalars:
    """A place in a text, and what can be read from there."""

    def __init__(self, text: str) -> None:
        if bad := _CONTROL.search(text):
            offset = len(text[: bad.start()].encode("utf-8", "replace"))
            raise YamlFault("control characters are not allowed", Mark(offset, 0, 0))
        self._text = text
        self._end = len(text)
        self._pos: int = 0
        self._line: int = 0
        self._start: int = 0
        self._flow = 0
        self._indent = -1
        self._key_allowed = True

    @property
    def _column(self) -> int:
        return self._pos - self._start

    def _mark(self) -> Mark:
        return Mark(self._pos, self._line, self._pos - self._start)

    def _at(self, offset: int = 0) -> str:
        index = self._pos + offset
        return self._text[index] if index < self._end else ""

    def _blank_at(self, offset: int) -> bool:
        char = self._at(offset)
        return not char or char in BLANKZ

    def _break(self) -> str:
        """Read a line break; what it means in a scalar."""
        char = self._at()
        self._pos += 2 if char == "\r" and self._at(1) == "\n" else 1
        self._line += 1
        self._start = self._pos
        return char if char in "\u2028\u2029" else "\n"

    def _fail(self, problem: str, context: str, context_mark: Mark) -> YamlFault:
        return YamlFault(problem, self._mark(), context, context_mark)

    def _plain(self) -> Token:
        mark = self._mark()
        pattern = _PLAIN_FLOW if self._flow else _PLAIN_BLOCK
        text = gap = ""
        broken = False
        indent = self._indent + 1
        while True:
            if self._column == 0 and self._text.startswith(("---", "..."), self._pos):
                if self._blank_at(3):
                    break
            match = pattern.match(self._text, self._pos)
            if match is not None:
                text += gap + match.group()
                self._pos = match.end()
            if self._flow and self._at() == ":" and (after := self._at(1)) and after in ",?[]{}":
                raise self._fail("found unexpected ':'", "while scanning a plain scalar", mark)
            if match is None:
                break
            gap, broken = self._plain_gap(mark, indent)
            if self._at() == "#" or (not self._flow and broken and self._column < indent):
                break
        if broken:
            self._key_allowed = True
        return Token("scalar", mark, text, True)

    def _plain_gap(self, mark: Mark, indent: int) -> tuple[str, bool]:
        """Blanks and line breaks inside a plain scalar, folded."""
        blanks = ""
        breaks: list[str] = []
        while (char := self._at()) and char in BLANKZ:
            if char in BREAKS:
                breaks.append(self._break())
            else:
                if breaks and self._column < indent and char == "\t":
                    raise self._fail(
                        "found a tab character that violates indentation",
                        "while scanning a plain scalar",
                        mark,
                    )
                if not breaks:
                    blanks += char
                self._pos += 1
        return (_fold(breaks) if breaks else blanks), bool(breaks)

    def _quoted(self, quote: str) -> Token:
        mark = self._mark()
        context = "while scanning a quoted scalar"
        self._pos += 1
        parts: list[str] = []
        while True:
            if self._column == 0 and self._text.startswith(("---", "..."), self._pos):
                if self._blank_at(3):
                    raise self._fail("found unexpected document indicator", context, mark)
            char = self._at()
            if not char:
                raise self._fail("found unexpected end of stream", context, mark)
            if char == quote:
                self._pos += 1
                if quote == '"' or self._at() != "'":
                    return Token("scalar", mark, "".join(parts))
                parts.append("'")
                self._pos += 1
            elif char in BLANKZ:
                parts.append(self._quoted_gap())
            elif char == "\\" and quote == '"':
                parts.append(self._escape(mark))
            else:
                parts.append(char)
                self._pos += 1

    def _quoted_gap(self) -> str:
        blanks = ""
        breaks: list[str] = []
        while (char := self._at()) and char in BLANKZ:
            if char in BREAKS:
                breaks.append(self._break())
            else:
                if not breaks:
                    blanks += char
                self._pos += 1
        return _fold(breaks) if breaks else blanks

    def _escape(self, mark: Mark) -> str:
        context = "while parsing a quoted scalar"
        char = self._at(1)
        if char and char in BREAKS:
            self._pos += 1
            self._break()
            breaks: list[str] = []
            while (blank := self._at()) and blank in BLANKZ:
                if blank in BREAKS:
                    breaks.append(self._break())
                else:
                    self._pos += 1
            return "".join(breaks)
        if char in _HEX:
            self._pos += 2
            digits = self._text[self._pos : self._pos + _HEX[char]]
            if not re.fullmatch(f"[0-9A-Fa-f]{{{_HEX[char]}}}", digits):
                raise self._fail("did not find expected hexadecimal number", context, mark)
            value = int(digits, 16)
            if 0xD800 <= value <= 0xDFFF or value > 0x10FFFF:
                raise self._fail("found invalid Unicode character escape code", context, mark)
            self._pos += len(digits)
            return chr(value)
        if not char or char not in _ESCAPES:
            raise self._fail("found unknown escape character", context, mark)
        self._pos += 2
        return _ESCAPES[char]

    def _block_scalar(self, style: str) -> Token:
        mark = self._mark()
        self._pos += 1
        chomp, increment = self._block_header(mark)
        indent = max(self._indent, 0) + increment if increment else 0
        indent, trailing = self._block_breaks(indent, mark)
        text = ""
        leading = ""
        leading_blank = False
        while self._column == indent and self._at():
            blank = self._at() in " \t"
            if style == ">" and leading == "\n" and not leading_blank and not blank:
                text += "" if trailing else " "
            else:
                text += leading
            text += trailing
            leading_blank = blank
            stop = self._pos
            while stop < self._end and self._text[stop] not in BREAKS:
                stop += 1
            text += self._text[self._pos : stop]
            self._pos = stop
            leading = self._break() if self._at() else ""
            indent, trailing = self._block_breaks(indent, mark)
        if chomp != "-":
            text += leading
        if chomp == "+":
            text += trailing
        return Token("scalar", mark, text)

    def _block_header(self, mark: Mark) -> tuple[str, int]:
        context = "while scanning a block scalar"
        chomp, increment = "", 0
        for _ in range(2):
            char = self._at()
            if char and char in "+-" and not chomp:
                chomp = char
                self._pos += 1
            elif char.isdigit() and char.isascii() and not increment:
                if char == "0":
                    problem = "found an indentation indicator equal to 0"
                    raise self._fail(problem, context, mark)
                increment = int(char)
                self._pos += 1
        while self._at() and self._at() in " \t":
            self._pos += 1
        if self._at() == "#":
            while self._at() and self._at() not in BREAKS:
                self._pos += 1
        if self._at() and self._at() not in BREAKS:
            raise self._fail("did not find expected comment or line break", context, mark)
        if self._at():
            self._break()
        return chomp, increment

    def _block_breaks(self, indent: int, mark: Mark) -> tuple[int, str]:
        """Empty lines before the next line of a block scalar; finds its indentation."""
        deepest = 0
        breaks = ""
        while True:
            while (not indent or self._column < indent) and self._at() == " ":
                self._pos += 1
            deepest = max(deepest, self._column)
            if (not indent or self._column < indent) and self._at() == "\t":
                raise self._fail(
                    "found a tab character where an indentation space is expected",
                    "while scanning a block scalar",
                    mark,
                )
            if not self._at() or self._at() not in BREAKS:
                break
            breaks += self._break()
        if not indent:
            indent = max(deepest, self._indent + 1, 1)
        return indent, breaks


def _fold(breaks: list[str]) -> str:
    """One line break is a blank; of several the first is dropped."""
    if breaks[0] != "\n":
        return "".join(breaks)
    return "".join(breaks[1:]) or " "
