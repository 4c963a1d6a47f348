"""What is configured or cached though no marketplace offers it, or though nothing configures it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from core.plugins.manifest import Manifest, read_manifest
from core.plugins.names import split_id
from core.plugins.rows import Surroundings, copy_at
from core.protocol.facts import Evidence
from core.protocol.rows import MarketplaceRow, PluginRow

_UNREADABLE = frozenset({"missing", "unreadable", "reserved"})


def with_left_overs(
    rows: Sequence[PluginRow], around: Surroundings, markets: Mapping[str, MarketplaceRow]
) -> list[PluginRow]:
    """Rows of what is offered, those with an unused copy marked, then the left-overs by id.

    Args:
        markets: Marketplaces by name, the unreadable ones too.
    """
    switches = around.states.switches
    copies = dict(around.states.cached_ids())
    offered = {row.plugin_id for row in rows}
    unused = (copies.keys() & offered) - switches.keys()
    marked = [_unused(row, copies) if row.plugin_id in unused else row for row in rows]
    left = sorted((switches.keys() | copies.keys()) - offered)
    if not left:
        return marked
    elsewhere = {row.name: row.plugin_id for row in reversed(rows) if row.state != "skipped"}
    return marked + [_left_over(around, id, copies, markets, elsewhere) for id in left]


def _unused(row: PluginRow, copies: Mapping[str, str]) -> PluginRow:
    if row.state not in ("available", "notOffered"):
        return row
    copy = copy_at(copies[row.plugin_id])
    reason = f"an unused copy of {copy.version} is cached" if copy.version else "unused copy cached"
    return replace(row, reason=reason, left_over="unconfigured")


def _left_over(
    around: Surroundings,
    plugin_id: str,
    copies: Mapping[str, str],
    markets: Mapping[str, MarketplaceRow],
    elsewhere: Mapping[str, str],
) -> PluginRow:
    states, memory = around.states, around.memory
    name, _, marketplace = plugin_id.partition("@")
    switch = states.switches.get(plugin_id)
    root = copies.get(plugin_id, "")
    manifest = read_manifest(root) if root else None
    usable = manifest if isinstance(manifest, Manifest) else None
    interface = usable.interface if usable is not None else None
    copy = copy_at(root) if root else None
    market = markets.get(marketplace)
    moved = elsewhere.get(name, "")
    kind = _kind(plugin_id, market, moved, configured=switch is not None)
    pin, backup = memory.book.pins.get(plugin_id), memory.backups.get(plugin_id)
    return PluginRow(
        id=plugin_id,
        plugin_id=plugin_id,
        name=name,
        marketplace=market.id if market is not None else "",
        display_name=(interface.display_name or "") if interface is not None else "",
        description=(usable.description or "") if usable is not None else "",
        state="leftOver",
        reason=_reason(kind, market, moved, configured=switch is not None, cached=bool(root)),
        configured=switch is not None,
        installed=switch is not None and bool(root),
        enabled=switch is not None and switch.enabled,
        enabled_at=switch.place if switch is not None else Evidence(),
        version=copy.version if copy is not None else None,
        root=root,
        pinned=pin.version if pin is not None and root else None,
        before=backup.version if backup is not None else None,
        left_over=kind,
        moved_to=moved if kind == "moved" else "",
        evidence=switch.place if switch is not None else Evidence(file=root or None),
    )


def _kind(plugin_id: str, market: MarketplaceRow | None, moved: str, *, configured: bool) -> str:
    if split_id(plugin_id) is None:
        return "badKey"
    if market is not None and market.listed in _UNREADABLE:
        return "unreadable"
    if not configured:
        return "unconfigured"
    if moved:
        return "moved"
    return "notOffered" if market is not None else "marketplaceGone"


def _reason(
    kind: str, market: MarketplaceRow | None, moved: str, *, configured: bool, cached: bool
) -> str:
    has = " and ".join(
        word for word, there in (("configured", configured), ("cached", cached)) if there
    )
    if kind == "badKey":
        return "its key is no PLUGIN@MARKETPLACE"
    if kind == "unreadable":
        return f"{has}, its marketplace cannot be read"
    if kind == "moved":
        return f"{has}, now in {moved.rpartition('@')[2]}"
    return f"{has}, no longer offered" if market is not None else f"{has}, its marketplace is gone"
