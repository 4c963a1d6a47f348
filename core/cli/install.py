"""`jackfield install`: put plugins into the home and enable them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from core.cli.output import say
from core.cli.text import json_text, safe
from core.cli.verb_run import add_common, in_client
from core.errors import CoreError, InvalidRequest
from core.method_table import JACKFIELD_MARKETPLACE_CONSIDERED, JACKFIELD_PLUGIN_INSTALL
from core.protocol.jackfield import NoParams
from core.protocol.jackfield_install import PluginInstalled, PluginInstallParams
from core.protocol.jackfield_lists import ConsideredMarketplace

if TYPE_CHECKING:
    from core.client.contract import CoreClient


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `install` takes."""
    parser.add_argument(
        "ids",
        nargs="+",
        metavar="PLUGIN[@MARKETPLACE]",
        help="the marketplace may be left out where only one lists the plugin",
    )
    add_common(parser, json="one JSON object a line for each plugin")
    parser.epilog = (
        "Programs that a plugin brings are not started before somebody agrees to them. "
        "Exit codes: 0 all are installed; 1 one is not; 2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Install one after the other; one that fails does not hold up the next."""
    return in_client(given, lambda client: _install(client, given), progress=True)


async def _install(client: CoreClient, given: argparse.Namespace) -> int:
    found = (await client.call(JACKFIELD_MARKETPLACE_CONSIDERED, NoParams())).marketplaces
    failed = False
    for name in given.ids:
        try:
            market, plugin = chosen(found, name)
            params = PluginInstallParams(marketplace_path=market.path, plugin_name=plugin)
            _tell(await client.call(JACKFIELD_PLUGIN_INSTALL, params), as_json=given.json)
        except CoreError as error:
            failed = True
            say(f"Error: {name}: {error.message}")
    return 1 if failed else 0


def chosen(
    found: tuple[ConsideredMarketplace, ...], name: str
) -> tuple[ConsideredMarketplace, str]:
    """The marketplace and the name of a plugin.

    Raises:
        InvalidRequest: None lists it, or several do.
    """
    plugin, at, wanted = name.partition("@")
    fits = [
        market
        for market in found
        if (not at or market.name == wanted)
        and any(offer.name == plugin for offer in market.plugins)
    ]
    if not fits:
        where = f"marketplace `{wanted}`" if at else "any marketplace"
        raise InvalidRequest(f"plugin `{plugin}` was not found in {where}")
    if len(fits) > 1 and not at:
        names = ", ".join(f"{plugin}@{market.name}" for market in fits)
        raise InvalidRequest(f"several marketplaces list it: {names}")
    return fits[0], plugin


def _tell(done: PluginInstalled, *, as_json: bool) -> None:
    if as_json:
        print(json_text(msgspec.to_builtins(done), indent=None), flush=True)
        return
    print(safe(done.message or f"{done.plugin_id} {done.version} is installed"), flush=True)
    if done.nothing:
        print("  Codex can use nothing of it.")
    if done.unseen:
        print(f"  {len(done.unseen)} of its programs wait for a yes: they are not started yet.")
    for server in done.sign_in:
        print(safe(f"  {server} asks for a sign-in: jackfield mcp login {server}"))
