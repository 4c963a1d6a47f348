"""Judges a date, a time or both."""

from __future__ import annotations

import re
from typing import NamedTuple

_LEADING = re.compile(r"\d*")


class _Part(NamedTuple):
    """A number with the width that it must have and what to call it."""

    name: str
    digits: str
    width: int
    shape: str


class _Wrong(Exception):
    """Carries the reason out of the scanner."""


def datetime_fault(raw: str) -> str:
    """Why `raw` is no date, time or both, in the parser's words; "" when it is."""
    try:
        _Scanner(raw).scan()
    except _Wrong as wrong:
        return str(wrong)
    return ""


class _Scanner:
    """Reads date, time and offset in turn; of each first the marks, then widths, then ranges."""

    def __init__(self, raw: str) -> None:
        self._raw = raw
        self._at = 0
        self._area = "date"
        self._parts: list[_Part] = []

    def _wrong(self, expected: str) -> _Wrong:
        return _Wrong(f"invalid {self._area}, expected {expected}")

    def _digits(self, name: str, width: int, shape: str) -> None:
        match = _LEADING.match(self._raw, self._at)
        digits = match.group() if match else ""
        if not digits:
            raise self._wrong(name)
        self._at += len(digits)
        self._parts.append(_Part(name, digits, width, shape))

    def _takes(self, mark: str) -> bool:
        if not self._raw.startswith(mark, self._at):
            return False
        self._at += 1
        return True

    def _mark(self, mark: str, shape: str) -> None:
        if not self._takes(mark):
            raise self._wrong(f"`{mark}` ({shape})")

    def _numbers(self) -> list[int]:
        parts, self._parts = self._parts, []
        for part in parts:
            if len(part.digits) != part.width:
                words = {2: "two", 4: "four"}[part.width]
                raise self._wrong(f"a {words}-digit {part.name} ({part.shape})")
        return [int(part.digits) for part in parts]

    def _range(self, value: int, low: int, high: int, what: str) -> None:
        if not low <= value <= high:
            raise self._wrong(f"{what} between {low:02} and {high:02}")

    def scan(self) -> None:
        lead = _LEADING.match(self._raw)
        if lead is None or not lead.group():
            raise _Wrong("invalid datetime, expected year or hour")
        dated = not self._raw.startswith(":", lead.end())
        if dated:
            self._date()
            if self._at == len(self._raw):
                return
            if self._raw[self._at] not in "Tt ":
                self._area = "date-time"
                raise self._wrong("`T` between date and time")
            self._at += 1
        self._time()
        if dated and self._at < len(self._raw):
            self._offset()
        if self._at < len(self._raw):
            raise _Wrong("invalid datetime")

    def _date(self) -> None:
        self._digits("year", 4, "YYYY")
        self._mark("-", "YYYY-MM")
        self._digits("month", 2, "MM")
        self._mark("-", "MM-DD")
        self._digits("day", 2, "DD")
        year, month, day = self._numbers()
        self._range(month, 1, 12, "month")
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        last = {2: 29 if leap else 28, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31)
        self._range(day, 1, last, "day")

    def _time(self) -> None:
        self._area = "time"
        self._digits("hour", 2, "HH")
        self._mark(":", "HH:MM")
        self._digits("minute", 2, "MM")
        if self._takes(":"):
            self._digits("second", 2, "SS")
            if self._takes("."):
                self._digits("nanosecond", 0, "")
                self._parts.pop()
        hour, minute, *second = self._numbers()
        self._range(hour, 0, 23, "hour")
        self._range(minute, 0, 59, "minute")
        self._range(second[0] if second else 0, 0, 60, "second")

    def _offset(self) -> None:
        self._area = "offset"
        if self._takes("Z") or self._takes("z"):
            return
        if not (self._takes("+") or self._takes("-")):
            raise self._wrong("`Z`, +OFFSET, -OFFSET")
        self._digits("hour", 2, "HH")
        self._mark(":", "HH:MM")
        self._digits("minute", 2, "MM")
        hours, minutes = self._numbers()
        self._range(hours, 0, 23, "hours")
        self._range(minutes, 0, 59, "minutes")
