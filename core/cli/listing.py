"""`jackfield list`: plugins, apps, tools, servers or marketplaces, as the panel shows them."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from core.cli.asking import Servers, all_rows, fresh_rows
from core.cli.output import Rows, say
from core.cli.text import width
from core.cli.verb_run import add_common, add_starting, in_client
from core.protocol.rows import AppRow, Domain, MarketplaceRow, PluginRow, ServerRow, ToolRow

if TYPE_CHECKING:
    from core.client.contract import CoreClient

WHAT = ("plugins", "apps", "tools", "servers", "marketplaces")
_WIDEST = 40


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `list` takes."""
    parser.add_argument(
        "what", nargs="?", choices=WHAT, default="plugins", help="plugins unless said"
    )
    add_common(parser, json="one JSON object a line, with a stable `id`; rows as on the wire")
    add_starting(parser)
    parser.epilog = (
        "Servers and tools are printed as each server answers, nothing waits for the slowest. "
        "Exit codes: 0 listed, also when rows have problems; 1 a list could not be read whole; "
        "2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Print the rows."""
    jobs: dict[str, Callable[[CoreClient, argparse.Namespace], Awaitable[int]]] = {
        "servers": _servers,
        "tools": _tools,
    }
    job = jobs.get(given.what, _list)
    return in_client(given, lambda client: job(client, given))


# -- lists that are whole when they are printed

Cells = Callable[[Any], tuple[str, ...]]


def _plugin(row: PluginRow) -> tuple[str, ...]:
    version = row.version or row.offered or ""
    return row.id, row.state, version, row.reason or row.description or row.source


def _app(row: AppRow) -> tuple[str, ...]:
    state = "on" if row.enabled else "off"
    return row.id, row.name, state, "linked" if row.accessible else "not linked", row.description


def _marketplace(row: MarketplaceRow) -> tuple[str, ...]:
    return row.name, row.listed, str(row.total), row.source, row.origin or row.root


_LISTS: dict[str, tuple[tuple[str, ...], Cells]] = {
    "plugins": (("PLUGIN", "STATE", "VERSION", "ABOUT"), _plugin),
    "apps": (("APP", "NAME", "STATE", "ACCOUNT", "ABOUT"), _app),
    "marketplaces": (("MARKETPLACE", "STATE", "ENTRIES", "SOURCE", "FROM"), _marketplace),
}


async def _list(client: CoreClient, given: argparse.Namespace) -> int:
    domain: Domain = given.what
    head, cells = _LISTS[domain]
    rows, faults = await fresh_rows(client, domain, deadline=given.deadline)
    told = [cells(row) for row in rows]
    out = Rows(head, _widths(told, len(head)), as_json=given.json)
    for row, line in zip(rows, told, strict=True):
        out.add(line, row)
    for fault in faults:
        say(f"Error: {fault}")
    if not out.count and not faults and not given.json:
        say(f"No {domain}.")
    return 1 if faults else 0


def _widths(lines: list[tuple[str, ...]], columns: int) -> list[int]:
    return [
        min(_WIDEST, max((width(line[at]) for line in lines), default=0))
        for at in range(columns - 1)
    ]


# -- servers and what they offer


async def _servers(client: CoreClient, given: argparse.Namespace) -> int:
    from core.cli.server_rows import SERVER_HEAD, server_cells, server_widths

    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    out: Rows | None = None
    async for row in servers.settled():
        if out is None:
            known: list[ServerRow] = await all_rows(client, "servers")
            out = Rows(SERVER_HEAD, server_widths(known), as_json=given.json)
        out.add(server_cells(row), row)
    if out is None and not given.json:
        say("No servers.")
    return 0


async def _tools(client: CoreClient, given: argparse.Namespace) -> int:
    from core.cli.server_rows import TOOL_HEAD, tool_cells

    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    out = Rows(TOOL_HEAD, (32, 8, 8), as_json=given.json)
    printed: set[str] = set()
    async for server in servers.settled():
        found: list[ToolRow] = await all_rows(client, "inventory")
        for row in found:
            if row.kind == "tool" and row.id not in printed:
                if row.source == "app" or row.owner == server.name:
                    printed.add(row.id)
                    out.add(tool_cells(row), row)
        if server.status not in ("connected", "disabled"):
            say(f"{server.name}: {server.status} — {server.reason}".rstrip(" —"))
    if not out.count and not given.json:
        say("No tools.")
    return 0
