"""`jackfield marketplace`: add, remove, upgrade and list marketplaces."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.cli.output import say
from core.cli.text import json_text, safe, table
from core.cli.verb_run import add_common, in_client
from core.method_table import (
    JACKFIELD_MARKETPLACE_CONSIDERED,
    MARKETPLACE_ADD,
    MARKETPLACE_REMOVE,
    MARKETPLACE_UPGRADE,
)
from core.protocol.jackfield import NoParams

if TYPE_CHECKING:
    from core.client.contract import CoreClient


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `marketplace` takes."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    add = verbs.add_parser("add", help="add a folder, owner/repo or a git URL", allow_abbrev=False)
    add.add_argument("source", metavar="SOURCE", help="a folder, owner/repo[@ref] or a git URL")
    add.add_argument("--ref", metavar="REF", help="branch, tag or commit of a git source")
    add.add_argument(
        "--sparse",
        action="append",
        metavar="PATH",
        help="only this path of a git source; repeatable",
    )
    remove = verbs.add_parser("remove", help="forget a marketplace", allow_abbrev=False)
    remove.add_argument("name", metavar="NAME", help="as it is configured")
    upgrade = verbs.add_parser("upgrade", help="bring git marketplaces up to date")
    upgrade.add_argument("name", nargs="?", metavar="NAME", help="all unless said")
    listed = verbs.add_parser("list", help="list marketplaces, the unusable ones too")
    for one in (add, remove, upgrade, listed):
        add_common(one, json="print JSON, in the wire's types")
    parser.epilog = (
        "Plugins that are installed from a marketplace stay when it is removed. "
        "Exit codes: 0 done; 1 it failed, or a marketplace cannot be used; 2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Do what was said."""
    jobs = {"add": _add, "remove": _remove, "upgrade": _upgrade, "list": _list}
    job = jobs[given.verb]
    return in_client(given, lambda client: job(client, given), progress=given.verb != "list")


async def _add(client: CoreClient, given: argparse.Namespace) -> int:
    from core.protocol.marketplaces import MarketplaceAddParams

    params = MarketplaceAddParams(
        source=given.source, ref_name=given.ref, sparse_paths=given.sparse
    )
    added = await client.call(MARKETPLACE_ADD, params)
    if given.json:
        print(json_text(added.model_dump(by_alias=True)))
    else:
        already = " already" if added.already_added else ""
        print(safe(f"{added.marketplace_name} is{already} added: {added.installed_root}"))
    return 0


async def _remove(client: CoreClient, given: argparse.Namespace) -> int:
    from core.protocol.marketplaces import MarketplaceRemoveParams

    params = MarketplaceRemoveParams(marketplace_name=given.name)
    removed = await client.call(MARKETPLACE_REMOVE, params)
    if given.json:
        print(json_text(removed.model_dump(by_alias=True)))
    else:
        tail = f"; its checkout {removed.installed_root} too" if removed.installed_root else ""
        print(safe(f"{removed.marketplace_name} is removed{tail}"))
    return 0


async def _upgrade(client: CoreClient, given: argparse.Namespace) -> int:
    from core.protocol.marketplaces import MarketplaceUpgradeParams

    params = MarketplaceUpgradeParams(marketplace_name=given.name)
    result = await client.call(MARKETPLACE_UPGRADE, params)
    if given.json:
        print(json_text(result.model_dump(by_alias=True)))
    else:
        count = len(result.upgraded_roots)
        print(f"{count} of {len(result.selected_marketplaces)} git marketplaces had something new")
        for root in result.upgraded_roots:
            print(safe(f"  {root}"))
    for failed in result.errors:
        say(f"Error: {failed.marketplace_name}: {failed.message}")
    return 1 if result.errors else 0


async def _list(client: CoreClient, given: argparse.Namespace) -> int:
    import msgspec

    result = await client.call(JACKFIELD_MARKETPLACE_CONSIDERED, NoParams())
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
    else:
        rows = [
            (one.name, str(len(one.plugins)), one.source_type or "found", one.root)
            for one in result.marketplaces
        ]
        print(table(("MARKETPLACE", "PLUGINS", "SOURCE", "ROOT"), rows) if rows else "None.")
    for one in result.unusable:
        say(f"Error: {one.key} at {one.place}: {one.message}")
    return 1 if result.unusable else 0
