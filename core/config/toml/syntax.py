"""The shape of a TOML text: statements, keys and values with their places.

Follows the two passes of the parser in Codex 0.171.0, so that of several faults the one is told
that Codex would tell: first the shape of the whole text, then, statement by statement, whether
words are keys and values (`core.config.toml.words`) and keys are new (`core.config.toml.tree`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from core.config.pace import Pace
from core.config.toml.fault import TomlFault
from core.config.toml.lexer import STRINGS, Token, lex

MAX_DEPTH = 80
"""Arrays and inline tables may be nested this deep, as in the `toml` crate."""

_COMMENT_BAD = re.compile(r"[^\t\x20-\x7e\x80-\U0010ffff]")
_KEY = STRINGS | {"a"}
_SCALAR = _KEY | {"."}
_END_OF_WORD = frozenset("c,n$={}[]") | STRINGS


@dataclass(slots=True)
class Value:
    """A scalar, an array or an inline table; `kind` of a scalar is its token's."""

    kind: str
    start: int
    end: int
    items: list[Value] = field(default_factory=list["Value"])
    entries: list[Entry] = field(default_factory=list["Entry"])


@dataclass(slots=True)
class Entry:
    """`keys = value`. `end` is the end of the value."""

    keys: list[Token]
    value: Value
    start: int
    end: int


@dataclass(slots=True)
class Header:
    """`[keys]` or `[[keys]]`, from the first bracket to the last."""

    keys: list[Token]
    is_array: bool
    start: int
    end: int


Statement = Header | Entry


def parse(text: str) -> list[Statement]:
    """The statements of a text.

    Raises:
        TomlFault: The shape of the text is wrong.
    """
    return list(_Parser(text).statements())


class _Parser:
    """One pass over the tokens; `_at` is the next token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = lex(text)
        self._at = 0
        self._depth = 0

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += 1
        return token

    def statements(self) -> Iterator[Statement]:
        pace = Pace()
        while (token := self._peek()).kind != "$":
            pace.tick()
            if token.kind in "wnc":
                self._skip_blank(self._next())
            elif token.kind == "[":
                yield self._header()
            elif token.kind in _KEY or token.kind in ".=":
                yield self._expression()
            elif token.kind == "]":
                raise TomlFault(token.start, "missing table open, expected `[`")
            else:
                raise TomlFault(token.start, "invalid key-value pair, expected key")

    def _skip_blank(self, token: Token) -> None:
        """Judge blanks, a newline or a comment; only the latter two can be wrong."""
        if token.kind == "c":
            if bad := _COMMENT_BAD.search(self._text, token.start, token.end):
                raise TomlFault(
                    bad.start(), "invalid comment character, expected printable characters"
                )
        elif token.kind == "n" and self._text[token.start : token.end] == "\r":
            raise TomlFault(
                token.end, "carriage return must be followed by newline, expected newline"
            )

    def _blanks(self) -> None:
        if self._peek().kind == "w":
            self._at += 1

    def _header(self) -> Header:
        opening = self._next()
        is_array = self._peek().kind == "["
        if is_array:
            self._at += 1
        self._blanks()
        keys = self._keys()
        last = self._previous_word()
        closing = self._peek()
        if closing.kind != "]":
            if keys[-1].start == keys[-1].end:
                # The empty key is told instead, once keys are judged.
                return self._rest_ignored(Header(keys, is_array, opening.start, last.end))
            raise TomlFault(
                last.end,
                "unclosed array table, expected `]]`"
                if is_array
                else "unclosed table, expected `]`",
            )
        self._at += 1
        if is_array:
            second = self._peek()
            if second.kind != "]":
                raise TomlFault(closing.end, "unclosed array table, expected `]`")
            self._at += 1
            closing = second
        self._line_end()
        return Header(keys, is_array, opening.start, closing.end)

    def _rest_ignored(self, header: Header) -> Header:
        while (token := self._peek()).kind != "$":
            self._at += 1
            if token.kind in "nc":
                self._skip_blank(token)
                if token.kind == "n":
                    break
        return header

    def _previous_word(self) -> Token:
        at = self._at - 1
        while self._tokens[at].kind == "w":
            at -= 1
        return self._tokens[at]

    def _keys(self) -> list[Token]:
        """A dotted key; where a part is missing an empty token stands for it."""
        keys: list[Token] = []
        while True:
            self._blanks()
            token = self._peek()
            if token.kind in _KEY:
                keys.append(self._next())
                self._blanks()
            else:
                keys.append(Token("a", token.start, token.start))
                if token.kind != ".":
                    return keys
            if self._peek().kind != ".":
                return keys
            self._at += 1

    def _expression(self) -> Entry:
        start = self._peek().start
        keys = self._keys()
        equals = self._peek()
        if equals.kind != "=":
            dotted_first = self._text[start : start + 1] == "."
            what = "missing value for key" if dotted_first else "key with no value"
            raise TomlFault(equals.start, f"{what}, expected `=`")
        self._at += 1
        self._blanks()
        value = self._value()
        self._line_end()
        return Entry(keys, value, start, value.end)

    def _line_end(self) -> None:
        self._blanks()
        token = self._next()
        if token.kind not in "cn$":
            raise TomlFault(token.start, "unexpected key or value, expected newline, `#`")
        self._skip_blank(token)
        if token.kind == "$":
            self._at -= 1

    def _value(self) -> Value:
        token = self._peek()
        match token.kind:
            case "c" | "," | "n" | "$" | "w":
                return Value("a", token.start, token.start)
            case "=":
                raise TomlFault(token.start, "extra `=`, expected nothing")
            case "{":
                return self._table()
            case "[":
                return self._array()
            case "}":
                raise TomlFault(token.start, "missing inline table opening, expected `{`")
            case "]":
                raise TomlFault(token.start, "missing array opening, expected `[`")
            case _:
                return self._scalar()

    def _scalar(self) -> Value:
        """A string, or bare words up to something that cannot belong to them."""
        first = self._next()
        if first.kind in STRINGS:
            return Value(first.kind, first.start, first.end)
        end = first.end
        while (token := self._peek()).kind not in _END_OF_WORD:
            if token.kind == "w":
                if self._tokens[self._at + 1].kind != "a":
                    break
                token = self._tokens[self._at + 1]
                self._at += 1
            end = token.end
            self._at += 1
        return Value("a", first.start, end)

    def _descend(self, opening: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TomlFault(opening.start, "cannot recurse further; max recursion depth met")

    def _last_solid_end(self) -> int:
        at = self._at - 1
        while at >= 0 and self._tokens[at].kind in "wcn$":
            at -= 1
        return self._tokens[at].end if at >= 0 else 0

    def _array(self) -> Value:
        opening = self._next()
        self._descend(opening)
        value = Value("[", opening.start, opening.end)
        wants_comma = False
        while True:
            token = self._peek()
            kind = token.kind
            if kind in "wnc":
                self._skip_blank(self._next())
                continue
            if kind == "$":
                raise TomlFault(self._last_solid_end(), "unclosed array, expected `]`")
            if kind == "]":
                self._at += 1
                self._depth -= 1
                value.end = token.end
                return value
            if kind == ",":
                if not wants_comma:
                    raise TomlFault(token.start, "extra comma in array, expected value")
                self._at += 1
                wants_comma = False
                continue
            if kind == "=":
                raise TomlFault(token.start, "unexpected `=` in array, expected value, `]`")
            if wants_comma:
                raise TomlFault(token.start, "missing comma between array elements, expected `,`")
            value.items.append(self._value())
            wants_comma = True

    def _table(self) -> Value:
        opening = self._next()
        self._descend(opening)
        table = Value("{", opening.start, opening.end)
        pending = _Pending()
        while True:
            token = self._peek()
            kind = token.kind
            if kind in "wnc":
                self._skip_blank(self._next())
            elif kind == "$":
                raise TomlFault(self._last_solid_end(), "unclosed inline table, expected `}`")
            elif kind == "}":
                if pending.state in ("equals", "value"):
                    # Judged with the values: an empty literal string stands for what lacks.
                    lacking = Value("l", token.start, token.start)
                    entry = Entry(pending.keys, lacking, pending.start, token.start)
                    table.entries.append(entry)
                self._at += 1
                self._depth -= 1
                table.end = token.end
                return table
            elif fault := pending.fault(kind):
                raise TomlFault(token.start, fault)
            elif kind == ",":
                self._at += 1
                pending.state = "key"
            elif kind == "=" and pending.state == "equals":
                self._at += 1
                pending.state = "value"
            elif pending.state == "key":
                pending.keys = self._keys()
                pending.start = token.start
                pending.state = "equals"
            else:
                value = self._value()
                table.entries.append(Entry(pending.keys, value, pending.start, value.end))
                pending.state = "comma"


@dataclass(slots=True)
class _Pending:
    """What an inline table waits for next."""

    state: Literal["key", "equals", "value", "comma"] = "key"
    keys: list[Token] = field(default_factory=list[Token])
    start: int = 0

    def _expected(self) -> str:
        return {"key": "key", "equals": "`=`", "value": "value", "comma": "`,`"}[self.state]

    def fault(self, kind: str) -> str:
        """Why a token of this kind cannot come now, or ""."""
        state, expected = self.state, self._expected()
        if kind == ",":
            wrong = "" if state == "comma" else "extra comma in inline table"
        elif kind == "=":
            wrong = (
                "extra assignment between key-value pairs" if state in ("value", "comma") else ""
            )
        elif kind in "[{":
            wrong = {
                "key": "missing key for inline table element",
                "comma": "missing key for inline table element",
                "equals": "missing assignment between key-value pairs",
                "value": "",
            }[state]
        elif kind == "]":
            wrong = "" if state == "value" else "invalid inline table element"
        else:
            wrong = {
                "key": "",
                "value": "",
                "equals": "missing assignment between key-value pairs",
                "comma": "missing comma between key-value pairs",
            }[state]
        return f"{wrong}, expected {expected}" if wrong else ""
