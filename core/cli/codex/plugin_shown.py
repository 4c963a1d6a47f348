"""`codex plugin list` and `codex plugin marketplace list`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from core.cli.codex.columns import columns
from core.cli.codex.face import Failed, Run
from core.cli.codex.gate import check_bootstrap, check_whole
from core.cli.text import json_text, safe, safe_lines
from core.method_table import JACKFIELD_MARKETPLACE_CONSIDERED
from core.protocol.jackfield import NoParams
from core.protocol.jackfield_lists import (
    ConsideredMarketplace,
    ConsideredPlugin,
    ConsideredResult,
    UnusableMarketplace,
)
from core.protocol.plugins import GitSource, LocalSource, NpmSource, PluginSource


async def considered(run: Run) -> ConsideredResult:
    """The marketplaces of the user's own configuration."""
    return await run.client.call(JACKFIELD_MARKETPLACE_CONSIDERED, NoParams())


async def show_plugins(run: Run) -> int:
    """All plugins, or those of one marketplace."""
    await check_whole(run)
    found = await considered(run)
    only = run.given.text("marketplace")
    _refuse("failed to load configured marketplace snapshot(s):", found.unusable, only)
    markets = [one for one in found.marketplaces if only is None or one.name == only]
    if run.given.has("json"):
        print(json_text(_listed(markets, available=run.given.has("available"))))
        return 0
    shown = [one for one in markets if one.plugins]
    if shown:
        print("\n\n".join(map(_table, shown)))
    elif only is not None:
        print(f"No plugins found in marketplace `{safe(only)}`.")
    else:
        print("No marketplace plugins found.")
    return 0


def _refuse(text: str, unusable: Iterable[UnusableMarketplace], only: str | None = None) -> None:
    lines = [
        f"- `{one.key}` at {one.place}: {one.message}"
        for one in unusable
        if only is None or one.key == only
    ]
    if lines:
        raise Failed("\n".join((text, *lines)))


def _listed(markets: Sequence[ConsideredMarketplace], *, available: bool) -> dict[str, Any]:
    told = [(one, _told(market, one)) for market in markets for one in market.plugins]
    return {
        "installed": [item for one, item in told if one.installed],
        "available": [item for one, item in told if available and not one.installed],
    }


def _told(market: ConsideredMarketplace, plugin: ConsideredPlugin) -> dict[str, Any]:
    return {
        "pluginId": plugin.id,
        "name": plugin.name,
        "marketplaceName": market.name,
        "version": plugin.version,
        "installed": plugin.installed,
        "enabled": plugin.enabled,
        "source": _source(plugin.source),
        **_marketplace_source(market),
        "installPolicy": plugin.install_policy,
        "authPolicy": plugin.auth_policy,
    }


def _marketplace_source(market: ConsideredMarketplace) -> dict[str, Any]:
    if not market.key:
        return {}
    source = {"sourceType": market.source_type, "source": market.source}
    return {"marketplaceSource": source}


def _source(source: PluginSource) -> dict[str, Any]:
    match source:
        case LocalSource(path=path):
            return {"source": "local", "path": path}
        case GitSource():
            members = {"path": source.path, "ref": source.ref_name, "sha": source.sha}
            return {"source": "git", "url": source.url, **_present(members)}
        case NpmSource():
            members = {"version": source.version, "registry": source.registry}
            return {"source": "npm", "package": source.package, **_present(members)}
        case _:
            return {"source": "remote"}


def _present(members: dict[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in members.items() if value is not None}


def _table(market: ConsideredMarketplace) -> str:
    head = ("PLUGIN", "STATUS", "VERSION", "SOURCE")
    return "\n".join(
        (
            f"Marketplace `{safe(market.name)}`",
            safe_lines(market.path),
            "",
            columns(head, map(_row, market.plugins), last=False),
        )
    )


def _row(plugin: ConsideredPlugin) -> Sequence[str]:
    status = "not installed"
    if plugin.installed:
        status = f"installed, {'enabled' if plugin.enabled else 'disabled'}"
    version = plugin.version if plugin.installed else None
    return plugin.id, status, version or "", _place(plugin.source)


def _place(source: PluginSource) -> str:
    match source:
        case LocalSource(path=path):
            return path
        case GitSource():
            members = {"path": source.path, "ref": source.ref_name, "sha": source.sha}
            return ", ".join((source.url, *_named(members)))
        case NpmSource():
            members = {"version": source.version, "registry": source.registry}
            return ", ".join((source.package, *_named(members)))
        case _:
            return "remote"


def _named(members: dict[str, str | None]) -> list[str]:
    return [f"{key} `{value}`" for key, value in _present(members).items()]


async def show_marketplaces(run: Run) -> int:
    """All marketplaces that are considered, with their roots."""
    await check_bootstrap(run)
    found = await considered(run)
    _refuse("failed to load marketplace(s):", found.unusable)
    markets = found.marketplaces
    if run.given.has("json"):
        told = [{"name": one.name, "root": one.root, **_marketplace_source(one)} for one in markets]
        print(json_text({"marketplaces": told}))
    elif markets:
        rows = [(one.name, one.root) for one in markets]
        print(columns(("MARKETPLACE", "ROOT"), rows, last=False))
    else:
        print("No plugin marketplaces in scope.")
    return 0
