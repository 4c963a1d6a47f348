"""Cuts a TOML text into tokens, without judging them."""

from __future__ import annotations

import re
from typing import NamedTuple


class Token(NamedTuple):
    """One token: its kind and its characters `text[start:end]`.

    Kinds: the punctuation characters themselves, `w` blanks, `n` newline, `c` comment, `a` atom
    (a bare word), `s` basic string, `S` multi-line basic string, `l` literal string,
    `L` multi-line literal string, `$` end of text.
    """

    kind: str
    start: int
    end: int


STRINGS = frozenset("sSlL")
_KINDS = " wncsSlLap"  # by group number
# Strings may lack their closing quote: the judgement comes later, the place of the next token
# must be right now.
_TOKEN = re.compile(
    r"""
    ([ \t]+)
    | (\r\n | \n | \r)
    | (\#[^\r\n]*)
    | ((?!\"{3}) " (?: [^"\\\n] | \\[\\"]? )* (?: " | (?=\n) | \Z ))
    | (\"{3} (?: [^"\\] | \\[\\"]? | "(?!"") )* (?: \"{3,5} | "{0,2}\Z ))
    | ((?!'{3}) ' [^'\n]* (?: ' | (?=\n) | \Z ))
    | ('{3} (?: [^'] | '(?!'') )* (?: '{3,5} | '{0,2}\Z ))
    | ([^.=,\[\]{}\ \t\#\r\n]+)
    | ([.=,\[\]{}])
    """,
    re.VERBOSE,
)


def lex(text: str) -> list[Token]:
    """All tokens of `text`, the end token last; a BOM at the beginning is skipped."""
    start = 1 if text.startswith("\ufeff") else 0
    tokens: list[Token] = []
    append = tokens.append
    for match in _TOKEN.finditer(text, start):
        group = match.lastindex or 0
        kind = _KINDS[group]
        begin, end = match.span()
        append(Token(text[begin] if kind == "p" else kind, begin, end))
    append(Token("$", len(text), len(text)))
    return tokens
