"""Details of a plugin and of a marketplace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from core.protocol.rows import MarketplaceRow, PluginRow
from tui.signs import SignName
from tui.views.base import Details, Place, State, decided, plural, write_problems
from tui.views.details import items_of, text_of, texts_of
from tui.widgets.page import Page

_COUNTED: tuple[tuple[SignName, str], ...] = (
    ("works", "enabled"),
    ("off", "disabled"),
    ("update", "with an update or a change"),
    ("needs", "wait for your review"),
    ("failed", "missing or unreadable"),
    ("problem", "skipped or empty"),
    ("policy", "blocked by policy"),
    ("busy", "being worked on"),
    ("none", "available"),
)
_FORMATS = {
    "codex": "Codex",
    "codex-api": "Codex, for API keys",
    "claude": "Claude, read by Codex",
    "cursor": "Cursor, read by Codex",
    "remote": "remote catalogue",
}
CHANGED_SHOWN = 12
_PARTS = (("skills", "skill"), ("hooks", "hook"), ("servers", "server"), ("apps", "app"))
# Members of the detail that hold each part; the second one as `plugin/read` names it.
_MEMBERS = {"servers": ("servers", "mcpServers")}


def plugin_page(
    page: Page,
    row: PluginRow,
    state: State,
    market: MarketplaceRow | None,
    detail: Details,
    place: Place,
) -> None:
    """What it is, what Codex uses and ignores of it, which version, what is wrong."""
    page.title(row.display_name or row.name, row.version or "")
    page.state(state.sign, state.word, "" if state.reason == row.version else state.reason)
    if row.description:
        page.gap()
        page.text(row.description, limit=4)
    page.gap()
    page.fact("id", row.plugin_id)
    page.fact(
        "from", place.path(market.origin or market.root) if market else "no marketplace", path=True
    )
    if row.source:
        page.fact("source", row.source, path=True)
    if row.category:
        page.fact("category", row.category)
    if row.configured or row.installed:
        page.fact("enabled", f"{_on(row.enabled)}, {decided(row.enabled_at, place)}")
    write_problems(page, row.problems, place)
    if row.state == "leftOver":
        page.section("Left over")
        page.text(row.reason or "No marketplace offers it, so it is never updated.")
    _uses(page, row, state, detail)
    _ignores(page, row, detail)
    _versions(page, row, detail)
    if row.root:
        page.gap()
        page.fact("folder", place.path(row.root), path=True)


def _on(enabled: bool) -> str:
    return "on" if enabled else "off"


def _uses(page: Page, row: PluginRow, state: State, detail: Details) -> None:
    sign: SignName = "works" if state.sign in ("works", "update") else "none"
    rows = [
        (word, entry)
        for member, word in _PARTS
        for name in _MEMBERS.get(member, (member,))
        for entry in items_of(detail.get(name))
    ]
    if row.brings is None and not rows:
        if row.state in ("available", "enabled", "disabled", "update"):
            page.section("Codex uses")
            page.text("Not unpacked yet, so its parts are not known.", "muted")
        return
    page.section("Codex uses", _summary(row))
    for word, entry in rows:
        page.item(sign, f"{word:<7} {_label(word, entry)}", text_of(entry, "status"))
        if target := text_of(entry, "target", "url"):
            page.text(target, "muted", indent=10)
    if not rows and not _summary(row):
        page.text("Nothing. Installing it changes nothing for Codex.", "muted")


def _ignores(page: Page, row: PluginRow, detail: Details) -> None:
    """Each kind of thing with its names and why; without them the counts."""
    unused = items_of(detail.get("unused"))
    counted = texts_of(detail.get("ignored")) or list(row.brings.ignored if row.brings else ())
    faults = texts_of(detail.get("faults"))
    if not unused and not counted and not faults:
        return
    page.section("Codex ignores")
    for entry in unused:
        names = texts_of(entry.get("names"))
        page.text(f"{plural(len(names), text_of(entry, 'what'))}: {', '.join(names)}", limit=3)
        if reason := text_of(entry, "reason"):
            page.text(reason, "muted", indent=2)
    if not unused and counted:
        page.text(", ".join(counted), "muted")
    for fault in faults:
        page.text(fault, "muted")


def _label(word: str, entry: Mapping[str, Any]) -> str:
    if word == "hook":
        event, command = text_of(entry, "event", "eventName"), text_of(entry, "command")
        return f"{event}  {command}".strip()
    return text_of(entry, "name", "id")


def _summary(row: PluginRow) -> str:
    if row.brings is None:
        return ""
    counts = ((getattr(row.brings, member), word) for member, word in _PARTS)
    return ", ".join(plural(count, word) for count, word in counts if count)


def _versions(page: Page, row: PluginRow, detail: Details) -> None:
    if not row.installed and row.offered is None:
        return
    page.section("Versions")
    page.fact("installed", row.version or ("yes, without a version" if row.installed else "no"))
    if row.offered is not None:
        page.fact("offered", row.offered)
    if commit := row.commit or text_of(detail, "commit", "sha"):
        page.fact("commit", commit[:12])
    if row.offered_commit and row.offered_commit != row.commit:
        page.fact("is there", row.offered_commit[:12])
    if row.pinned is not None:
        page.fact("pinned", f"at {row.pinned}")
    if row.codex:
        page.text(f"{row.codex}.", "muted")
    for former in items_of(detail.get("former")):
        page.fact("before", f"{text_of(former, 'version')}, {text_of(former, 'kept')}")
    if changed := texts_of(detail.get("changed")):
        page.section("Changed since", plural(len(changed), "file"))
        for path in changed[:CHANGED_SHOWN]:
            page.text(path, "muted")
        if (more := len(changed) - CHANGED_SHOWN) > 0:
            page.text(f"and {more} more", "muted")


def market_page(
    page: Page,
    row: MarketplaceRow | None,
    state: State | None,
    signs: Counter[SignName],
    place: Place,
) -> None:
    """Where it comes from, what is wrong with it, and its plugins counted by sign."""
    if row is None or state is None:
        page.title("Left over")
        page.text(
            "What is configured or cached though no marketplace lists it any more. "
            "Nothing here goes away by itself."
        )
        return
    page.title(row.display_name or row.name)
    page.state(state.sign, state.word, state.reason)
    page.gap()
    page.fact("name", row.name)
    page.fact("source", place.path(row.origin or row.root), path=True)
    if row.ref:
        page.fact("pinned at" if row.pinned else "branch", row.ref)
    if row.offered_commit and row.offered_commit != row.commit:
        page.fact("is there", row.offered_commit[:12])
    page.fact("format", _FORMATS.get(row.format, row.format or "not known"))
    if row.path:
        page.fact("manifest", place.path(row.path), path=True)
    if named := place.of(row.evidence):
        page.fact("named in", named, path=True)
    write_problems(page, row.problems, place)
    if signs:
        page.section("Plugins", str(signs.total()))
        for sign, word in _COUNTED:
            if count := signs[sign]:
                page.item(sign, word, str(count))
