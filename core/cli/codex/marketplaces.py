"""`codex plugin marketplace add`, `upgrade` and `remove`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from core.cli.codex.face import Failed, Run
from core.cli.codex.gate import check_bootstrap
from core.cli.text import json_text, safe_lines
from core.method_table import MARKETPLACE_ADD, MARKETPLACE_REMOVE, MARKETPLACE_UPGRADE
from core.protocol.marketplaces import (
    MarketplaceAddParams,
    MarketplaceRemoveParams,
    MarketplaceUpgradeParams,
)

if TYPE_CHECKING:
    from core.protocol.marketplaces import MarketplaceUpgradeResult


async def add(run: Run) -> int:
    """Add a marketplace; the same one again changes nothing."""
    await check_bootstrap(run)
    given = run.given
    params = MarketplaceAddParams(
        source=given.text("source") or "",
        ref_name=given.text("ref"),
        sparse_paths=given.texts("sparse") or None,
    )
    added = await run.client.call(MARKETPLACE_ADD, params)
    if given.has("json"):
        print(json_text(added.model_dump(by_alias=True)))
        return 0
    name, source = added.marketplace_name, await _source(run, added.marketplace_name)
    if added.already_added:
        print(f"Marketplace `{name}` is already added from {source}.")
    else:
        print(f"Added marketplace `{name}` from {source}.")
    print(f"Installed marketplace root: {safe_lines(added.installed_root)}")
    return 0


async def _source(run: Run, name: str) -> str:
    """Where it was added from, with its ref."""
    loaded = await run.loaded(None)
    source = loaded.get("marketplaces", name, "source")
    ref = loaded.get("marketplaces", name, "ref")
    return safe_lines(f"{source}#{ref}" if ref else f"{source}")


async def remove(run: Run) -> int:
    """Forget a marketplace and its checkout."""
    await check_bootstrap(run)
    params = MarketplaceRemoveParams(marketplace_name=run.given.text("name") or "")
    removed = await run.client.call(MARKETPLACE_REMOVE, params)
    if run.given.has("json"):
        print(json_text(removed.model_dump(by_alias=True)))
        return 0
    print(f"Removed marketplace `{removed.marketplace_name}`.")
    if removed.installed_root is not None:
        print(f"Removed installed marketplace root: {safe_lines(removed.installed_root)}")
    return 0


async def upgrade(run: Run) -> int:
    """Bring git marketplaces up to date."""
    await check_bootstrap(run)
    name = run.given.text("name")
    result = await run.client.call(
        MARKETPLACE_UPGRADE, MarketplaceUpgradeParams(marketplace_name=name)
    )
    if result.errors:
        for failed in result.errors:
            told = f"Failed to upgrade marketplace `{failed.marketplace_name}`: {failed.message}"
            print(safe_lines(told), file=sys.stderr)
        raise Failed(f"{len(result.errors)} upgrade failure(s) occurred.")
    if run.given.has("json"):
        print(json_text(result.model_dump(by_alias=True)))
    else:
        print(safe_lines("\n".join(_told(name, result))))
    return 0


def _told(name: str | None, result: MarketplaceUpgradeResult) -> list[str]:
    if not result.selected_marketplaces:
        return ["No configured Git marketplaces to upgrade."]
    if not result.upgraded_roots:
        if name is not None:
            return [f"Marketplace `{name}` is already up to date."]
        return ["All configured Git marketplaces are already up to date."]
    roots = [f"Installed marketplace root: {root}" for root in result.upgraded_roots]
    if name is not None:
        return [f"Upgraded marketplace `{name}` to the latest configured revision.", *roots]
    count = len(result.upgraded_roots)
    return [f"Upgraded {count} marketplace(s).", *roots]
