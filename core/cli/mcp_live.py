"""`jackfield mcp reconnect`, `tools`, `call`, `read`: servers that are started for it."""

from __future__ import annotations

import argparse
import json
import sys
from base64 import b64decode
from typing import TYPE_CHECKING, Any, cast

import msgspec

from core.cli.asking import Servers, all_rows, why_not_started
from core.cli.output import Rows, say, tick, ticking
from core.cli.server_rows import (
    SERVER_HEAD,
    TOOL_HEAD,
    server_cells,
    server_widths,
    tool_cells,
)
from core.cli.text import json_text, safe_lines
from core.cli.verb_run import add_common, add_starting, in_client
from core.errors import InvalidRequest
from core.method_table import (
    JACKFIELD_RESOURCE_READ,
    JACKFIELD_SERVER_ENTRIES,
    JACKFIELD_TOOL_CALL,
)
from core.protocol.jackfield_lists import EntriesParams
from core.protocol.jackfield_tools import ResourceParams, ToolCallParams, ToolCallResult

if TYPE_CHECKING:
    from core.client.contract import CoreClient

FAILED, TOOL_ERROR = 1, 3


def reconnect_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mcp reconnect` takes."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="all unless said")
    add_common(parser, json="one JSON object a line for each server")
    add_starting(parser)
    parser.epilog = (
        "Each server is connected to anew and told as it answers. Exit codes: 0 all are connected; "
        "1 one is not; 2 wrong usage."
    )


def reconnect(given: argparse.Namespace) -> int:
    """Connect and say how it went."""
    return in_client(given, lambda client: _reconnect(client, given))


async def _reconnect(client: CoreClient, given: argparse.Namespace) -> int:
    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    out: Rows | None = None
    good = True
    async for row in servers.settled(given.names or None):
        if out is None:
            known = await all_rows(client, "servers")
            out = Rows(SERVER_HEAD, server_widths(known), as_json=given.json)
        if row.status == "disabled" and not given.names:
            continue
        good = good and row.status == "connected"
        out.add(server_cells(row), row)
    return 0 if good else FAILED


def tools_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mcp tools` takes."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="servers; all unless said")
    add_common(parser, json="one JSON object a line for each tool")
    add_starting(parser)
    parser.epilog = (
        "Exit codes: 0 listed; 1 a server is not connected, so that its tools are not known; "
        "2 wrong usage."
    )


def tools(given: argparse.Namespace) -> int:
    """List what servers offer to the model."""
    return in_client(given, lambda client: _tools(client, given))


async def _tools(client: CoreClient, given: argparse.Namespace) -> int:
    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    out = Rows(TOOL_HEAD, (32, 8, 8), as_json=given.json)
    good = True
    async for server in servers.settled(given.names or None):
        for row in await all_rows(client, "inventory"):
            if row.owner == server.name and row.kind == "tool" and row.source == "server":
                out.add(tool_cells(row), row)
        if server.status != "connected" and (given.names or server.status != "disabled"):
            good = False
            say(f"{server.name}: {server.status} — {server.reason}")
    return 0 if good else FAILED


def call_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mcp call` takes."""
    parser.add_argument("tool", metavar="SERVER/TOOL", help="as `mcp tools` lists it")
    parser.add_argument(
        "arguments",
        nargs="*",
        metavar="JSON|KEY=VALUE",
        help="one JSON object, `-` for one on stdin, or pairs whose values are JSON where they "
        "can be read as such, else text; KEY:=VALUE takes JSON only",
    )
    add_common(parser, json="print the whole result as JSON")
    add_starting(parser)
    parser.epilog = (
        "Exit codes: 0 the tool answered; 1 there was no answer; 2 wrong usage; "
        f"{TOOL_ERROR} the tool says that it failed (isError)."
    )


def call(given: argparse.Namespace) -> int:
    """Call a tool and print what it says."""
    try:
        values = _arguments(given.arguments)
    except ValueError as error:
        print(f"jackfield mcp call: {error}", file=sys.stderr)
        return 2
    return in_client(given, lambda client: _call(client, given, values))


def _arguments(words: list[str]) -> dict[str, Any]:
    """Arguments of a call.

    Raises:
        ValueError: They are neither one object nor pairs.
    """
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        text = sys.stdin.read() if words[0] == "-" else words[0]
        value = _json(text, "the arguments")
        if not isinstance(value, dict):
            raise ValueError("the arguments are no JSON object")
        return cast("dict[str, Any]", value)
    found: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key.rstrip(":"):
            raise ValueError(f"{word!r} is neither a JSON object nor KEY=VALUE")
        if key.endswith(":"):
            found[key[:-1]] = _json(text, key[:-1])
            continue
        try:
            found[key] = json.loads(text)
        except ValueError:
            found[key] = text
    return found


def _json(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{what}: no JSON: {error}") from None


async def _call(client: CoreClient, given: argparse.Namespace, values: dict[str, Any]) -> int:
    server = await _server_of(client, given.tool)
    with ticking():
        tick(f"starting {server}")
        await _connected(client, given, server)
        tick(f"calling {given.tool}")
        params = ToolCallParams(id=given.tool, arguments=values)
        result = await client.call(JACKFIELD_TOOL_CALL, params)
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
    else:
        _print(result)
    if result.outcome != "answered":
        return FAILED
    return TOOL_ERROR if result.is_error else 0


async def _server_of(client: CoreClient, tool: str) -> str:
    entries = (await client.call(JACKFIELD_SERVER_ENTRIES, EntriesParams())).entries
    fits = [entry.name for entry in entries if tool.startswith(f"{entry.name}/")]
    if not fits:
        raise InvalidRequest(f"no server has a tool {tool}", hint="it is SERVER/TOOL")
    return max(fits, key=len)


async def _connected(client: CoreClient, given: argparse.Namespace, server: str) -> None:
    """Raises CoreError when it is not."""
    servers = Servers(client, yes=given.yes, deadline=given.deadline)
    async for row in servers.settled([server]):
        if row.status != "connected":
            raise why_not_started(row)


def _print(result: ToolCallResult) -> None:
    if result.outcome != "answered":
        say(f"Error: {result.reason}")
        if result.hint:
            say(result.hint)
        return
    for block in result.content:
        print(safe_lines(_block(block)))
    if result.structured and not result.content:
        print(json_text(result.structured_content))
    if result.cut:
        say(f"left out: {result.cut}")


def _block(block: dict[str, Any]) -> str:
    """One block of content, for people."""
    match block.get("type"):
        case "text":
            return str(block.get("text", ""))
        case "image" | "audio" as kind:
            size = len(str(block.get("data", ""))) * 3 // 4
            return f"[{kind}, {block.get('mimeType', '?')}, {size:,} B]"
        case "resource_link":
            return f"[link to {block.get('uri', '')}]"
        case "resource":
            resource = cast("dict[str, Any]", block.get("resource") or {})
            return str(resource.get("text") or f"[resource {resource.get('uri', '')}]")
        case _:
            return json_text(block)


def read_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mcp read` takes."""
    parser.add_argument("server", metavar="SERVER", help="as it is configured")
    parser.add_argument("uri", metavar="URI", help="of the resource")
    add_common(parser, json="print the whole result as JSON")
    add_starting(parser)
    parser.epilog = (
        "Text is made safe for a terminal and left as it is for a pipe; what is binary goes to a "
        "pipe only. Exit codes: 0 read; 1 it failed; 2 wrong usage."
    )


def read(given: argparse.Namespace) -> int:
    """Read a resource and print it."""
    return in_client(given, lambda client: _read(client, given))


async def _read(client: CoreClient, given: argparse.Namespace) -> int:
    await _connected(client, given, given.server)
    params = ResourceParams(server=given.server, uri=given.uri)
    result = await client.call(JACKFIELD_RESOURCE_READ, params)
    if given.json:
        print(json_text(msgspec.to_builtins(result)))
        return 0
    for entry in result.contents:
        _write(entry)
    if result.cut:
        say(f"left out: {result.cut}")
    return 0


def _write(entry: dict[str, Any]) -> None:
    text, terminal = entry.get("text"), sys.stdout.isatty()
    if isinstance(text, str):
        sys.stdout.write(f"{safe_lines(text)}\n" if terminal else text)
        return
    data = b64decode(str(entry.get("blob", "")), validate=False)
    if terminal:
        kind = entry.get("mimeType", "unknown type")
        print(safe_lines(f"[{kind}, {len(data):,} B: redirect the output to keep it]"))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
