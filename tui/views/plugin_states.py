"""What plugins and marketplaces are in: sign, word and reason."""

from __future__ import annotations

from collections.abc import Iterable

from core.protocol.events import OperationProgress
from core.protocol.facts import Problem
from core.protocol.rows import MarketplaceRow, PluginRow
from tui.signs import SignName
from tui.views.base import State, plural

PROBLEM_STATES = frozenset({"skipped", "empty", "broken", "notInstalled", "leftOver"})
_PRESENT = frozenset({"listed", "off"})

_STATES: dict[str, tuple[SignName, str]] = {
    "enabled": ("works", "enabled"),
    "disabled": ("off", "disabled"),
    "available": ("none", "available"),
    "notInstalled": ("failed", "missing"),
    "update": ("update", "update"),
    "skipped": ("problem", "skipped"),
    "empty": ("problem", "empty"),
    "broken": ("failed", "unreadable"),
    "blocked": ("policy", "blocked"),
    "notOffered": ("policy", "not offered"),
    "leftOver": ("leftover", "left over"),
}
_REASONS = {
    "notInstalled": "enabled, but no copy is installed",
    "skipped": "by Codex",
    "empty": "nothing Codex can use",
    "blocked": "by policy",
    "notOffered": "by its marketplace",
}


def plugin_state(row: PluginRow, operation: OperationProgress | None = None) -> State:
    """Sign, word and reason of a plugin."""
    if operation is not None:
        share = "" if operation.share is None else f"{operation.share:.0%}"
        return State("busy", operation.verb, share or operation.note)
    sign, word = _STATES.get(row.state, ("unknown", str(row.state)))
    if row.state == "update":
        return _update_state(row)
    reason = row.reason or _REASONS.get(row.state, "")
    return State(sign, word, reason or row.version or row.offered or "")


def _update_state(row: PluginRow) -> State:
    if row.offered and row.offered != row.version:
        return State("update", "update", row.reason or f"{row.version or '?'} → {row.offered}")
    return State("update", "changed", row.reason or f"still {row.version or 'unversioned'}")


def market_state(row: MarketplaceRow) -> State:
    """Sign, word and reason of a marketplace."""
    said = row.problems[0].message if row.problems else ""
    match row.listed:
        case "listed":
            return State("works", "listed")
        case "empty":
            return State("problem", "empty", said or "lists no plugin")
        case "off":
            return State("policy", "off", said or "plugins are turned off")
        case "missing":
            return State("failed", "missing", said or "not found")
        case "reserved":
            return State("failed", "reserved", said or "its name is reserved")
        case _:
            return State("failed", "unreadable", said or "cannot be read")


def brings(row: PluginRow) -> str:
    """`3 skills, 1 hook`; "" when it was not looked at or brings nothing."""
    if row.brings is None:
        return ""
    counts = (
        (row.brings.skills, "skill"),
        (row.brings.hooks, "hook"),
        (row.brings.servers, "server"),
        (row.brings.apps, "app"),
    )
    return ", ".join(plural(count, word) for count, word in counts if count)


def is_faulty(row: MarketplaceRow) -> bool:
    """The marketplace wants attention."""
    return row.listed not in _PRESENT


def says_more(display_name: str, name: str) -> bool:
    """A display name that is not just the name written nicely."""
    return bool(display_name) and display_name.casefold().replace(" ", "-") != name.casefold()


def first_problem(problems: Iterable[Problem]) -> Problem | None:
    """The first that is not just a note."""
    return next((problem for problem in problems if problem.severity != "note"), None)
