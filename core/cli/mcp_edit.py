"""`jackfield mcp edit`: change single members of a server's table."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec

from core.cli.options import setting
from core.cli.text import json_text, safe
from core.cli.verb_run import add_common, in_client
from core.errors import InvalidRequest
from core.method_table import CONFIG_BATCH_WRITE, JACKFIELD_SERVER_ENTRIES
from core.protocol.jackfield_lists import EntriesParams

if TYPE_CHECKING:
    from core.client.contract import CoreClient


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `mcp edit` takes."""
    parser.add_argument("name", metavar="NAME", help="of a server in the user's config.toml")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a member and its TOML value, or plain text; dotted for tables: env.TOKEN=x",
    )
    parser.add_argument(
        "--unset", action="append", default=[], metavar="KEY", help="take a member out"
    )
    add_common(parser, json="print the entry as it is now, secrets masked")
    parser.epilog = (
        "All changes are written, or none; comments and order stay. "
        "Exit codes: 0 written; 1 refused, nothing is written; 2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Write the changes."""
    if not (given.set or given.unset):
        print("jackfield mcp edit: say what to change with --set or --unset", file=sys.stderr)
        return 2
    return in_client(given, lambda client: _edit(client, given))


async def _edit(client: CoreClient, given: argparse.Namespace) -> int:
    from core.protocol.config import ConfigBatchWriteParams

    params = EntriesParams(names=(given.name,))
    entries = (await client.call(JACKFIELD_SERVER_ENTRIES, params)).entries
    if not entries:
        raise InvalidRequest(f"No MCP server named '{given.name}' found.")
    if not entries[0].own:
        where = entries[0].plugin_id or entries[0].origin.file or "another layer"
        raise InvalidRequest(f"{given.name} is not in the user's config.toml: it is of {where}")
    edits = [
        {"keyPath": _path(given.name, path), "value": value, "mergeStrategy": "replace"}
        for path, value in map(setting, given.set)
    ]
    edits += [
        {"keyPath": _path(given.name, key.split(".")), "value": None, "mergeStrategy": "replace"}
        for key in given.unset
    ]
    await client.call(CONFIG_BATCH_WRITE, ConfigBatchWriteParams.model_validate({"edits": edits}))
    entry = (await client.call(JACKFIELD_SERVER_ENTRIES, params)).entries[0]
    if given.json:
        print(json_text(msgspec.to_builtins(entry)))
    else:
        place = f"{entry.origin.file}:{entry.origin.line}" if entry.origin.file else "config.toml"
        print(safe(f"{given.name} is changed: {place}"))
    return 0


def _path(name: str, steps: list[str]) -> str:
    return ".".join(("mcp_servers", *(f'"{step}"' for step in (name, *steps))))
