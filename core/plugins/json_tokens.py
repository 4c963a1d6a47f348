"""The tokens of JSON texts, and their faults with the words and places of serde_json."""

from __future__ import annotations

import re

DEPTH = 128
U64_MAX = 2**64 - 1
I64_MIN = -(2**63)

WORDS = {0x6E: (b"null", None), 0x74: (b"true", True), 0x66: (b"false", False)}
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


class Tokens:
    """Reads one text from left to right, a token at a time; `pos` is the next byte."""

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
        text, value = WORDS[first]
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


def _whole(text: bytes) -> int | float:
    if len(text) < 19:
        return int(text)
    try:
        number = int(text)
    except ValueError:
        return float(text)
    fits = 0 <= number <= U64_MAX if text[:1] != b"-" else number >= I64_MIN
    return number if fits else float(text)
