"""The `[mcp_servers.NAME]` record: all of its members, checked as Codex checks them.

Plugins declare servers with the same members; `parse_server` reads those too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from core.config.serde import (
    Fault,
    Struct,
    array,
    boolean,
    duration,
    duration_fault,
    floating,
    nonzero_usize,
    string,
    string_table,
    strings,
    table,
    u16,
    u64,
    variant,
    word,
)

STARTUP_SECONDS = 30.0
TOOL_SECONDS = 300.0
LOCAL = "local"

Transport = Literal["stdio", "http"]
approval = variant("auto", "prompt", "writes", "approve")


class EntryError(ValueError):
    """An entry that Codex refuses.

    Attributes:
        message: Exactly as Codex words it.
        key_path: Below the entry's table; empty when the table as a whole is wrong.
    """

    def __init__(self, message: str, key_path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.key_path = key_path


@dataclass(frozen=True, slots=True)
class EnvVar:
    """A variable that is copied from an environment: Codex' own (`local`) or the remote one."""

    name: str
    source: str = LOCAL


@dataclass(frozen=True, slots=True)
class ToolRule:
    """`[mcp_servers.NAME.tools.TOOL]`."""

    approval_mode: str | None = None
    output_token_limit: int | None = None


@dataclass(frozen=True, slots=True)
class OAuthEntry:
    """`[mcp_servers.NAME.oauth]`."""

    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    callback_url: str | None = None
    callback_port: int | None = None
    token_endpoint_auth_method: str | None = None
    authorization_server_issuer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """One MCP server as configured.

    Attributes:
        command, args, env, env_vars, cwd: Of a stdio server. `env` is None when absent.
        url, bearer_token_env_var, http_headers, env_http_headers, http_headers_helper: Of a
            streamable HTTP server.
        environment_id: Execution environment; `local` unless set.
        startup_timeout, tool_timeout: Seconds, None when not set.
        label: The legacy `name` member, without effect.
        auth: `oauth`, `chatgpt`, `ema_auth`, or None when not set, which means `oauth`.
    """

    name: str
    transport: Transport
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] | None = field(default=None, repr=False)
    env_vars: tuple[EnvVar, ...] = ()
    cwd: str | None = None
    url: str = ""
    bearer_token_env_var: str | None = None
    http_headers: Mapping[str, str] | None = field(default=None, repr=False)
    env_http_headers: Mapping[str, str] | None = None
    http_headers_helper: str | None = field(default=None, repr=False)
    environment_id: str = LOCAL
    enabled: bool = True
    required: bool = False
    startup_timeout: float | None = None
    tool_timeout: float | None = None
    startup_readiness: str | None = None
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] | None = None
    default_tools_approval_mode: str | None = None
    tools: Mapping[str, ToolRule] = field(default_factory=dict[str, ToolRule])
    supports_parallel_tool_calls: bool = False
    omit_tools_from: tuple[str, ...] | None = None
    tool_input_schema_max_bytes: int | None = None
    scopes: tuple[str, ...] | None = None
    oauth: OAuthEntry | None = None
    oauth_resource: str | None = None
    auth: str | None = None
    label: str | None = None

    @property
    def startup_seconds(self) -> float:
        """How long a start may take."""
        return STARTUP_SECONDS if self.startup_timeout is None else self.startup_timeout

    @property
    def tool_seconds(self) -> float:
        """How long each request after the start may take."""
        return TOOL_SECONDS if self.tool_timeout is None else self.tool_timeout

    def allows_tool(self, tool: str) -> bool:
        """Whether `enabled_tools` and `disabled_tools` leave a tool in."""
        if self.enabled_tools is not None and tool not in self.enabled_tools:
            return False
        return not (self.disabled_tools and tool in self.disabled_tools)


def _env_var(value: Any) -> Fault | None:
    if type(value) is str:
        return None
    if type(value) is dict:
        entry = cast("dict[str, Any]", value)
        fits = type(entry.get("name")) is str and type(entry.get("source", "")) is str
        if fits and entry.keys() <= {"name", "source"}:
            return None
    return Fault((), "data did not match any variant of untagged enum McpServerEnvVar")


_OAUTH = Struct(
    "McpServerOAuthConfig",
    {
        "client_id": string,
        "client_secret": string,
        "callback_url": string,
        "callback_port": u16,
        "token_endpoint_auth_method": variant("client_secret_basic", "client_secret_post"),
        "authorization_server_issuer": string,
    },
    from_list="",
)
_TOOL = Struct(
    "McpServerToolConfig",
    {"approval_mode": approval, "output_token_limit": nonzero_usize},
    from_list="",
)
SERVER = Struct(
    "RawMcpServerConfig",
    {
        "command": string,
        "args": strings,
        "env": string_table,
        "env_vars": array(_env_var),
        "cwd": string,
        "url": string,
        "bearer_token": string,
        "bearer_token_env_var": string,
        "http_headers": string_table,
        "env_http_headers": string_table,
        "http_headers_helper": string,
        "environment_id": string,
        "startup_timeout_sec": floating,
        "startup_timeout_ms": u64,
        "startup_readiness": variant("connection", "catalog"),
        "tool_timeout_sec": duration,
        "tool_input_schema_max_bytes": nonzero_usize,
        "enabled": boolean,
        "required": boolean,
        "supports_parallel_tool_calls": boolean,
        "omit_tools_from": array(variant("code_mode", "deferred", "direct")),
        "default_tools_approval_mode": approval,
        "enabled_tools": strings,
        "disabled_tools": strings,
        "scopes": strings,
        "oauth": _OAUTH,
        "oauth_resource": string,
        "auth": variant("oauth", "chatgpt", "ema_auth"),
        "tools": table(_TOOL),
        "name": string,
    },
    from_list="30 elements",
)
"""The record's members; what they must be together is judged by `check_server`."""

# In the order in which the first offending one is told.
_NOT_STDIO = (
    "url",
    "bearer_token_env_var",
    "bearer_token",
    "http_headers_helper",
    "http_headers",
    "env_http_headers",
    "oauth",
    "oauth_resource",
    "auth",
)
_NOT_HTTP = ("args", "env", "env_vars", "cwd", "bearer_token")


def check_server(value: Any) -> Fault | None:
    """What Codex would refuse in an entry, its first fault only."""
    fault = SERVER(value)
    return fault if fault is not None else _together(value)


def _together(entry: Mapping[str, Any]) -> Fault | None:
    startup = entry.get("startup_timeout_sec")
    if startup is not None and (reason := duration_fault(float(startup))):
        return Fault((), reason)
    if "command" in entry:
        return _stdio(entry)
    if "url" in entry:
        return _http(entry)
    return Fault((), "invalid transport")


def _stdio(entry: Mapping[str, Any]) -> Fault | None:
    for key in _NOT_STDIO:
        if key in entry:
            return Fault((), f"{key} is not supported for stdio")
    for variable in entry.get("env_vars", ()):
        source = "" if type(variable) is str else variable.get("source", "")
        if source not in ("", LOCAL, "remote"):
            return Fault(
                (), f"unsupported env_vars source `{source}`; expected `local` or `remote`"
            )
    return None


def _http(entry: Mapping[str, Any]) -> Fault | None:
    for key in _NOT_HTTP:
        if key in entry:
            return Fault((), f"{key} is not supported for streamable_http")
    helper = entry.get("http_headers_helper")
    if helper is not None:
        if not helper.strip():
            return Fault((), "http_headers_helper must not be empty")
        if entry.get("environment_id", LOCAL) != LOCAL:
            return Fault((), "http_headers_helper is only supported for local MCP servers")
    oauth = entry.get("oauth")
    return _oauth(oauth, entry.get("auth")) if oauth else None


def _oauth(oauth: Mapping[str, Any], auth: str | None) -> Fault | None:
    secret = oauth.get("client_secret")
    reason = ""
    if secret is not None and not oauth.get("client_id"):
        reason = "oauth.client_secret requires oauth.client_id"
    elif secret is not None and not secret.strip():
        reason = "oauth.client_secret must not be empty"
    elif "token_endpoint_auth_method" in oauth and auth != "ema_auth":
        reason = 'oauth.token_endpoint_auth_method requires auth = "ema_auth"'
    elif "token_endpoint_auth_method" in oauth and secret is None:
        reason = "oauth.token_endpoint_auth_method requires oauth.client_secret"
    elif "authorization_server_issuer" in oauth and auth != "ema_auth":
        reason = 'oauth.authorization_server_issuer requires auth = "ema_auth"'
    return Fault((), reason) if reason else None


def parse_server(name: str, entry: Mapping[str, Any]) -> ServerEntry:
    """The record of an entry; members that are None count as absent, unknown ones are ignored.

    Raises:
        EntryError: As Codex would refuse it.
    """
    present = {key: value for key, value in entry.items() if value is not None}
    if fault := check_server(present):
        raise EntryError(fault.message, fault.path)
    return build_server(name, present)


def build_server(name: str, entry: Mapping[str, Any]) -> ServerEntry:
    """The record of an entry that `check_server` has found right."""
    plain: dict[str, Any] = {key: entry[key] for key in _PLAIN if key in entry}
    for key in _WORDS:
        if key in entry:
            plain[key] = word(entry[key])
    for key in _TUPLES:
        if key in entry:
            plain[key] = tuple(entry[key])
    startup = entry.get("startup_timeout_sec")
    if startup is None and "startup_timeout_ms" in entry:
        startup = entry["startup_timeout_ms"] / 1000
    tool_timeout = entry.get("tool_timeout_sec")
    return ServerEntry(
        name=name,
        transport="stdio" if "command" in entry else "http",
        startup_timeout=None if startup is None else float(startup),
        tool_timeout=None if tool_timeout is None else float(tool_timeout),
        env_vars=tuple(_read_env_var(variable) for variable in entry.get("env_vars", ())),
        tools={tool: _read_rule(rule) for tool, rule in entry.get("tools", {}).items()},
        oauth=_read_oauth(entry["oauth"]) if "oauth" in entry else None,
        label=entry.get("name"),
        **plain,
    )


_PLAIN = (
    "command",
    "env",
    "cwd",
    "url",
    "bearer_token_env_var",
    "http_headers",
    "env_http_headers",
    "http_headers_helper",
    "environment_id",
    "enabled",
    "required",
    "supports_parallel_tool_calls",
    "tool_input_schema_max_bytes",
    "oauth_resource",
)
_WORDS = ("startup_readiness", "default_tools_approval_mode", "auth")
_TUPLES = ("args", "enabled_tools", "disabled_tools", "omit_tools_from", "scopes")


def _read_env_var(value: Any) -> EnvVar:
    if type(value) is str:
        return EnvVar(value)
    return EnvVar(value["name"], value.get("source", LOCAL))


def _read_rule(value: Any) -> ToolRule:
    rule = cast("dict[str, Any]", value) if type(value) is dict else {}
    mode = rule.get("approval_mode")
    return ToolRule(None if mode is None else word(mode), rule.get("output_token_limit"))


def _read_oauth(value: Any) -> OAuthEntry:
    oauth = cast("dict[str, Any]", value) if type(value) is dict else {}
    known = {key: oauth[key] for key in _OAUTH.fields if key in oauth}
    return OAuthEntry(**known)
