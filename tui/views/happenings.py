"""Events in words: who they are about, what happened, and what was said."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from core.protocol.events import (
    ConsentRequested,
    ElicitationClosed,
    ElicitationRequested,
    Event,
    FileChanged,
    Lagged,
    LoginCompleted,
    Notice,
    OperationProgress,
    RefreshFailed,
    RefreshFinished,
    RefreshStarted,
    ResourceUpdated,
    ServerHappened,
)
from tui.signs import SignName
from tui.store import Entry, RowSeen
from tui.views.base import Place, plural
from tui.views.times import span


class Happening(NamedTuple):
    """An event in the words of the activity list.

    Attributes:
        area: `server`, `apps`, `files`, …: the layer it belongs to.
        about: Whose row it is.
        ms: How long it took, in milliseconds, when it says.
    """

    area: str
    about: str
    sign: SignName
    word: str
    text: str
    ms: float | None = None


_SERVER: dict[str, tuple[SignName, str]] = {
    "starting": ("busy", "starting"),
    "ready": ("works", "connected"),
    "failed": ("failed", "failed"),
    "cancelled": ("unknown", "cancelled"),
    "ended": ("off", "ended"),
    "stderr": ("none", "stderr"),
    "reconnecting": ("busy", "retry"),
    "listChanged": ("works", "tools"),
}
_OPERATION: dict[str, SignName] = {
    "running": "busy",
    "done": "works",
    "failed": "failed",
    "cancelled": "unknown",
}
_TONES: dict[str, SignName] = {"info": "none", "care": "problem", "bad": "failed"}
_OUTCOMES: dict[str, SignName] = {
    "ok": "works",
    "partly": "problem",
    "failed": "failed",
    "cancelled": "unknown",
}
_AREAS = {
    "marketplaces": "plugins",
    "servers": "server",
    "inventory": "tools",
    "installed": "apps",
}


def happening(entry: Entry, place: Place) -> Happening:
    """What an entry of the activity list says."""
    event = entry.event
    match event:
        case ServerHappened():
            sign, word = _SERVER.get(event.what, ("none", event.what))
            lines = f"  ({entry.count} lines)" if entry.count > 1 else ""
            return Happening("server", event.name, sign, word, event.text + lines, event.ms)
        case OperationProgress():
            return _operation(event)
        case RefreshStarted() | RefreshFailed() | RefreshFinished():
            return _refresh(event)
        case RowSeen():
            sign: SignName = "update"
            return Happening(_area(event.domain), event.name, sign, event.what, "in this refetch")
        case _:
            return _other(event, place)


def _area(domain: str) -> str:
    return _AREAS.get(domain, domain)


def _operation(event: OperationProgress) -> Happening:
    sign = _OPERATION.get(event.state, "none")
    share = "" if event.share is None else f"{event.share:.0%}"
    text = ", ".join(part for part in (share, event.note) if part)
    word = event.verb if event.state == "running" else event.state
    if event.state != "running":
        text = f"{event.verb}{f': {event.note}' if event.note else ''}"
    area = "tools" if event.verb == "calling" else "plugins"
    return Happening(area, event.subject, sign, word, text)


def _refresh(event: RefreshStarted | RefreshFailed | RefreshFinished) -> Happening:
    area = _area(event.domain)
    match event:
        case RefreshStarted():
            how = "past all caches" if event.forced else "read again"
            return Happening(area, ", ".join(event.sources) or event.domain, "busy", "refetch", how)
        case RefreshFailed():
            return Happening(area, event.source, "failed", "failed", event.message)
        case _:
            sign = _OUTCOMES.get(event.outcome, "none")
            word = "refetched" if event.outcome == "ok" else event.outcome
            return Happening(
                area, event.domain, sign, word, summary(event), event.seconds * 1000 or None
            )


def summary(event: RefreshFinished) -> str:
    """`3 new, 2 changed, 1 gone`, `nothing changed`."""
    counts = ((event.added, "new"), (event.changed, "changed"), (event.removed, "gone"))
    said = ", ".join(f"{count} {word}" for count, word in counts if count)
    if event.outcome == "failed":
        return "the earlier list is kept" if event.kept_previous else "nothing came"
    return said or "nothing changed"


def finished_toast(noun: str, event: RefreshFinished) -> str:
    """`Apps refetched: 3 new, 2 changed, 1 gone, 4.2 s`."""
    if event.outcome == "cancelled":
        return f"{noun}: refetch cancelled"
    if event.outcome == "failed":
        return f"{noun}: refetch failed; {summary(event)}, {span(event.seconds)}"
    word = "refetched" if event.outcome == "ok" else "refetched in part"
    return f"{noun} {word}: {summary(event)}, {span(event.seconds)}"


def _other(event: Event | RowSeen, place: Place) -> Happening:
    match event:
        case ConsentRequested(count=count):
            waits = "waits" if count == 1 else "wait"
            return Happening("trust", "programs", "needs", "review", f"{count} {waits} for a yes")
        case ElicitationRequested():
            return Happening("server", event.server, "needs", "asks", event.message)
        case ElicitationClosed():
            took_back = event.how == "withdrawn"
            text = "it no longer waits for an answer" if took_back else ""
            return Happening("server", event.server, "off", event.how, text)
        case ResourceUpdated():
            return _resource(event)
        case LoginCompleted(success=True):
            return Happening(event.of, event.name, "works", "signed in", "")
        case LoginCompleted():
            return Happening(event.of, event.name, "failed", "sign-in", event.error)
        case FileChanged():
            by = "by Jackfield" if event.ours else "by another program"
            return Happening("files", place.path(event.file), "works", "changed", by)
        case Notice():
            sign = _TONES.get(event.tone, "none")
            return Happening(event.area, event.about, sign, event.area, event.text)
        case Lagged(skipped=skipped):
            lost = f"{plural(skipped, 'event')} came too fast to be kept"
            return Happening("panel", "activity", "problem", "skipped", lost)
        case _:
            return Happening("core", type(event).__name__, "none", "", "")


def _resource(event: ResourceUpdated) -> Happening:
    sign: SignName = "problem" if event.what == "lost" else "update"
    text = f"{event.uri}  {event.text}" if event.text else event.uri
    return Happening("server", event.name, sign, event.what, text)


def wire_of(event: Event | RowSeen) -> dict[str, Any]:
    """The event as plain JSON values, in wire spelling."""
    value: dict[str, Any] = msgspec.to_builtins(event)
    return value
