"""Server-sent events, cut incrementally out of a byte stream (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(rb"\r\n|\n|\r")
_MOST_RETRY_MS = 3_600_000


class EventTooLarge(Exception):
    """An event above the limit; the stream cannot be trusted after it."""


@dataclass(frozen=True, kw_only=True)
class ServerSentEvent:
    """One event, or a mere id or retry time without data.

    Attributes:
        type: `message` unless the server says otherwise.
        data: Its lines joined; "" when there was none.
        id: None when this event sets none; "" takes an earlier one back.
        retry: Seconds to wait before connecting again; None when it says nothing.
    """

    type: str = "message"
    data: bytes = b""
    id: str | None = None
    retry: float | None = None


class EventParser:
    """Feed it bytes, get events; linear in time, at most `limit` bytes for one event."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []  # of an unfinished line
        self._after_cr = False
        self._first = True
        self._size = 0
        self._reset()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that `data` completes.

        Raises:
            EventTooLarge: Also while such an event is still growing.
        """
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
        if not data:
            return []
        # A line end is known by its CR; the LF that may follow in the next piece is skipped.
        self._after_cr = data.endswith(b"\r")
        *whole, rest = _LINE_END.split(data)
        events: list[ServerSentEvent] = []
        for piece in whole:
            self._grow(piece)
            line = b"".join(self._parts)
            self._parts = []
            if event := self._line(line):
                events.append(event)
        if rest:
            self._grow(rest)
        return events

    def _grow(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise EventTooLarge
        self._parts.append(piece)

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            return self._dispatch()
        name, _, value = line.partition(b":")
        self._field(name, value.removeprefix(b" "))
        return None

    def _field(self, name: bytes, value: bytes) -> None:
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode("utf-8", "replace")
        elif name == b"retry" and value.isdigit():
            self._retry = min(int(value[:9]), _MOST_RETRY_MS) / 1000

    def _dispatch(self) -> ServerSentEvent | None:
        said = bool(self._data) or self._id is not None or self._retry is not None
        event = ServerSentEvent(
            type=self._type or "message",
            data=b"\n".join(self._data),
            id=self._id,
            retry=self._retry,
        )
        self._reset()
        self._size = 0
        return event if said else None

    def _reset(self) -> None:
        self._data: list[bytes] = []
        self._type = ""
        self._id: str | None = None
        self._retry: float | None = None
