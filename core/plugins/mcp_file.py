"""MCP servers that a plugin declares: `.mcp.json`, another file, or the manifest itself.

Rules as observed in Codex 0.171.0; servers that it drops without a word are kept as `Dropped`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import urlsplit

from core.config.server_entry import SERVER, EntryError, parse_server
from core.plugins import json_fast
from core.plugins.agent_plugins import MCP_SCHEMA
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_text import Repeated
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import os_reason, read_file
from core.plugins.manifest import Manifest, below

_OAUTH = {
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "callbackUrl": "callback_url",
    "callbackPort": "callback_port",
    "tokenEndpointAuthMethod": "token_endpoint_auth_method",
    "authorizationServerIssuer": "authorization_server_issuer",
}
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")
ROOT = "${PLUGIN_ROOT}"
DATA = "${PLUGIN_DATA}"


@dataclass(frozen=True)
class Dropped:
    """A server that Codex leaves out, and why."""

    name: str
    reason: str


@dataclass
class PluginServers:
    """The servers of a plugin, sorted by name.

    Attributes:
        path: The file that declares them; the manifest for inline ones; "" when there is none.
        entries: Members as in `[mcp_servers.NAME]`.
        fault: Why the whole file counts for nothing, or "".
        line: Of the fault, 0 when it has none.
    """

    path: str = ""
    entries: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    fault: str = ""
    line: int = 0


def plugin_servers(manifest: Manifest, data_root: str = "") -> PluginServers:
    """The servers of a plugin. `data_root`: what `${PLUGIN_DATA}` stands for."""
    if manifest.agent_plugins:
        servers = PluginServers(f"{manifest.root}/mcp.json")
        table = _agent_table(_read(servers), servers)
        return _fill(servers, table, lambda entry: _agent(entry, manifest.root, data_root))
    written = manifest.mcp_servers
    if isinstance(written, dict):
        servers = PluginServers(manifest.path)
        value: Any = cast("dict[str, Any]", written)
    else:
        path = below(written, manifest.root) if isinstance(written, str) else None
        servers = PluginServers(path or f"{manifest.root}/.mcp.json")
        value = _read(servers)
    if isinstance(value, Repeated) and "mcpServers" in value.repeated:
        servers.fault, value = "`mcpServers` stands twice", None
    wrapped = json_fast.member(value, "mcpServers")
    return _fill(servers, wrapped if isinstance(wrapped, dict) else value, _classic)


def _read(servers: PluginServers) -> Any:
    try:
        data = read_file(servers.path)
    except FileNotFoundError:
        servers.path = ""
        return None
    except OSError as error:
        servers.fault = os_reason(error)
        return None
    value = json_fast.decode(data)
    if value is not json_fast.SUSPECT:
        return value
    try:
        data.decode()
        return read_exactly(data, ANY)
    except UnicodeDecodeError:
        servers.fault = "it is not UTF-8"
    except JsonFault as fault:
        servers.fault = str(fault)
        servers.line = fault.line
    return None


def _fill(
    servers: PluginServers, table: Any, check: Callable[[Any], dict[str, Any]]
) -> PluginServers:
    if not isinstance(table, dict):
        if table is not None and not servers.fault:
            servers.fault = "it holds no object of servers"
        return servers
    for name, written in sorted(cast("dict[str, Any]", table).items()):
        try:
            servers.entries[name] = check(written)
        except EntryError as error:
            place = ".".join(map(str, error.key_path))
            servers.dropped.append(
                Dropped(name, f"{place}: {error.message}" if place else error.message)
            )
    return servers


def _classic(written: Any) -> dict[str, Any]:
    """The entry of a classic plugin's server. Raises EntryError when Codex drops it."""
    if not isinstance(written, dict):
        raise EntryError("it is no object")
    table = cast("dict[str, Any]", written)
    entry = {
        name: value for name, value in table.items() if name in SERVER.fields and value is not None
    }
    oauth = entry.pop("oauth", None)
    if isinstance(oauth, dict) and (known := _oauth(cast("dict[str, Any]", oauth))):
        entry["oauth"] = known
    if entry.get("auth") == "ema_auth":
        raise EntryError("auth = ema_auth is not allowed in plugins")
    parse_server("", entry)
    return entry


def _oauth(written: Mapping[str, Any]) -> dict[str, Any]:
    known = {snake: written[camel] for camel, snake in _OAUTH.items() if camel in written}
    return known | {name: written[name] for name in _OAUTH.values() if name in written}


def _agent_table(value: Any, servers: PluginServers) -> Any:
    """The servers of an Agent Plugins file, which takes two members and no others."""
    if value is None:
        return None
    if not isinstance(value, dict) or json_fast.member(value, "$schema") != MCP_SCHEMA:
        servers.fault = f"`$schema` is not {MCP_SCHEMA}"
        return None
    table = cast("dict[str, Any]", value)
    if isinstance(value, Repeated) and value.repeated:
        servers.fault = "a member stands twice"
        return None
    if table.keys() != {"$schema", "mcpServers"}:
        servers.fault = "it needs `$schema` and `mcpServers` and takes nothing else"
        return None
    return table["mcpServers"]


def _agent(written: Any, root: str, data_root: str) -> dict[str, Any]:
    """The entry of an Agent Plugins server, variables filled in."""
    if not isinstance(written, dict):
        raise EntryError("it is no object")
    table = cast("dict[str, Any]", written)
    match table.get("type"):
        case "stdio":
            _only(table, {"type", "command", "args", "env", "cwd"})
            return _agent_stdio(table, root, data_root)
        case "streamable-http":
            _only(table, {"type", "url", "headers"})
            return _agent_http(table)
        case kind:
            raise EntryError(f"type `{kind}` is neither stdio nor streamable-http")


def _only(table: Mapping[str, Any], known: set[str]) -> None:
    if other := [name for name in table if name not in known]:
        raise EntryError(f"`{other[0]}` is not known")


def _agent_stdio(table: Mapping[str, Any], root: str, data_root: str) -> dict[str, Any]:
    command: Any = table.get("command")
    if not isinstance(command, str) or not command or "\\" in command:
        raise EntryError("command is neither a bare name nor a path that begins with ./")
    if "/" in command:
        inside = _inside(command.removeprefix("./")) if command.startswith("./") else None
        if not inside:
            raise EntryError("command is neither a bare name nor a path that begins with ./")
        command = f"{root}/{inside}"

    def fill(text: str) -> str:
        return text.replace(ROOT, root).replace(DATA, data_root)

    args = _texts(table.get("args", []), "args")
    env = _text_table(table.get("env", {}), "env")
    if reserved := env.keys() & {"PLUGIN_ROOT", "PLUGIN_DATA"}:
        raise EntryError(f"env must not set {min(reserved)}")
    return {
        "command": command,
        "args": [fill(text) for text in args],
        "env": {name: fill(text) for name, text in env.items()}
        | {"PLUGIN_ROOT": root, "PLUGIN_DATA": data_root},
        "cwd": _agent_cwd(table["cwd"], root, data_root) if "cwd" in table else root,
    }


def _agent_cwd(cwd: Any, root: str, data_root: str) -> str:
    if isinstance(cwd, str):
        for start, base in ((ROOT, root), (DATA, data_root)):
            if cwd == start:
                return base
            if cwd.startswith(f"{start}/"):
                inside = _inside(cwd[len(start) + 1 :])
                if inside is not None:
                    return f"{base}/{inside}".rstrip("/")
        if cwd.startswith("./") and (inside := _inside(cwd[2:])) is not None:
            return f"{root}/{inside}".rstrip("/")
    raise EntryError("cwd does not stay below the plugin's directories")


def _inside(path: str) -> str | None:
    """A relative path with its dots resolved, or None when it leads outside."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return None if path.startswith("/") else "/".join(parts)


def _agent_http(table: Mapping[str, Any]) -> dict[str, Any]:
    written: Any = table.get("url")
    if not isinstance(written, str):
        raise EntryError("url is missing or no string")
    try:
        url = urlsplit(written.strip())
        host, user = url.hostname or "", url.username or url.password
    except ValueError:
        raise EntryError("url cannot be read") from None
    if url.scheme not in ("http", "https") or not host:
        raise EntryError("url is no absolute http or https URL")
    if url.scheme == "http" and not _LOOPBACK.fullmatch(host):
        raise EntryError("url is plain http to another machine")
    if user or "#" in written:
        raise EntryError("url has user info or a fragment")
    headers = _text_table(table.get("headers", {}), "headers")
    for name, value in headers.items():
        if not _HEADER.fullmatch(name) or any(char in value for char in "\r\n\0"):
            raise EntryError(f"header `{name}` cannot be sent")
    return {"url": written, **({"http_headers": headers} if headers else {})}


def _texts(value: Any, name: str) -> list[str]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if all(isinstance(item, str) for item in items):
            return items
    raise EntryError(f"{name} is no list of strings")


def _text_table(value: Any, name: str) -> dict[str, str]:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        if all(isinstance(item, str) for item in table.values()):
            return table
    raise EntryError(f"{name} is no table of strings")
