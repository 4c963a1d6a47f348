"""What plugins and marketplaces are in: sign, word and reason."""

from __future__ import annotations

from collections.abc import Iterable

from core.protocol.events import OperationProgress
from core.protocol.facts import Problem
from core.protocol.rows import MarketplaceRow, PluginRow, ServerRow
from tui.signs import SignName
from tui.views.base import State, plural

PROBLEM_STATES = frozenset({"skipped", "empty", "broken", "notInstalled", "leftOver"})
SERVER_WAITS = {"authenticationRequired": "sign-in", "review": "review"}
"""Statuses of servers that somebody has to act on, and the word for the plugin's row."""
_PRESENT = frozenset({"listed", "off", "blocked"})

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


def plugin_state(
    row: PluginRow,
    operation: OperationProgress | None = None,
    waits: ServerRow | None = None,
) -> State:
    """Sign, word and reason of a plugin.

    Args:
        waits: A server that it brings and that waits for somebody.
    """
    if operation is not None:
        share = "" if operation.share is None else f"{operation.share:.0%}"
        return State("busy", operation.verb, share or operation.note)
    if waits is not None and row.state == "enabled":
        return State("needs", SERVER_WAITS[waits.status], f"{waits.name} {waits.reason}".strip())
    sign, word = _STATES.get(row.state, ("unknown", str(row.state)))
    if row.state == "update":
        return _update_state(row)
    reason = row.reason or _REASONS.get(row.state, "")
    if row.pinned is not None and row.state == "enabled":
        reason = _pinned(row)
    elif row.newer and row.state == "disabled":
        reason = row.reason or f"{row.version or '?'} → {row.offered or row.offered_commit[:7]}"
    return State(sign, word, reason or row.version or row.offered or "")


def _pinned(row: PluginRow) -> str:
    said = f"{row.pinned} pinned"
    return f"{said}; {row.codex}" if row.codex else said


def wants_update(row: PluginRow) -> bool:
    """Whether updating all would bring it something."""
    if row.pinned is not None or row.state == "leftOver":
        return False
    return row.state == "update" or row.newer or row.changed


def _update_state(row: PluginRow) -> State:
    if row.reason and not row.changed:
        return State("update", "update", row.reason)
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
        case "blocked":
            place = row.problems[-1].evidence if row.problems else None
            line = f":{place.line}" if place is not None and place.line is not None else ""
            file = (place.file or "").rpartition("/")[2] if place is not None else ""
            return State("policy", "blocked", f"{file}{line} does not allow its source")
        case "leftOver":
            return State("leftover", "left over", "a checkout that nothing configures")
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
