"""`codex mcp list` and `codex mcp get`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from core.cli.codex.columns import columns
from core.cli.codex.face import Failed, Run
from core.cli.codex.gate import check_bootstrap
from core.cli.text import json_text, safe_lines
from core.method_table import JACKFIELD_SERVER_ENTRIES
from core.protocol.jackfield_lists import EntriesParams, ServerEntryInfo

_NONE = "No MCP servers configured yet. Try `codex mcp add my-tool -- my-command`."
_MASK = "*****"
_AUTH = {
    "unsupported": ("unsupported", "Unsupported"),
    "unknown": ("unknown", "Unknown"),
    "notLoggedIn": ("not_logged_in", "Not logged in"),
    "bearerToken": ("bearer_token", "Bearer token"),
    "oAuth": ("o_auth", "OAuth"),
}


async def show_all(run: Run) -> int:
    """All servers, with how they are authorised."""
    await check_bootstrap(run)
    params = EntriesParams(auth=True, secrets=True)
    found = (await run.client.call(JACKFIELD_SERVER_ENTRIES, params)).entries
    if run.given.has("json"):
        print(json_text([_listed(one) for one in found]))
    elif not found:
        print(_NONE)
    else:
        print("\n\n".join(_tables(found)))
    return 0


def _listed(info: ServerEntryInfo) -> dict[str, Any]:
    return {
        **_beginning(info),
        "startup_timeout_sec": info.startup_timeout_sec,
        "tool_timeout_sec": info.tool_timeout_sec,
        "auth_status": _AUTH[info.auth or "unsupported"][0],
    }


def _beginning(info: ServerEntryInfo) -> dict[str, Any]:
    return {
        "name": info.name,
        "enabled": info.enabled,
        "disabled_reason": info.disabled_reason,
        "transport": info.transport,
    }


def _tables(found: Sequence[ServerEntryInfo]) -> list[str]:
    programs = [one for one in found if one.transport["type"] == "stdio"]
    endpoints = [one for one in found if one.transport["type"] != "stdio"]
    tables: list[str] = []
    if programs:
        head = ("Name", "Command", "Args", "Env", "Cwd", "Status", "Auth")
        tables.append(columns(head, map(_program, programs), last=True))
    if endpoints:
        head = ("Name", "Url", "Bearer Token Env Var", "Status", "Auth")
        tables.append(columns(head, map(_endpoint, endpoints), last=True))
    return tables


def _program(info: ServerEntryInfo) -> Sequence[str]:
    transport = info.transport
    return (
        info.name,
        transport["command"],
        _arguments(transport),
        _env(transport),
        transport["cwd"] or "-",
        *_standing(info),
    )


def _endpoint(info: ServerEntryInfo) -> Sequence[str]:
    transport = info.transport
    bearer = transport["bearer_token_env_var"]
    return (info.name, transport["url"], "-" if bearer is None else bearer, *_standing(info))


def _standing(info: ServerEntryInfo) -> tuple[str, str]:
    status = "enabled" if info.enabled else "disabled"
    if info.disabled_reason is not None:
        status = f"disabled: {info.disabled_reason}"
    return status, _AUTH[info.auth or "unsupported"][1]


def _arguments(transport: Mapping[str, Any]) -> str:
    arguments = cast("list[str]", transport["args"])
    return " ".join(arguments) if arguments else "-"


def _env(transport: Mapping[str, Any]) -> str:
    names: list[str] = sorted(transport["env"] or (), key=str.encode)
    variables = cast("list[str | dict[str, str]]", transport["env_vars"])
    names += [one if isinstance(one, str) else one["name"] for one in variables]
    return ", ".join(f"{name}={_MASK}" for name in names) if names else "-"


async def show_one(run: Run) -> int:
    """One server."""
    await check_bootstrap(run)
    name = run.given.text("name") or ""
    params = EntriesParams(names=(name,), secrets=True)
    found = (await run.client.call(JACKFIELD_SERVER_ENTRIES, params)).entries
    if not found:
        raise Failed(f"No MCP server named '{name}' found.")
    print(json_text(_told(found[0])) if run.given.has("json") else safe_lines(_page(found[0])))
    return 0


def _told(info: ServerEntryInfo) -> dict[str, Any]:
    return {
        **_beginning(info),
        "enabled_tools": info.enabled_tools,
        "disabled_tools": info.disabled_tools,
        "startup_timeout_sec": info.startup_timeout_sec,
        "tool_timeout_sec": info.tool_timeout_sec,
    }


def _page(info: ServerEntryInfo) -> str:
    if not info.enabled:
        why = f": {info.disabled_reason}" if info.disabled_reason is not None else ""
        return f"{info.name} (disabled{why})"
    lines = [f"enabled: {str(info.enabled).lower()}"]
    for key in ("enabled_tools", "disabled_tools"):
        names = getattr(info, key)
        if names is not None:
            lines.append(f"{key}: {', '.join(names) or '[]'}")
    lines += _transport(info.transport)
    for key in ("startup_timeout_sec", "tool_timeout_sec"):
        if (seconds := getattr(info, key)) is not None:
            lines.append(f"{key}: {_number(seconds)}")
    if (mode := info.default_tools_approval_mode) is not None:
        lines.append(f"default_tools_approval_mode: {mode}")
    lines.append(f"remove: codex mcp remove {info.name}")
    return "\n".join([info.name, *(f"  {line}" for line in lines)])


def _transport(transport: Mapping[str, Any]) -> list[str]:
    if transport["type"] == "stdio":
        return [
            "transport: stdio",
            f"command: {transport['command']}",
            f"args: {_arguments(transport)}",
            f"cwd: {transport['cwd'] or '-'}",
            f"env: {_env(transport)}",
        ]
    bearer = transport["bearer_token_env_var"]
    return [
        "transport: streamable_http",
        f"url: {transport['url']}",
        f"bearer_token_env_var: {'-' if bearer is None else bearer}",
        f"http_headers: {_pairs(transport['http_headers'], masked=True)}",
        f"env_http_headers: {_pairs(transport['env_http_headers'], masked=False)}",
        f"http_headers_helper: {transport['http_headers_helper'] or '-'}",
    ]


def _pairs(values: Mapping[str, str] | None, *, masked: bool) -> str:
    if not values:
        return "-"
    names = sorted(values, key=str.encode)
    return ", ".join(f"{name}={_MASK if masked else values[name]}" for name in names)


def _number(seconds: float) -> str:
    """Without a fraction where there is none."""
    return str(int(seconds)) if seconds == int(seconds) else repr(seconds)
