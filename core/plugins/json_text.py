"""A strict JSON reader that names faults as Codex does: its words, its lines, its columns.

The words and positions are those of serde_json, which Codex 0.171.0 reads its files with
(observed there). Columns count bytes. Reading with `msgspec` is forty times faster; this reader is
for what that one refuses and for what looks suspicious.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

DEPTH = 128
U64_MAX = 2**64 - 1
I64_MIN = -(2**63)

_WORDS = {0x6E: (b"null", None), 0x74: (b"true", True), 0x66: (b"false", False)}
_SPECIAL = re.compile(rb'["\\\x00-\x1f]')
_BLANK = re.compile(rb"[ \n\t\r]*")
_ESCAPES = {
    0x22: '"',
    0x5C: "\\",
    0x2F: "/",
    0x62: "\b",
    0x66: "\f",
    0x6E: "\n",
    0x72: "\r",
    0x74: "\t",
}
_HEX = re.compile(rb"[0-9A-Fa-f]{4}")
_DIGITS = re.compile(rb"[0-9]*")

EOF_LIST = "EOF while parsing a list"
EOF_OBJECT = "EOF while parsing an object"
EOF_STRING = "EOF while parsing a string"
EOF_VALUE = "EOF while parsing a value"
EXPECTED_VALUE = "expected value"
INVALID_NUMBER = "invalid number"
INVALID_ESCAPE = "invalid escape"
KEY_NOT_STRING = "key must be a string"
TRAILING_COMMA = "trailing comma"
TRAILING_CHARACTERS = "trailing characters"
CONTROL_CHARACTER = "control character (\\u0000-\\u001F) found while parsing a string"
LONE_SURROGATE = "lone leading surrogate in hex escape"
END_OF_HEX = "unexpected end of hex escape"


class JsonFault(ValueError):
    """Why a text cannot be read: `reason` at a 1-based `line` and a `column` in bytes."""

    def __init__(self, reason: str, line: int, column: int) -> None:
        super().__init__(reason, line, column)
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """As Codex prints it."""
        return f"{self.reason} at line {self.line} column {self.column}"


class Unplaced(ValueError):
    """A fault of meaning; the list or object around it gives it its place once it has ended."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Repeated(dict[str, Any]):
    """An object some of whose members stand there twice; the last value is kept."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        keys = [key for key, _ in pairs]
        self.repeated = frozenset(key for key in keys if keys.count(key) > 1)


class Scanner:
    """Reads one text from left to right; `pos` is the next byte."""

    __slots__ = ("data", "depth", "end", "pos")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.end = len(data)
        self.pos = 0
        self.depth = DEPTH

    def _fault_at(self, reason: str, index: int) -> JsonFault:
        start = self.data.rfind(b"\n", 0, index) + 1
        return JsonFault(reason, 1 + self.data.count(b"\n", 0, start), index - start)

    def fault(self, reason: str) -> JsonFault:
        """A fault at the last byte that was read."""
        return self._fault_at(reason, self.pos)

    def peek_fault(self, reason: str) -> JsonFault:
        """A fault at the byte that comes next."""
        return self._fault_at(reason, min(self.end, self.pos + 1))

    def place(self, error: Unplaced) -> JsonFault:
        """Give a fault of meaning the present place."""
        return self.fault(error.reason)

    def peek(self) -> int:
        """The next byte that is no blank, or -1 at the end; blanks are read."""
        match = _BLANK.match(self.data, self.pos)
        if match is not None:
            self.pos = match.end()
        return self.data[self.pos] if self.pos < self.end else -1

    def enter(self) -> None:
        """Read the opening bracket; refuse what is nested too deeply."""
        self.depth -= 1
        if self.depth == 0:
            raise self.peek_fault("recursion limit exceeded")
        self.pos += 1

    def finish(self) -> None:
        """Nothing but blanks may follow."""
        if self.peek() != -1:
            raise self.peek_fault(TRAILING_CHARACTERS)

    def word(self, first: int) -> bool | None:
        """The rest of `null`, `true` or `false`."""
        text, value = _WORDS[first]
        self.pos += 1
        for expected in text[1:]:
            if self.pos >= self.end:
                raise self.fault(EOF_VALUE)
            self.pos += 1
            if self.data[self.pos - 1] != expected:
                raise self.fault("expected ident")
        return value

    # -- strings -------------------------------------------------------------------------------

    def string(self) -> str:
        """A string whose opening quote comes next."""
        self.pos += 1
        parts: list[str] = []
        while True:
            match = _SPECIAL.search(self.data, self.pos)
            if match is None:
                self.pos = self.end
                raise self.fault(EOF_STRING)
            at = match.start()
            if at > self.pos:
                parts.append(self.data[self.pos : at].decode())
            self.pos = at + 1
            byte = self.data[at]
            if byte == 0x22:
                return "".join(parts)
            if byte != 0x5C:
                raise self.fault(CONTROL_CHARACTER)
            parts.append(self._escape())

    def _escape(self) -> str:
        if self.pos >= self.end:
            raise self.fault(EOF_STRING)
        byte = self.data[self.pos]
        self.pos += 1
        if byte == 0x75:
            return self._unicode()
        plain = _ESCAPES.get(byte)
        if plain is None:
            raise self.fault(INVALID_ESCAPE)
        return plain

    def _hex(self) -> int:
        if self.end - self.pos < 4:
            self.pos = self.end
            raise self.fault(EOF_STRING)
        match = _HEX.match(self.data, self.pos)
        self.pos += 4
        if match is None:
            raise self.fault(INVALID_ESCAPE)
        return int(match.group(), 16)

    def _unicode(self) -> str:
        high = self._hex()
        if 0xDC00 <= high <= 0xDFFF:
            raise self.fault(LONE_SURROGATE)
        if not 0xD800 <= high <= 0xDBFF:
            return chr(high)
        for expected in b"\\u":
            if self.pos >= self.end:
                raise self.fault(EOF_STRING)
            self.pos += 1
            if self.data[self.pos - 1] != expected:
                raise self.fault(END_OF_HEX)
        low = self._hex()
        if not 0xDC00 <= low <= 0xDFFF:
            raise self.fault(LONE_SURROGATE)
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))

    def skip_string(self) -> None:
        """Pass over a string whose opening quote comes next; surrogates may be lone."""
        self.pos += 1
        while True:
            match = _SPECIAL.search(self.data, self.pos)
            if match is None:
                self.pos = self.end
                raise self.fault(EOF_STRING)
            self.pos = match.start()
            byte = self.data[self.pos]
            if byte == 0x22:
                self.pos += 1
                return
            if byte != 0x5C:
                raise self.fault(CONTROL_CHARACTER)
            self.pos += 1
            if self.pos >= self.end:
                raise self.fault(EOF_STRING)
            byte = self.data[self.pos]
            self.pos += 1
            if byte == 0x75:
                self._hex()
            elif byte not in _ESCAPES:
                raise self.fault(INVALID_ESCAPE)

    # -- numbers -------------------------------------------------------------------------------

    def _byte(self) -> int:
        return self.data[self.pos] if self.pos < self.end else 0

    def _digits(self) -> bool:
        match = _DIGITS.match(self.data, self.pos)
        start = self.pos
        if match is not None:
            self.pos = match.end()
        return self.pos > start

    def _first_digit(self, *, skipping: bool) -> int:
        """The byte that must be a digit, read; how its absence is told depends on the reader."""
        if self.pos >= self.end and not skipping:
            raise self.fault(EOF_VALUE)
        byte = self._byte()
        self.pos = min(self.end, self.pos + 1)
        if not 0x30 <= byte <= 0x39:
            raise self.fault(INVALID_NUMBER)
        return byte

    def number(self, *, skipping: bool = False) -> int | float:
        """A number; any size is fine. Whole ones outside 64 bits come as float, as others do."""
        start = self.pos
        if self._byte() == 0x2D:
            self.pos += 1
        if self._first_digit(skipping=skipping) == 0x30:
            if 0x30 <= self._byte() <= 0x39:
                raise self.peek_fault(INVALID_NUMBER)
        else:
            self._digits()
        whole = self.pos
        if self._byte() == 0x2E:
            self.pos += 1
            if not self._digits():
                at_end = self.pos >= self.end and not skipping
                raise self.peek_fault(EOF_VALUE if at_end else INVALID_NUMBER)
        if self._byte() in b"eE" and self.pos < self.end:
            self.pos += 1
            if self._byte() in b"+-" and self.pos < self.end:
                self.pos += 1
            self._first_digit(skipping=skipping)
            self._digits()
        text = self.data[start : self.pos]
        if self.pos == whole:
            return _whole(text)
        return float(text)

    # -- any value -----------------------------------------------------------------------------

    def value(self) -> Any:
        """Any value. An object with repeated members comes as `Repeated`."""
        first = self.peek()
        if first in _WORDS:
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
        if first in _WORDS:
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
        elif first in _WORDS or first in (0x22, 0x2D) or 0x30 <= first <= 0x39:
            found = describe(self.value())
        else:
            raise self.peek_fault(EXPECTED_VALUE)
        raise self.fault(f"invalid type: {found}, expected {expected}")


def _whole(text: bytes) -> int | float:
    if len(text) < 19:
        return int(text)
    try:
        number = int(text)
    except ValueError:
        return float(text)
    fits = 0 <= number <= U64_MAX if text[:1] != b"-" else number >= I64_MIN
    return number if fits else float(text)


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
