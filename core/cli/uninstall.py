"""`jackfield uninstall`: take plugins out of the home."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.cli.output import say
from core.cli.text import json_text, safe
from core.cli.verb_run import add_common, in_client
from core.errors import CoreError, InvalidRequest
from core.method_table import JACKFIELD_MARKETPLACE_CONSIDERED, PLUGIN_UNINSTALL
from core.protocol.jackfield import NoParams
from core.protocol.plugin_params import PluginUninstallParams

if TYPE_CHECKING:
    from core.client.contract import CoreClient


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `uninstall` takes."""
    parser.add_argument("ids", nargs="+", metavar="PLUGIN[@MARKETPLACE]", help="installed plugins")
    add_common(parser, json="one JSON object a line for each plugin")
    parser.epilog = (
        "A plugin that is not there is no failure. "
        "Exit codes: 0 none is installed any more; 1 one could not be removed; 2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Remove one after the other; one that fails does not hold up the next."""
    return in_client(given, lambda client: _uninstall(client, given), progress=True)


async def _uninstall(client: CoreClient, given: argparse.Namespace) -> int:
    failed = False
    for name in given.ids:
        try:
            plugin_id = name if "@" in name else await _installed(client, name)
            await client.call(PLUGIN_UNINSTALL, PluginUninstallParams(plugin_id=plugin_id))
            if given.json:
                print(json_text({"pluginId": plugin_id, "installed": False}, indent=None))
            else:
                print(safe(f"{plugin_id} is uninstalled"), flush=True)
        except CoreError as error:
            failed = True
            say(f"Error: {name}: {error.message}")
    return 1 if failed else 0


async def _installed(client: CoreClient, name: str) -> str:
    found = (await client.call(JACKFIELD_MARKETPLACE_CONSIDERED, NoParams())).marketplaces
    ids = [
        plugin.id
        for market in found
        for plugin in market.plugins
        if plugin.name == name and plugin.installed
    ]
    if len(ids) != 1:
        what = (
            f"several are installed: {', '.join(ids)}" if ids else "none is installed of that name"
        )
        raise InvalidRequest(what)
    return ids[0]
