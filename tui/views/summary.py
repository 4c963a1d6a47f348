"""The status line: where we are, what runs, and the servers counted in words."""

from __future__ import annotations

import os

from core.protocol.facts import Problem
from core.protocol.rows import AccountRow
from tui.signs import Glyphs, SignName
from tui.store import Fault, ViewStore
from tui.tables import Refresh
from tui.text import Part
from tui.views.base import Place
from tui.views.servers import server_state
from tui.views.sign_in import left
from tui.views.times import age

FAULT_SHOWN = 60.0  # seconds that a fault in the background stands in the status line
_NOUNS = {
    "marketplaces": "marketplaces",
    "plugins": "plugins",
    "apps": "apps",
    "installed": "snapshot",
    "servers": "servers",
    "inventory": "tools",
}


def where(store: ViewStore, place: Place) -> list[Part]:
    """Workspace, then home and account."""
    account = next(iter(store.account.rows.values()), None)
    parts: list[Part] = [
        (os.path.basename(place.cwd.rstrip(os.sep)) or place.cwd or "jackfield", "strong")
    ]
    if place.codex_home:
        parts.append((f"  {place.path(place.codex_home)}", "muted"))
    if account is not None:
        parts.append((f"  {account_text(account)}", "muted"))
    return parts


def account_text(row: AccountRow) -> str:
    """`dev@example.com, Team`; says when it is not known or nobody is signed in."""
    match row.kind:
        case "chatgpt":
            return ", ".join(part for part in (row.email, row.workspace or row.plan) if part)
        case "apiKey":
            return "API key"
        case "none":
            return "not signed in"
        case _:
            return f"account not known{f': {row.reason}' if row.reason else ''}"


def counts(store: ViewStore, place: Place) -> list[tuple[SignName, int, str]]:
    """Servers by who has to act; empty kinds are left out."""
    found: dict[SignName, int] = {}
    for row in store.servers.rows.values():
        sign = server_state(row, 0.0, place).sign
        found[sign] = found.get(sign, 0) + 1
    kinds: tuple[tuple[SignName, str], ...] = (
        ("works", "up"),
        ("busy", "starting"),
        ("failed", "failed"),
        ("needs", "need you"),
    )
    return [(sign, found[sign], word) for sign, word in kinds if found.get(sign)]


def job(store: ViewStore, place: Place, glyphs: Glyphs) -> list[Part]:
    """What runs in the background or is wrong with the panel itself; [] when nothing is."""
    if store.lost:
        return [glyphs.part("failed"), (f"the core cannot be heard: {store.lost}", "")]
    if store.questions:
        return [glyphs.part("busy"), (_asked(store), "")]
    if store.sign_ins:
        return _signing_in(store, glyphs)
    if refresh := _forced(store):
        return [
            glyphs.part("busy"),
            (f"{_NOUNS.get(refresh.domain, refresh.domain)}{_share(refresh)}", ""),
        ]
    if store.operations:
        operation = next(iter(store.operations.values()))
        share = "" if operation.share is None else f" {operation.share:.0%}"
        return [glyphs.part("busy"), (f"{operation.verb} {operation.subject}{share}", "")]
    if store.consent:
        waits = "program waits" if store.consent == 1 else "programs wait"
        return [glyphs.part("needs"), (f"{store.consent} {waits} for your yes", "")]
    if broken := broken_file(store):
        said = f"{place.short(broken.evidence)} {broken.message}"
        return [glyphs.part("failed"), (said, "")]
    if fault := _recent_fault(store):
        said = f"{fault.about} {fault.what} {age(fault.at, store.now())}"
        return [glyphs.part("failed"), (said, "")]
    return []


def _asked(store: ViewStore) -> str:
    server = next(iter(store.questions.values())).server
    more = len(store.questions) - 1
    return f"a question of {server}{f' and {more} more' if more else ''}   Q answers"


def _signing_in(store: ViewStore, glyphs: Glyphs) -> list[Part]:
    """The newest of the attempts that wait for the person."""
    state = next(reversed(store.sign_ins.values()))
    rest = left(state.ends_at - store.now())
    return [
        glyphs.part("busy"),
        (f"sign-in to {state.name}, {rest} left   ", ""),
        ("s", "key"),
        (" back to it", "muted"),
    ]


def broken_file(store: ViewStore) -> Problem | None:
    """What is wrong with a file of settings that cannot be read at all."""
    broken = (row for row in store.config.rows.values() if row.state == "broken")
    return next((row.problems[0] for row in broken if row.problems), None)


def _forced(store: ViewStore) -> Refresh | None:
    for domain in ("marketplaces", "plugins", "apps", "installed", "servers", "inventory"):
        refresh = store.table(domain).refresh
        if refresh is not None and refresh.forced:
            return refresh
    return None


def _share(refresh: Refresh) -> str:
    if refresh.domain in ("servers", "inventory"):
        heard = [it for it in refresh.sources.values() if it.failed or it.total is not None]
        return f" {len(heard)}/{len(refresh.sources)}"
    known = [source for source in refresh.sources.values() if source.total]
    if not known:
        return ""
    return f" {sum(source.done for source in known)}/{sum(source.total or 0 for source in known)}"


def _recent_fault(store: ViewStore) -> Fault | None:
    fault = next(reversed(store.faults.values()), None)
    return fault if fault and store.now() - fault.at < FAULT_SHOWN else None
