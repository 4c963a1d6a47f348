"""A strict JSON reader that names faults as Codex does: its words, its lines, its columns.

The words and positions are those of serde_json, which Codex 0.171.0 reads its files with
(observed there). Columns count bytes. Reading with `msgspec` is forty times faster; this reader is
for what that one refuses and for what looks suspicious.
"""

from __future__ import annotations

from typing import Any, NoReturn

from core.plugins.json_tokens import (
    EOF_LIST,
    EOF_OBJECT,
    EOF_VALUE,
    EXPECTED_VALUE,
    KEY_NOT_STRING,
    TRAILING_CHARACTERS,
    TRAILING_COMMA,
    WORDS,
    Tokens,
)


class Repeated(dict[str, Any]):
    """An object some of whose members stand there twice; the last value is kept."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.repeated = frozenset(key for key in keys if keys.count(key) > 1)


class Scanner(Tokens):
    """Reads values. Whoever wants only some of them says so member by member."""

    __slots__ = ()

    def value(self) -> Any:
        """Any value. An object with repeated members comes as `Repeated`."""
        first = self.peek()
        if first in WORDS:
            return self.word(first)
        if first == 0x2D or 0x30 <= first <= 0x39:
            return self.number()
        if first == 0x22:
            return self.string()
        if first == 0x5B:
            self.enter()
            items: list[Any] = []
            while self.next_item(first=not items):
                items.append(self.value())
            self.depth += 1
            self.end_list()
            return items
        if first == 0x7B:
            return self._object()
        raise self.peek_fault(EOF_VALUE if first == -1 else EXPECTED_VALUE)

    def _object(self) -> dict[str, Any]:
        self.enter()
        pairs: list[tuple[str, Any]] = []
        while self.next_key(first=not pairs):
            key = self.string()
            self.colon()
            pairs.append((key, self.value()))
        self.depth += 1
        self.end_object()
        plain = dict(pairs)
        return plain if len(plain) == len(pairs) else Repeated(pairs)

    def next_key(self, *, first: bool) -> bool:
        """Whether another member follows; its quote comes next then."""
        byte = self.peek()
        if byte == 0x7D:
            return False
        if byte == 0x2C and not first:
            self.pos += 1
            byte = self.peek()
            if byte == 0x22:
                return True
            if byte == 0x7D:
                raise self.peek_fault(TRAILING_COMMA)
            raise self.peek_fault(EOF_VALUE if byte == -1 else KEY_NOT_STRING)
        if byte == -1:
            raise self.peek_fault(EOF_OBJECT)
        if not first:
            raise self.peek_fault("expected `,` or `}`")
        if byte != 0x22:
            raise self.peek_fault(KEY_NOT_STRING)
        return True

    def next_item(self, *, first: bool) -> bool:
        """Whether another item follows."""
        byte = self.peek()
        if byte == 0x5D:
            return False
        if byte == 0x2C and not first:
            self.pos += 1
            byte = self.peek()
            if byte == 0x5D:
                raise self.peek_fault(TRAILING_COMMA)
            if byte == -1:
                raise self.peek_fault(EOF_VALUE)
            return True
        if byte == -1:
            raise self.peek_fault(EOF_LIST)
        if not first:
            raise self.peek_fault("expected `,` or `]`")
        return True

    def colon(self) -> None:
        """Read the colon after a key."""
        byte = self.peek()
        if byte != 0x3A:
            raise self.peek_fault(EOF_OBJECT if byte == -1 else "expected `:`")
        self.pos += 1

    def end_list(self) -> None:
        """Read the closing bracket of a list."""
        byte = self.peek()
        if byte == 0x5D:
            self.pos += 1
            return
        if byte == 0x2C:
            self.pos += 1
            byte = self.peek()
            raise self.peek_fault(TRAILING_COMMA if byte == 0x5D else TRAILING_CHARACTERS)
        raise self.peek_fault(EOF_LIST if byte == -1 else TRAILING_CHARACTERS)

    def end_object(self) -> None:
        """Read the closing brace of an object."""
        byte = self.peek()
        if byte == 0x7D:
            self.pos += 1
            return
        if byte == 0x2C:
            raise self.peek_fault(TRAILING_COMMA)
        raise self.peek_fault(EOF_OBJECT if byte == -1 else TRAILING_CHARACTERS)

    # -- passing over --------------------------------------------------------------------------

    def skip(self) -> None:
        """Pass over a value that nobody wants: any depth, lone surrogates allowed."""
        enclosing: list[int] = []
        while True:
            opened = self._skip_one()
            if opened:
                enclosing.append(opened)
            elif not enclosing:
                return
            if self._skip_ends(enclosing, after_value=not opened):
                return
            if enclosing[-1] == 0x7B:
                self._skip_key()

    def _skip_one(self) -> int:
        """Pass over a plain value, or only the opening bracket, which is returned."""
        first = self.peek()
        if first in WORDS:
            self.word(first)
        elif first == 0x2D or 0x30 <= first <= 0x39:
            self.number(skipping=True)
        elif first == 0x22:
            self.skip_string()
        elif first in (0x5B, 0x7B):
            self.pos += 1
            return first
        else:
            raise self.peek_fault(EOF_VALUE if first == -1 else EXPECTED_VALUE)
        return 0

    def _skip_ends(self, enclosing: list[int], *, after_value: bool) -> bool:
        """Closing brackets and the comma before the next value; True when all are closed."""
        while True:
            byte = self.peek()
            in_list = enclosing[-1] == 0x5B
            if byte == 0x2C and after_value:
                self.pos += 1
                return False
            if byte == -1:
                raise self.peek_fault(EOF_LIST if in_list else EOF_OBJECT)
            if byte != (0x5D if in_list else 0x7D):
                if after_value:
                    raise self.peek_fault(f"expected `,` or `{']' if in_list else '}'}`")
                return False
            self.pos += 1
            enclosing.pop()
            if not enclosing:
                return True
            after_value = True

    def _skip_key(self) -> None:
        byte = self.peek()
        if byte != 0x22:
            raise self.peek_fault(EOF_OBJECT if byte == -1 else KEY_NOT_STRING)
        self.skip_string()
        self.colon()

    # -- wrong types ---------------------------------------------------------------------------

    def wrong_type(self, expected: str) -> NoReturn:
        """Tell that what comes next is not `expected`; simple values are read first."""
        first = self.peek()
        if first == 0x5B:
            found = "sequence"
        elif first == 0x7B:
            found = "map"
        elif first in WORDS or first in (0x22, 0x2D) or 0x30 <= first <= 0x39:
            found = describe(self.value())
        else:
            raise self.peek_fault(EXPECTED_VALUE)
        raise self.fault(f"invalid type: {found}, expected {expected}")


def _debug_character(char: str) -> str:
    quoted = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\r": "\\r", "\n": "\\n", "\0": "\\0"}
    if char in quoted:
        return quoted[char]
    if char.isascii():
        return char if char.isprintable() else f"\\u{{{ord(char):x}}}"
    from unicodedata import category

    extends = category(char) in ("Mn", "Me")
    return f"\\u{{{ord(char):x}}}" if extends or not char.isprintable() else char


def quoted(text: str) -> str:
    """`text` in double quotes, as Rust's debug form escapes it."""
    return '"' + "".join(map(_debug_character, text)) + '"'


def describe(value: object, *, buffered: bool = False) -> str:
    """A value as serde names it in "invalid type".

    Args:
        buffered: The value was read before its type was asked for; fractions are maps then.
    """
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return "map" if buffered else "number"
        case str():
            return f"string {quoted(value)}"
        case list():
            return "sequence"
        case _:
            return "map"
