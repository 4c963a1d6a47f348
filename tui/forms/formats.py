"""The formats of texts that a form checks itself (JSON Schema 2020-12, section 7.3).

Others are not checked: the server knows them better.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from uuid import UUID

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(\.\d+)?([zZ]|[+-]\d\d:\d\d)")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!-~]+")
_EMAIL = re.compile(r"[^@\s]{1,200}@[^@\s.]+(\.[^@\s.]+)*")
_LONGEST = 2_000


def format_fault(name: str, text: str) -> str:
    """What is wrong with a text of that format, or ""."""
    find = _FORMATS.get(name)
    if find is None:
        return ""
    return find(text) if len(text) <= _LONGEST else f"is no {name}"


def _date(text: str) -> str:
    if not _DATE.fullmatch(text):
        return "must be a date, YYYY-MM-DD"
    try:
        date.fromisoformat(text)
    except ValueError as fault:
        return _words(fault)
    return ""


def _date_time(text: str) -> str:
    day, time = text[:10], text[11:]
    if len(text) < 12 or text[10] not in "tT " or not _TIME.fullmatch(time):
        return "must be a time with its zone, YYYY-MM-DDTHH:MM:SSZ"
    if fault := _date(day):
        return fault
    try:
        datetime.fromisoformat(f"{day}T{time[:8]}")
    except ValueError as fault:
        return "" if time[6:8] == "60" else _words(fault)
    return ""


def _time(text: str) -> str:
    if not _TIME.fullmatch(text):
        return "must be a time with its zone, HH:MM:SSZ"
    return _date_time(f"2000-01-01T{text}")


def _words(fault: ValueError) -> str:
    """`month must be in 1..12` as `month must be 1 to 12`."""
    return re.sub(r"in (\d+)\.\.(\d+)", r"\1 to \2", str(fault).partition(":")[0])


def _by(kind: Callable[[str], object], said: str) -> Callable[[str], str]:
    def find(text: str) -> str:
        try:
            kind(text)
        except ValueError:
            return said
        return ""

    return find


def _like(pattern: re.Pattern[str], said: str) -> Callable[[str], str]:
    return lambda text: "" if pattern.fullmatch(text) else said


_FORMATS: Final[Mapping[str, Callable[[str], str]]] = {
    "date": _date,
    "date-time": _date_time,
    "time": _time,
    "email": _like(_EMAIL, "must be an address, name@host"),
    "uri": _like(_URI, "must be a whole URI, scheme:…"),
    "url": _like(_URI, "must be a whole URL, https://…"),
    "ipv4": _by(IPv4Address, "must be an IPv4 address"),
    "ipv6": _by(IPv6Address, "must be an IPv6 address"),
    "uuid": _by(UUID, "must be a UUID"),
}
