"""`codex plugin add` and `codex plugin remove`."""

from __future__ import annotations

from core.cli.codex.face import Failed, Run
from core.cli.codex.gate import check_whole
from core.cli.codex.plugin_shown import considered
from core.cli.text import json_text, safe_lines
from core.errors import CoreError
from core.method_table import PLUGIN_INSTALL, PLUGIN_UNINSTALL
from core.protocol.jackfield_lists import ConsideredMarketplace, ConsideredPlugin
from core.protocol.plugin_params import PluginInstallParams, PluginUninstallParams

_NO_MARKETPLACE = "plugin requires --marketplace unless passed as <plugin>@<marketplace>"


def _selected(run: Run) -> tuple[str, str]:
    """The plugin's name and the marketplace's.

    Raises:
        Failed: They are not given, or cannot be names.
    """
    from core.plugins.names import marketplace_name_fault, plugin_name_fault, split_id

    word = run.given.text("plugin") or ""
    asked = run.given.text("marketplace")
    if (names := split_id(word)) is not None:
        if asked is not None and asked != names[1]:
            other = f"belongs to marketplace `{names[1]}`, but --marketplace specified `{asked}`"
            raise Failed(f"plugin id `{word}` {other}")
        return names
    if asked is None:
        raise Failed(_NO_MARKETPLACE)
    for fault in (plugin_name_fault(word), marketplace_name_fault(asked)):
        if fault:
            raise Failed(fault)
    return word, asked


async def add(run: Run) -> int:
    """Install a plugin and enable it."""
    await check_whole(run)
    name, marketplace = _selected(run)
    market, _ = await _found(run, name, marketplace)
    params = PluginInstallParams(marketplace_path=market.path, plugin_name=name)
    try:
        await run.client.call(PLUGIN_INSTALL, params)
    except CoreError as error:
        raise Failed(error.message, error.message) from None
    _, plugin = await _found(run, name, marketplace)
    if run.given.has("json"):
        told = {
            "pluginId": plugin.id,
            "name": name,
            "marketplaceName": marketplace,
            "version": plugin.version,
            "installedPath": plugin.root,
            "authPolicy": plugin.auth_policy,
        }
        print(json_text(told))
    else:
        print(f"Added plugin `{name}` from marketplace `{marketplace}`.")
        print(f"Installed plugin root: {safe_lines(plugin.root or '')}")
    return 0


async def _found(
    run: Run, name: str, marketplace: str
) -> tuple[ConsideredMarketplace, ConsideredPlugin]:
    for market in (await considered(run)).marketplaces:
        if market.name != marketplace:
            continue
        for plugin in market.plugins:
            if plugin.name == name:
                return market, plugin
    raise Failed(f"plugin `{name}` was not found in marketplace `{marketplace}`")


async def remove(run: Run) -> int:
    """Remove a plugin; one that is not there is removed as well."""
    await check_whole(run)
    name, marketplace = _selected(run)
    plugin_id = f"{name}@{marketplace}"
    await run.client.call(PLUGIN_UNINSTALL, PluginUninstallParams(plugin_id=plugin_id))
    if run.given.has("json"):
        print(json_text({"pluginId": plugin_id, "name": name, "marketplaceName": marketplace}))
    else:
        print(f"Removed plugin `{name}` from marketplace `{marketplace}`.")
    return 0
