"""A byte stream cut into lines, in linear time and bounded memory."""

from __future__ import annotations


class LineTooLong(Exception):
    """A line above the limit; the stream cannot be trusted after it."""


class LineSplitter:
    """Feed it pieces of any size, get whole lines; a line is at most `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their ends (LF or CRLF); blank ones left out.

        Raises:
            LineTooLong: Also while such a line is still growing.
        """
        *whole, rest = data.split(b"\n")
        lines: list[bytes] = []
        for piece in whole:
            self._grow(piece)
            lines.append(self.rest())
        if rest:
            self._grow(rest)
        return [line for line in lines if line]

    def rest(self) -> bytes:
        """What has come of an unfinished line, at the end of the stream; it is forgotten."""
        line = b"".join(self._parts).strip()
        self._parts, self._size = [], 0
        return line

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise LineTooLong
        self._parts.append(piece)
