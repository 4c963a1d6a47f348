"""What stands in a list's place or above it: loading, failed, nothing found, a refetch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.protocol.facts import Problem
from tui.tables import Refresh, Source
from tui.views.base import ListView
from tui.views.search import nearest
from tui.views.times import moment, span
from tui.widgets.notice import Awaited, empty, failed, loading, nothing_found
from tui.widgets.page import Build
from tui.widgets.progress_line import Load


class Progress(NamedTuple):
    """The line above the list: what is loading, or that it failed."""

    text: str
    loads: Sequence[Load] = ()
    fault: bool = False


def progress_of(view: ListView) -> Progress | None:
    """The running forced refetch, else the last one's failure; None when all is well."""
    tables = [view.store.table(domain) for domain in view.REFRESHED]
    running = [refresh for table in tables for refresh in table.refreshes.values()]
    forced = [refresh for refresh in running if refresh.forced]
    if forced:
        return Progress("Refetching, past caches", loads_of(forced))
    for table in tables:
        outcome = table.outcome
        if running or outcome is None or not table.rows:
            continue
        said = next((f for f in outcome.failures if not view.store.row_tells(f)), None)
        if said is None:
            continue
        at = moment(outcome.at, view.store.now())
        return Progress(f"refetch failed {at}: {said.source}: {said.message}", fault=True)
    return None


def loads_of(refreshes: Iterable[Refresh]) -> list[Load]:
    """Every source once, those that are awaited first, as far as they have come in any list."""
    loads: dict[str, Load] = {}
    for refresh in refreshes:
        for source in refresh.sources.values():
            known = loads.get(source.name, Load(source.name))
            loads[source.name] = Load(
                source.name,
                max(known.done, source.done),
                known.total if source.total is None else source.total,
                known.failed or bool(source.failed),
            )
    return sorted(loads.values(), key=lambda load: load.over or load.failed)


def loading_state(view: ListView) -> Build:
    """Who is awaited, and for how long."""
    refresh = view.store.table(view.MAIN).refresh
    if refresh is None:
        return loading(f"Reading {view.NOUN}s")
    waited = span(max(0.0, view.store.now() - refresh.since))
    awaited = [_awaited(source) for source in refresh.sources.values()]
    return loading(f"Reading {view.NOUN}s", waited, awaited)


def _awaited(source: Source) -> Awaited:
    if source.failed:
        return Awaited("failed", source.name, source.failed)
    done = f"{source.done} of {source.total}" if source.total else ""
    over = bool(source.total) and source.done >= (source.total or 0)
    return Awaited("works" if over else "busy", source.name, source.note or done)


def failed_state(view: ListView, retry: str, errors: str) -> Build:
    """No row, and why; the keys that try again and that show all errors."""
    table = view.store.table(view.MAIN)
    failures = table.outcome.failures if table.outcome else ()
    first = failures[0] if failures else None
    subject = first.source if first else f"{view.NOUN}s"
    said = first.message if first else table.unread or "it did not say why"
    words = (first.evidence.wire or "").splitlines() if first else []
    when = moment(table.outcome.at, view.store.now()) if table.outcome else ""
    title = f"{subject[:1].upper()}{subject[1:]} could not be read"
    return failed(title, said, when, words, keys=((retry, "try now"), (errors, "all errors")))


def unreadable_state(view: ListView, broken: Problem, errors: str) -> Build:
    """No row, because a file of settings is broken: its place, and what is wrong with it."""
    place = view.place.of(broken.evidence)
    name = os.path.basename(broken.evidence.file or "") or "The configuration"
    said = f"{broken.message}, in {place}" if place else broken.message
    return failed(f"{name} cannot be read", said, "", (), keys=((errors, "all errors"),))


def nothing_state(view: ListView, text: str) -> Build:
    """Nothing matches: where it looked, and the nearest name."""
    near = nearest(text, [view.name(key) for key in view.keys("all")])
    keys = (("escape", "clear the filter"), ("f", "other view"))
    return nothing_found(text, view.searched(), near, keys=keys)


def empty_view_state(label: str) -> Build:
    """There are rows, but none under this view."""
    return empty(f"Nothing under “{label}”", "The other views have rows.", (("f", "other view"),))
