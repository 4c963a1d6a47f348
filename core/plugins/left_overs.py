"""What is configured or cached though no marketplace offers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.plugins.manifest import Manifest, read_manifest
from core.plugins.rows import copy_at
from core.plugins.state import PluginStates
from core.protocol.facts import Evidence
from core.protocol.rows import PluginRow


def left_over_rows(
    states: PluginStates, offered: Iterable[str], markets: Mapping[str, str]
) -> list[PluginRow]:
    """What is configured or cached and offered nowhere, by id.

    Args:
        offered: Ids that some marketplace file names.
        markets: Row ids of marketplaces by name.
    """
    named = set(offered)
    copies = {plugin_id: root for plugin_id, root in states.cached_ids() if plugin_id not in named}
    ids = {plugin_id for plugin_id in states.switches if plugin_id not in named} | copies.keys()
    return [_left_over(states, plugin_id, copies, markets) for plugin_id in sorted(ids)]


def _left_over(
    states: PluginStates, plugin_id: str, copies: Mapping[str, str], markets: Mapping[str, str]
) -> PluginRow:
    name, _, marketplace = plugin_id.partition("@")
    switch = states.switches.get(plugin_id)
    root = copies.get(plugin_id, "")
    manifest = read_manifest(root) if root else None
    usable = manifest if isinstance(manifest, Manifest) else None
    interface = usable.interface if usable is not None else None
    copy = copy_at(root) if root else None
    has = " and ".join(
        word for word, there in (("configured", switch is not None), ("cached", root)) if there
    )
    if not marketplace:
        reason = "its key is no PLUGIN@MARKETPLACE"
    elif marketplace in markets:
        reason = f"{has}, no longer offered"
    else:
        reason = f"{has}, its marketplace is gone"
    return PluginRow(
        id=plugin_id,
        plugin_id=plugin_id,
        name=name,
        marketplace=markets.get(marketplace, ""),
        display_name=(interface.display_name or "") if interface is not None else "",
        description=(usable.description or "") if usable is not None else "",
        state="leftOver",
        reason=reason,
        configured=switch is not None,
        installed=switch is not None and bool(root),
        enabled=switch is not None and switch.enabled,
        enabled_at=switch.place if switch is not None else Evidence(),
        version=copy.version if copy is not None else None,
        root=root,
        evidence=switch.place if switch is not None else Evidence(file=root or None),
    )
