"""Reads every file that may hold something, each by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.importer.found import Contents
from core.importer.jsonc import Unreadable, read
from core.importer.masks import Masks
from core.importer.places import APPS, Around, Place, places
from core.importer.planning import Plan, Planner
from core.importer.readers import READERS
from core.protocol.jackfield_import import ImportSource


@dataclass(frozen=True)
class Scan:
    """What was found, in the order of the files."""

    sources: tuple[ImportSource, ...]
    plans: tuple[Plan, ...]


def scan(around: Around, present: Mapping[str, Any], masks: Masks, *, app: str = "") -> Scan:
    """Look into all files. Reads disk, blocks; one broken file hides no other.

    Args:
        present: The configuration as it is.
        app: Only this agent's files.
    """
    wanted = [place for place in places(around) if not app or place.app == app]
    read_in = [(place, *_read(place, around)) for place in wanted]
    declined = frozenset[str]().union(*(contents.declined for _, contents, _ in read_in))
    planner = Planner(present, masks)
    sources: list[ImportSource] = []
    # The person's own files have the first claim to a name.
    for place, contents, fault in sorted(read_in, key=lambda one: one[0].scope != "user"):
        if fault is not None and fault.absent:
            continue
        if place.id == "claude-code:project":
            contents = _without(contents, declined)
        rows = planner.add(place, contents)
        sources.append(_source(place, rows, fault))
    return Scan(tuple(sources), tuple(planner.plans))


def _read(place: Place, around: Around) -> tuple[Contents, Unreadable | None]:
    try:
        document = read(place.path)
    except Unreadable as fault:
        return Contents(), fault
    return READERS[place.reader](document, around, place.scope == "project"), None


def _without(contents: Contents, declined: Iterable[str]) -> Contents:
    """The servers of a project file, those that were declined turned off."""
    off = frozenset(declined)
    return replace(
        contents,
        servers=tuple(
            replace(server, enabled=False) if server.name in off else server
            for server in contents.servers
        ),
    )


def _source(place: Place, rows: int, fault: Unreadable | None) -> ImportSource:
    return ImportSource(
        id=place.id,
        app=place.app,
        label=APPS[place.app],
        scope=place.scope,
        path=place.path,
        state="broken" if fault is not None else "found" if rows else "empty",
        message=fault.reason if fault is not None else "",
        line=fault.line if fault is not None else 0,
        rows=rows,
    )
