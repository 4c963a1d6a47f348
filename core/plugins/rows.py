"""From what was read to the panel's rows: states, reasons, problems with their places."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from core.plugins.allowed import SourcePolicy
from core.plugins.entries import Skipped
from core.plugins.json_place import items_of, line_of
from core.plugins.layout import is_directory, read_file
from core.plugins.manifest import Manifest, read_manifest
from core.plugins.marketplace_file import Marketplace
from core.plugins.mending import hint
from core.plugins.offers import Offer
from core.plugins.source_problems import option_problem
from core.plugins.sources.parse import describe_source
from core.plugins.state import PluginStates
from core.plugins.updates.standing import Memory, Standing, next_of_codex, stand
from core.protocol.facts import Evidence, Problem
from core.protocol.plugins import GitSource, LocalSource, NpmSource, PluginInterface
from core.protocol.rows import PluginRow, PluginState

REASON_CELLS = 60
LEAVES_OUT = "leaves the entry out, says nothing"
REFUSES_FILE = "refuses the whole file"

_SKIPPED_REASONS = {
    "source-path": "its path leads nowhere Codex looks",
    "source-url": "no git URL that Codex takes",
    "source-shape": "source is incomplete",
    "source-package": "no npm package that Codex takes",
    "plugin-name": "its name is not allowed",
    "duplicate": "an earlier entry has its name",
    "product": "for other products",
    "entry-type": "its entry is malformed",
}


def short(text: str) -> str:
    """At most 60 cells' worth of characters, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= REASON_CELLS else line[: REASON_CELLS - 1] + "…"


@dataclass(frozen=True)
class Surroundings:
    """What rows need beside their marketplace.

    Attributes:
        off: Why plugins count for nothing here, or "".
        draft: The plugins' own files have not been looked at yet.
        memory: Pins, former versions, where copies came from.
        checkout: The marketplace is a git checkout that follows a branch.
        policy: Which marketplaces an administrator allows; None = all.
    """

    states: PluginStates
    off: str = ""
    draft: bool = False
    memory: Memory = field(default_factory=Memory)
    checkout: bool = False
    policy: SourcePolicy | None = None


def plugin_rows(
    market: Marketplace, offers: Iterable[Offer], around: Surroundings
) -> list[PluginRow]:
    """Rows of everything that a marketplace file names, in file order; ids not yet unique."""
    blocked = _blocked(market)
    rows = [(offer.entry.index, _offered(market, offer, around, blocked)) for offer in offers]
    lines = _lines(market)
    rows += [(skip.index, _skipped(market, skip, lines.get(skip.index))) for skip in market.skipped]
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _blocked(market: Marketplace) -> str:
    """Why Codex lists nothing of the file, or ""."""
    if market.refusal is not None:
        at = f" at line {market.refusal.line}" if market.refusal.line else ""
        return f"its file is refused{at}"
    return "its marketplace's name is not allowed" if market.name_fault else ""


def _lines(market: Marketplace) -> dict[int, int]:
    """Lines of the skipped entries."""
    if not market.skipped:
        return {}
    try:
        text = read_file(market.path).decode("utf-8", "replace").removeprefix("\ufeff")
    except OSError:
        return {}
    found = items_of(text, ("plugins",), [skip.index for skip in market.skipped])
    return {index: line_of(text, offset) for index, offset in found.items()}


class Copy(msgspec.Struct, frozen=True):
    """An installed copy: where it is, its version, why Codex can use nothing of it."""

    root: str
    version: str | None
    fault: str = ""


def copy_at(root: str) -> Copy:
    """The installed copy in a directory."""
    manifest = read_manifest(root)
    name = os.path.basename(root)
    version = None if name == "local" else name
    if isinstance(manifest, Manifest):
        return Copy(root, manifest.version or version)
    return Copy(root, version, manifest.message if manifest is not None else "no plugin.json")


def _offered(market: Marketplace, offer: Offer, around: Surroundings, blocked: str) -> PluginRow:
    entry = offer.entry
    plugin_id = f"{entry.name}@{market.name}"
    states = around.states
    switch = states.switches.get(plugin_id)
    root = states.root(plugin_id) if switch is not None else None
    copy = copy_at(root) if root is not None else None
    enabled = switch is not None and switch.enabled
    place = Evidence(file=market.path, key=f"plugins[{entry.index}]")
    problem: Problem | None = None
    standing, facts = Standing(offered=offer.version), _NO_FACTS
    if copy is not None:
        standing, facts = _installed(offer, plugin_id, copy, around)
    if blocked:
        state, reason = "skipped", blocked
    elif around.off:
        state, reason = "blocked", around.off
    elif copy is not None:
        state, reason = installed_state(copy.fault, enabled, standing, facts)
    elif enabled:
        state, reason = "notInstalled", ""
    elif entry.installation == "NOT_AVAILABLE":
        state, reason = "notOffered", ""
    elif not around.draft and (problem := _problem(offer, plugin_id, place)) is not None:
        state, reason = "broken", short(problem.message)
    else:
        state, reason = "available", ""
    interface = offer.interface
    source = entry.source
    local = source.path if isinstance(source, LocalSource) else ""
    return PluginRow(
        id=plugin_id,
        plugin_id=plugin_id,
        name=entry.name,
        marketplace=market.path,
        display_name=(interface.display_name or "") if interface is not None else "",
        description=_description(offer, interface),
        category=(interface.category or "") if interface is not None else "",
        keywords=offer.keywords,
        state=state,
        reason=reason,
        source=describe_source(source, market.root),
        source_kind=source_kind(source),
        configured=switch is not None,
        installed=copy is not None,
        enabled=enabled,
        enabled_at=switch.place if switch is not None else Evidence(),
        version=copy.version if copy is not None else None,
        offered=standing.offered,
        newer=standing.newer,
        commit=standing.commit,
        offered_commit=standing.offered_commit,
        pinned=facts.pinned,
        before=facts.before,
        codex=facts.codex,
        install_policy=entry.installation,
        auth_policy=entry.authentication,
        root=copy.root if copy is not None else local,
        evidence=place,
        problems=(problem,) if problem is not None else (),
    )


@dataclass(frozen=True)
class _Facts:
    """What is remembered of an installed plugin."""

    pinned: str | None = None
    before: str | None = None
    codex: str = ""


_NO_FACTS = _Facts()


def _installed(
    offer: Offer, plugin_id: str, copy: Copy, around: Surroundings
) -> tuple[Standing, _Facts]:
    memory = around.memory
    note = memory.note(plugin_id, copy.root)
    place = (copy.root, copy.version)
    standing = stand(offer.entry, offer.version, place, note, memory.heard)
    pin, backup = memory.book.pins.get(plugin_id), memory.backups.get(plugin_id)
    codex = ""
    if pin is not None:
        codex = next_of_codex(offer.entry, standing, checkout=around.checkout)
    before = backup.version if backup is not None else None
    return standing, _Facts(pin.version if pin is not None else None, before, codex)


def installed_state(
    fault: str, enabled: bool, standing: Standing, facts: _Facts
) -> tuple[PluginState, str]:
    """State and reason of an installed plugin, whose content has not been compared."""
    if fault:
        return "broken", short(f"installed copy: {fault}")
    if not enabled:
        return "disabled", ""
    if facts.pinned is not None:
        return "enabled", PINNED
    return ("update", standing.reason) if standing.newer else ("enabled", "")


PINNED = "pinned"


def source_kind(source: object) -> str:
    """`local`, `git`, `npm` or `unsupported`."""
    kinds = ((LocalSource, "local"), (GitSource, "git"), (NpmSource, "npm"))
    return next((word for kind, word in kinds if isinstance(source, kind)), "unsupported")


def _description(offer: Offer, interface: PluginInterface | None) -> str:
    if interface is not None and interface.short_description:
        return interface.short_description
    return offer.description


def _problem(offer: Offer, plugin_id: str, place: Evidence) -> Problem | None:
    """What keeps a plugin from being installed."""
    found = option_problem(offer.entry, plugin_id, place)
    return found or _manifest_problem(offer, plugin_id)


def _manifest_problem(offer: Offer, plugin_id: str) -> Problem | None:
    """What keeps a local plugin from being installed."""
    source = offer.entry.source
    if not isinstance(source, LocalSource):
        return None
    fault = offer.fault
    if fault is not None:
        rule, message = f"manifest-{fault.rule}", f"plugin.json: {fault.message}"
        place = Evidence(file=fault.path, line=fault.line or None, column=fault.column or None)
    elif offer.format not in ("", "entry"):
        return None
    elif not is_directory(source.path):
        rule, message = "source-missing", "its folder is missing"
        place = Evidence(file=source.path)
    elif not offer.format:
        rule, message = "manifest-missing", "it has no plugin.json"
        place = Evidence(file=source.path)
    else:
        return None
    return Problem(
        id=f"plugin:{plugin_id}:{rule}",
        domain="plugins",
        subject=plugin_id,
        rule=rule,
        message=message,
        evidence=place,
        codex="lists it without its data, refuses to install it",
        hint=hint(rule, fault.path if fault is not None else source.path),
    )


def _skipped(market: Marketplace, skip: Skipped, line: int | None) -> PluginRow:
    name = skip.name or f"plugins[{skip.index}]"
    plugin_id = f"{name}@{market.name}"
    refused = skip.rule == "entry-type"
    reason = f'source kind "{skip.kind}"' if skip.rule == "source-kind" else ""
    place = Evidence(file=market.path, line=line, key=f"plugins[{skip.index}]")
    return PluginRow(
        id=plugin_id,
        plugin_id=plugin_id,
        name=name,
        marketplace=market.path,
        state="skipped",
        reason=short(reason or _SKIPPED_REASONS.get(skip.rule, skip.message)),
        source=skip.source,
        source_kind=skip.kind if skip.kind in ("local", "git", "npm") else "unsupported",
        evidence=place,
        problems=(
            Problem(
                id=f"plugin:{market.path}:{name}:{skip.rule}",
                domain="plugins",
                subject=plugin_id,
                rule=skip.rule,
                message=skip.message,
                severity="error" if refused else "warning",
                evidence=place,
                codex=REFUSES_FILE if refused else LEAVES_OUT,
                hint=hint(skip.rule, skip.source),
            ),
        ),
    )


def with_unique_ids(rows: Iterable[PluginRow]) -> list[PluginRow]:
    """`#2`, `#3` ... after ids that are taken; usable entries keep theirs before skipped ones."""
    listed = list(rows)
    owners: dict[str, int] = {}
    for index, row in enumerate(listed):
        if row.state != "skipped":
            owners.setdefault(row.plugin_id, index)
    taken: set[str] = set(owners)
    for index, row in enumerate(listed):
        if owners.setdefault(row.plugin_id, index) == index:
            taken.add(row.plugin_id)
            continue
        number = 2
        while (key := f"{row.plugin_id}#{number}") in taken:
            number += 1
        taken.add(key)
        listed[index] = _renamed(row, key)
    return listed


def _renamed(row: PluginRow, key: str) -> PluginRow:
    problems = tuple(
        msgspec.structs.replace(problem, subject=key, id=f"{problem.id}#{key.rpartition('#')[2]}")
        for problem in row.problems
    )
    return msgspec.structs.replace(row, id=key, problems=problems)
