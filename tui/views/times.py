"""Times and spans in the words of the panel."""

from __future__ import annotations

import time

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def clock(at: float) -> str:
    """`12:41:02`, local time."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def moment(at: float, now: float) -> str:
    """`12:41:02` within the hour, `09:12` within the day, else `28 Nov`."""
    local = time.localtime(at)
    if abs(now - at) < HOUR:
        return time.strftime("%H:%M:%S", local)
    if time.localtime(now)[:3] == local[:3]:
        return time.strftime("%H:%M", local)
    return f"{local.tm_mday} {time.strftime('%b', local)}"


def span(seconds: float) -> str:
    """`0.4 s`, `12 s`, `4 min`, `3 h`, `2 days`."""
    if seconds < 10:
        return f"{max(0.0, seconds):.1f} s"
    for size, word in ((DAY, "days"), (HOUR, "h"), (MINUTE, "min")):
        if seconds >= size * (2 if word == "days" else 1):
            return f"{int(seconds // size)} {word}"
    return f"{int(seconds)} s"


def age(at: float, now: float) -> str:
    """`just now`, `2 min ago`, `3 days ago`; "" when it never was."""
    if not at:
        return ""
    past = max(0.0, now - at)
    return "just now" if past < 10 else f"{span(past)} ago"


def running(since: float, now: float, limit: float | None) -> str:
    """`12 s`, or `12 s of 60` where there is a limit; it counts every second."""
    past = int(max(0.0, now - since)) if since else 0
    return f"{past} s of {limit:g}" if limit else f"{past} s"
