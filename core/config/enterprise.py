"""Enterprise MCP servers (`auth = "ema_auth"`) are a matter of the person and the administrator.

A repository may narrow one (switch it off, approve less), never say where it is or who signs in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

_IDENTITY = (
    "command",
    "args",
    "env",
    "env_vars",
    "cwd",
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "environment_id",
    "auth",
    "scopes",
    "oauth",
    "oauth_resource",
)


@dataclass(frozen=True, slots=True)
class Overreach:
    """A server whose layers do what they may not, in the real one's words."""

    server: str
    message: str


def overreaches(
    merged: Mapping[str, Any], own: Sequence[Mapping[str, Any]], projects: bool
) -> Iterator[Overreach]:
    """Servers that no layer of ours defines as a whole.

    Args:
        merged: All layers together.
        own: The layers that are not a project's, lowest first.
        projects: A project layer counts; otherwise only a split over our layers is possible.
    """
    tables = [_servers(layer) for layer in own]
    for name, entry in _servers(merged).items():
        definitions = [table[name] for table in tables if name in table]
        if not _enterprise(entry) and not any(_enterprise(known) for known in definitions):
            continue
        if not any(_identity(known) == _identity(entry) for known in definitions):
            yield Overreach(
                name,
                f"enterprise MCP server `{name}` must define its transport, authorization, "
                "scopes, and resource in one non-project config layer",
            )
        elif projects and _enabled(entry) and not _enabled(_last(definitions)):
            yield Overreach(
                name,
                f"project configuration cannot re-enable enterprise MCP server `{name}`",
            )


def _servers(tree: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    servers = tree.get("mcp_servers")
    if type(servers) is not dict:
        return {}
    entries = cast("dict[str, Any]", servers).items()
    return {name: entry for name, entry in entries if type(entry) is dict}


def _enterprise(entry: Mapping[str, Any]) -> bool:
    return entry.get("auth") == "ema_auth"


def _identity(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entry[key] for key in _IDENTITY if key in entry}


def _enabled(entry: Mapping[str, Any]) -> bool:
    return entry.get("enabled", True) is not False


def _last(definitions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    together: dict[str, Any] = {}
    for definition in definitions:
        together.update(definition)
    return together
