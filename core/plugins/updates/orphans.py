"""What cleans up each kind of left-over, and the checkouts that nothing configures."""

from __future__ import annotations

import os

from core.config.model import Loaded
from core.config.paths import Home
from core.plugins.layout import is_directory, marketplace_file
from core.plugins.market_commit import checkout_commit
from core.plugins.marketplaces.roots import configured
from core.plugins.names import marketplace_name_fault, split_id
from core.protocol.facts import Evidence
from core.protocol.jackfield_plugins import Orphan
from core.protocol.rows import MarketplaceRow, PluginRow

CHECKOUT = "checkout:"
_USER = frozenset({"user", None})


def left_checkouts(home: Home, loaded: Loaded, at: float) -> tuple[MarketplaceRow, ...]:
    """Rows of checkouts below `.tmp/marketplaces` that no table names. Blocks."""
    folder = home.marketplaces_dir
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return ()
    known = configured(loaded)
    found: list[MarketplaceRow] = []
    for name in names:
        root = f"{folder}/{name}"
        if name in known or marketplace_name_fault(name) or not is_directory(root):
            continue
        manifest = marketplace_file(root)
        found.append(
            MarketplaceRow(
                id=f"{CHECKOUT}{name}",
                name=name,
                root=root,
                format=manifest[1] if manifest is not None else "",
                source="git",
                commit=checkout_commit(root),
                listed="leftOver",
                checked_at=at,
                evidence=Evidence(file=root),
            )
        )
    return tuple(found)


def orphan_of(row: PluginRow, home: Home) -> Orphan:
    """A left-over plugin with what cleans it up."""
    names = split_id(row.plugin_id)
    cached = ""
    if names is not None:
        cached = f"{home.plugins_cache}/{names[1]}/{names[0]}"
        if not os.path.isdir(cached):
            cached = ""
    elsewhere = row.configured and row.enabled_at.layer not in _USER
    writes = f'[plugins."{row.plugin_id}"]' if row.configured and not elsewhere else ""
    reason, action = row.reason, ""
    if row.left_over == "unreadable":
        reason = f"{reason}; mend or remove the marketplace first"
    elif elsewhere and not cached:
        reason = f"{reason}; {row.enabled_at.layer} configuration names it"
    elif writes and cached:
        action = "remove its entry and its copy"
    elif writes:
        action = "remove its entry"
    elif cached:
        action = "remove its copy"
    return Orphan(
        id=row.plugin_id,
        name=row.name,
        kind=row.left_over,
        reason=reason,
        action=action,
        writes=writes if action else "",
        removes=(cached,) if cached and action else (),
        moved_to=row.moved_to,
    )


def orphan_checkout(row: MarketplaceRow) -> Orphan:
    """A checkout that nothing configures, with what cleans it up."""
    return Orphan(
        id=row.id,
        name=row.name,
        kind="checkout",
        reason="a checkout that no configuration names",
        action="remove the checkout",
        removes=(row.root,),
        undo=False,
    )
