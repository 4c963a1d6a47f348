"""Looks over the MCP servers that a plugin declares. Values of secrets are never told."""

from __future__ import annotations

import os
import re
from typing import Any, cast

from core.plugins.json_fast import member
from core.plugins.json_text import Repeated
from core.plugins.layout import BOM, read_file
from core.plugins.manifest import Manifest, below
from core.plugins.mcp_file import PluginServers, plugin_servers
from core.plugins.validate.report import Path, Report, placed
from core.plugins.validate.values import any_value

_VARIABLE = re.compile(r"\$\{[^}]*\}|\$[A-Z_][A-Z0-9_]*")
_REFERENCE = re.compile(r"\$|\{|^<.*>$|^(?:your|xxx|change|replace|todo)|^$", re.IGNORECASE)
_SECRET = re.compile(
    r"secret|password|passwd|token|api[-_]?key|access[-_]?key|private[-_]?key|authorization",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"(?:file|path|url|uri|endpoint|name|type|limit|max|min)s?$", re.IGNORECASE)
_TYPES = ("stdio", "http", "streamable-http", "streamable_http")


def look_at_servers(manifest: Manifest, report: Report) -> int:
    """Tell what is wrong with the servers; how many Codex can use."""
    path, at = _place(manifest)
    if path != manifest.path and not report.readable(path):
        return 0
    servers = plugin_servers(manifest)
    if servers.fault:
        _faulty(servers, report)
        return 0
    value: Any = manifest.mcp_servers if at else any_value(read_file(path))
    inner = member(value, "mcpServers")
    if isinstance(inner, dict):
        value, at = cast("dict[str, Any]", inner), (*at, "mcpServers")
    for dropped in servers.dropped:
        message = f"`{dropped.name}`: {dropped.reason}"
        wrapped = dropped.name == "mcp_servers"
        mend = "write `mcpServers`: this is taken for a server's name" if wrapped else None
        report.add("mcp-server", path, message, at=(*at, dropped.name), hint=mend)
    table = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    for name in servers.entries:
        written: Any = table.get(name)
        if isinstance(written, dict):
            server = cast("dict[str, Any]", written)
            _server(name, server, path, (*at, name), manifest, report)
    return len(servers.entries)


def _place(manifest: Manifest) -> tuple[str, Path]:
    """File of the servers, and where in it they stand when that is the manifest."""
    if manifest.agent_plugins:
        return f"{manifest.root}/mcp.json", ()
    if isinstance(manifest.mcp_servers, dict):
        return manifest.path, ("mcpServers",)
    written: Any = manifest.mcp_servers
    path = below(written, manifest.root) if isinstance(written, str) else None
    return path or f"{manifest.root}/.mcp.json", ()


def _faulty(servers: PluginServers, report: Report) -> None:
    message, line, column = placed(servers.fault)
    if os.path.isfile(servers.path) and read_file(servers.path)[:3] == BOM:
        message = "it begins with a byte order mark"
    report.add("mcp-file", servers.path, message, line=line or servers.line, column=column)


def _server(
    name: str, server: dict[str, Any], path: str, at: Path, manifest: Manifest, report: Report
) -> None:
    def tell(rule: str, message: str, *place: str | int, **more: Any) -> None:
        report.add(rule, path, f"`{name}`: {message}", at=(*at, *place), **more)

    if isinstance(server, Repeated) and server.repeated:
        tell("member-twice", f"`{min(server.repeated)}` stands twice")
    for place, text in _texts(server):
        if not manifest.agent_plugins and (found := _VARIABLE.search(text)):
            tell("mcp-variable", f"`{found[0]}` in `{place[0]}`", *place)
    for place in _literal_secrets(server):
        told = ".".join(map(str, place))
        tell("mcp-secret", f"a literal secret in `{told}`", *place)
    kind = server.get("type")
    if kind == "sse":
        tell("mcp-type", "the type sse; Codex speaks streamable HTTP to it", "type")
    elif kind is not None and kind not in _TYPES:
        tell("mcp-type", f"the type {kind} is not known", "type")
    elif kind is not None and (kind == "stdio") != ("command" in server):
        tell("mcp-type", f"the type {kind} does not fit its other members", "type")
    if manifest.agent_plugins:
        return
    if "headers" in server and "http_headers" not in server:
        tell("mcp-headers", "`headers`", "headers")
    if "disabled" in server:
        tell("mcp-disabled", "`disabled`", "disabled")
    _relative(server, manifest, tell)


def _relative(server: dict[str, Any], manifest: Manifest, tell: Any) -> None:
    """Paths that mean the plugin's folder, where Codex starts the server elsewhere."""
    if server.get("cwd"):
        base = os.path.join(manifest.root, str(server["cwd"]))
        if "${" not in base and not os.path.isdir(base):
            tell("path-missing", f"cwd `{server['cwd']}` is not there", "cwd")
        return
    args: Any = server.get("args")
    words = [server.get("command"), *(cast("list[Any]", args) if isinstance(args, list) else [])]
    for number, word in enumerate(words):
        if isinstance(word, str) and word.startswith(("./", "../")):
            place = ("command",) if number == 0 else ("args", number - 1)
            tell("mcp-relative", f"`{word}` and no `cwd`", *place)
            return


def _texts(server: dict[str, Any]) -> list[tuple[tuple[str | int, ...], str]]:
    found: list[tuple[tuple[str | int, ...], str]] = []
    for name in ("command", "url", "cwd"):
        if isinstance(text := server.get(name), str):
            found.append(((name,), text))
    args: Any = server.get("args")
    if isinstance(args, list):
        listed = cast("list[Any]", args)
        found += [(("args", n), text) for n, text in enumerate(listed) if isinstance(text, str)]
    for name in ("env", "headers", "http_headers"):
        table: Any = server.get(name)
        if isinstance(table, dict):
            members = cast("dict[str, Any]", table)
            found += [((name, k), text) for k, text in members.items() if isinstance(text, str)]
    return found


def _literal_secrets(server: dict[str, Any]) -> list[tuple[str | int, ...]]:
    return [
        place
        for place, text in _texts(server)
        if len(place) == 2
        and isinstance(place[1], str)
        and _SECRET.search(place[1])
        and not _HARMLESS.search(place[1])
        and not _REFERENCE.search(text.removeprefix("Bearer ").strip())
    ]
