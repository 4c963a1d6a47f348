"""`jackfield update`: bring installed plugins to what is offered."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from core.cli.asking import fresh_rows
from core.cli.output import say
from core.cli.text import json_text, safe, table
from core.cli.verb_run import add_common, in_client
from core.method_table import JACKFIELD_PLUGIN_UPDATE, JACKFIELD_PLUGIN_UPDATES
from core.protocol.jackfield_plugins import UpdateParams, UpdatesParams

if TYPE_CHECKING:
    from core.client.contract import CoreClient

DIFFERS = 2


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `update` takes."""
    parser.add_argument(
        "ids", nargs="*", metavar="PLUGIN@MARKETPLACE", help="all that have an update unless said"
    )
    parser.add_argument(
        "--check", action="store_true", help="say what would be updated, and change nothing"
    )
    parser.add_argument(
        "--no-fetch",
        action="store_true",
        help="do not ask the servers of git marketplaces and git sources",
    )
    add_common(parser, json="print the outcome as JSON")
    parser.epilog = (
        "Pinned plugins are left out unless they are named. Exit codes: 0 everything is up to date "
        f"now; 1 something failed; 2 wrong usage, or with --check: {DIFFERS} there are updates."
    )


def run(given: argparse.Namespace) -> int:
    """Update, or say what there is to update."""
    job = _check if given.check else _update
    return in_client(given, lambda client: job(client, given), progress=True)


async def _check(client: CoreClient, given: argparse.Namespace) -> int:
    await fresh_rows(client, "plugins")
    params = UpdatesParams(fetch=not given.no_fetch)
    result = await client.call(JACKFIELD_PLUGIN_UPDATES, params)
    found = [one for one in result.updates if not given.ids or one.id in given.ids]
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
    elif found:
        rows = [
            (one.id, one.version or "-", one.offered or "-", one.reason or one.codex)
            for one in found
        ]
        print(table(("PLUGIN", "INSTALLED", "OFFERED", "WHY"), rows))
    else:
        print("Everything is up to date.")
    for subject, reason in result.faults:
        say(f"Error: {subject}: {reason}")
    return 1 if result.faults else DIFFERS if found else 0


async def _update(client: CoreClient, given: argparse.Namespace) -> int:
    await fresh_rows(client, "plugins")
    params = UpdateParams(ids=tuple(given.ids) or None, fetch=not given.no_fetch)
    result = await client.call(JACKFIELD_PLUGIN_UPDATE, params)
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
    else:
        for one in result.outcomes:
            print(safe(f"{one.id}: {one.outcome}{f' — {one.message}' if one.message else ''}"))
        if not result.outcomes:
            print("Everything is up to date.")
    for subject, reason in result.faults:
        say(f"Error: {subject}: {reason}")
    bad = any(one.outcome in ("failed", "cancelled") for one in result.outcomes)
    return 1 if bad or result.faults else 0
