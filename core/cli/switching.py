"""`jackfield enable` and `jackfield disable`: plugins, servers, apps and tools."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal

from core.cli.output import say
from core.cli.text import json_text, safe
from core.cli.verb_run import add_common, in_client
from core.errors import InvalidRequest
from core.method_table import CONFIG_READ, JACKFIELD_SERVER_ENTRIES, JACKFIELD_SWITCH
from core.protocol.jackfield import SwitchParams
from core.protocol.jackfield_lists import EntriesParams, ServerEntryInfo

if TYPE_CHECKING:
    from core.client.contract import CoreClient

Kind = Literal["plugin", "server", "app", "tool"]
KINDS: tuple[Kind, ...] = ("plugin", "server", "app", "tool")
DECIDED_ELSEWHERE = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `enable` and `disable` take."""
    parser.add_argument(
        "id", metavar="ID", help="PLUGIN@MARKETPLACE, a server, SERVER/TOOL or the id of an app"
    )
    parser.add_argument("--kind", choices=KINDS, help="what ID is, where that is not clear")
    parser.add_argument(
        "--force",
        action="store_true",
        help="write the user's config.toml even though another layer decides",
    )
    add_common(parser, json="print the outcome as JSON")
    parser.epilog = (
        "The user's config.toml is written, nothing else; where another layer decides, that one is "
        "named and nothing is written. Exit codes: 0 it is so now; 1 it failed; 2 wrong usage; "
        f"{DECIDED_ELSEWHERE} another layer decides otherwise."
    )


def run_enable(given: argparse.Namespace) -> int:
    """Turn something on."""
    return in_client(given, lambda client: _switch(client, given, enabled=True))


def run_disable(given: argparse.Namespace) -> int:
    """Turn something off."""
    return in_client(given, lambda client: _switch(client, given, enabled=False))


async def _switch(client: CoreClient, given: argparse.Namespace, *, enabled: bool) -> int:
    entries = (await client.call(JACKFIELD_SERVER_ENTRIES, EntriesParams())).entries
    kind = given.kind or await _kind_of(client, given.id, entries)
    server = _server_of(given.id, kind, entries)
    params = SwitchParams(
        kind=kind,
        id=given.id,
        enabled=enabled,
        layer="user" if given.force else None,
        server=server.name if server is not None and kind == "tool" else None,
        plugin_id=server.plugin_id if server is not None else None,
    )
    result = await client.call(JACKFIELD_SWITCH, params)
    if given.json:
        told = {
            "kind": kind,
            "id": given.id,
            "enabled": result.effective,
            "written": result.written,
            "message": result.message,
            "file": result.evidence.file,
            "line": result.evidence.line,
            "decidedBy": result.decided_by.layer if result.decided_by is not None else None,
        }
        print(json_text(told))
    else:
        print(safe(result.message))
        if result.decided_by is not None and not result.written:
            say("--force writes the user's config.toml nevertheless")
    return 0 if result.effective is enabled else DECIDED_ELSEWHERE


async def _kind_of(client: CoreClient, name: str, entries: tuple[ServerEntryInfo, ...]) -> Kind:
    """What an id must be.

    Raises:
        InvalidRequest: Nothing here is called so.
    """
    if any(entry.name == name for entry in entries):
        return "server"
    if _server_of(name, "tool", entries) is not None:
        return "tool"
    plugin, at, marketplace = name.partition("@")
    if at and plugin and marketplace and "@" not in marketplace:
        return "plugin"
    if name in await _configured_apps(client):
        return "app"
    raise InvalidRequest(f"nothing here is called {name}", hint="--kind app says that it is an app")


async def _configured_apps(client: CoreClient) -> frozenset[str]:
    from core.protocol.config import ConfigReadParams

    config = (await client.call(CONFIG_READ, ConfigReadParams())).config
    return frozenset(config.get("apps") or ())


def _server_of(
    name: str, kind: Kind, entries: tuple[ServerEntryInfo, ...]
) -> ServerEntryInfo | None:
    """The server itself, or the one whose tool it is: the longest name that fits."""
    if kind == "server":
        return next((entry for entry in entries if entry.name == name), None)
    if kind != "tool":
        return None
    fits = [entry for entry in entries if name.startswith(f"{entry.name}/")]
    return max(fits, key=lambda entry: len(entry.name), default=None)
