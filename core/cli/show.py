"""`jackfield show`: everything that is known of one plugin, server, app, tool or marketplace."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from core.cli.asking import Servers, fresh_rows
from core.cli.text import json_text, safe
from core.cli.verb_run import add_common, add_starting, in_client
from core.errors import InvalidRequest
from core.method_table import (
    JACKFIELD_APP_DETAIL,
    JACKFIELD_PLUGIN_DETAIL,
    JACKFIELD_SERVER_DETAIL,
    JACKFIELD_SERVER_ENTRIES,
    JACKFIELD_TOOL_DETAIL,
)
from core.protocol.jackfield import IdParams, NameParams
from core.protocol.jackfield_lists import EntriesParams
from core.protocol.rows import detail_of

if TYPE_CHECKING:
    from core.client.contract import CoreClient

KINDS = ("plugin", "server", "tool", "marketplace", "app")


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `show` takes."""
    parser.add_argument("id", metavar="NAME|ID", help="of a row of `jackfield list`")
    parser.add_argument("--kind", choices=KINDS, help="what it is, where that is not clear")
    add_common(parser, json="print one JSON object")
    add_starting(parser)
    parser.epilog = (
        "A server, or a tool's server, is started for it when it has been agreed to. Secrets are "
        "masked. Exit codes: 0 shown; 1 there is none, or it could not be read; 2 wrong usage."
    )


def run(given: argparse.Namespace) -> int:
    """Print what is known."""
    return in_client(given, lambda client: _show(client, given))


async def _show(client: CoreClient, given: argparse.Namespace) -> int:
    kinds = (given.kind,) if given.kind else KINDS
    readers = {
        "plugin": _plugin,
        "server": _server,
        "tool": _tool,
        "marketplace": _marketplace,
        "app": _app,
    }
    for kind in kinds:
        found = await readers[kind](client, given)
        if found is not None:
            value = {"kind": kind, "id": given.id, **found}
            print(json_text(value) if given.json else "\n".join(lines(value)))
            return 0
    raise InvalidRequest(f"nothing here is called {given.id}")


async def _plugin(client: CoreClient, given: argparse.Namespace) -> dict[str, Any] | None:
    rows, _ = await fresh_rows(client, "plugins", deadline=given.deadline)
    fits = [row for row in rows if given.id == row.id]
    fits = fits or [row for row in rows if given.id in (row.plugin_id, row.name)]
    if not fits:
        return None
    if len(fits) > 1:
        raise InvalidRequest(f"several plugins: {', '.join(row.id for row in fits)}")
    detail = (await client.call(JACKFIELD_PLUGIN_DETAIL, IdParams(id=fits[0].id))).detail
    return {"row": detail_of(fits[0]), "detail": detail}


async def _server(client: CoreClient, given: argparse.Namespace) -> dict[str, Any] | None:
    params = EntriesParams(names=(given.id,))
    entries = (await client.call(JACKFIELD_SERVER_ENTRIES, params)).entries
    if not entries:
        return None
    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    async for row in servers.settled([given.id]):
        detail = (await client.call(JACKFIELD_SERVER_DETAIL, NameParams(name=given.id))).detail
        detail.pop("row", None)
        return {"row": detail_of(row), "entry": msgspec.to_builtins(entries[0]), "detail": detail}
    return None


async def _tool(client: CoreClient, given: argparse.Namespace) -> dict[str, Any] | None:
    entries = (await client.call(JACKFIELD_SERVER_ENTRIES, EntriesParams())).entries
    fits = [entry.name for entry in entries if given.id.startswith(f"{entry.name}/")]
    if not fits:
        return None
    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    async for _ in servers.settled([max(fits, key=len)]):
        pass
    return (await client.call(JACKFIELD_TOOL_DETAIL, IdParams(id=given.id))).detail


async def _marketplace(client: CoreClient, given: argparse.Namespace) -> dict[str, Any] | None:
    rows, _ = await fresh_rows(client, "marketplaces", deadline=given.deadline)
    fits = [row for row in rows if given.id in (row.id, row.name)]
    return {"row": detail_of(fits[0])} if fits else None


async def _app(client: CoreClient, given: argparse.Namespace) -> dict[str, Any] | None:
    rows, _ = await fresh_rows(client, "apps", deadline=given.deadline)
    fits = [row for row in rows if given.id in (row.id, row.name)]
    if not fits:
        return None
    detail = (await client.call(JACKFIELD_APP_DETAIL, IdParams(id=fits[0].id))).detail
    return {"row": detail_of(fits[0]), "detail": detail}


def lines(value: Any, indent: int = 0) -> Iterator[str]:
    """A JSON value for people: what is empty is left out, what is foreign is made safe."""
    room = "  " * indent
    if isinstance(value, Mapping):
        for key, member in cast("Mapping[str, Any]", value).items():
            if member in (None, "", [], {}, ()):
                continue
            if isinstance(member, Mapping) or _is_list(member):
                yield f"{room}{safe(key)}:"
                yield from lines(member, indent + 1)
            else:
                first, *rest = _said(member).split("\n")
                yield f"{room}{safe(key)}: {safe(first)}"
                yield from (f"{room}  {safe(line)}" for line in rest)
    elif _is_list(value):
        for member in cast("Sequence[Any]", value):
            told = list(lines(member, indent + 1))
            if told:
                yield f"{room}- {told[0].strip()}"
                yield from told[1:]
    else:
        yield f"{room}{safe(_said(value))}"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _said(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
