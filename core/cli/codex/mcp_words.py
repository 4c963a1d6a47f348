"""The words of `codex mcp`."""

from __future__ import annotations

from core.cli.codex.common_words import CONFIG, DISABLE, ENABLE, json_option
from core.cli.codex.words import Command, Group, Operand, Option

_COMMON = (CONFIG, ENABLE, DISABLE)
_REGISTRATION = ("auto", "cimd", "dcr")


def _env_fault(text: str) -> str:
    key, equals, _ = text.partition("=")
    return "" if equals and key.strip() else "environment entries must be in KEY=VALUE form"


def _registration(about: str) -> Option:
    return Option(
        key="registration",
        long="oauth-client-registration",
        value="AUTO|CIMD|DCR",
        choices=_REGISTRATION,
        about=about,
    )


def _named(name: str, about: str, *options: Option) -> Command:
    return Command(
        path=f"codex mcp {name}",
        options=options or _COMMON,
        operands=(Operand(key="name", value="NAME", about=about),),
    )


LIST = Command(
    path="codex mcp list",
    options=(CONFIG, json_option("Output the configured servers as JSON"), ENABLE, DISABLE),
)
GET = _named(
    "get",
    "Name of the MCP server to display",
    CONFIG,
    json_option("Output the server configuration as JSON"),
    ENABLE,
    DISABLE,
)
ADD = Command(
    path="codex mcp add",
    usage="codex mcp add [OPTIONS] <NAME> (--url <URL> | -- <COMMAND>...)",
    group=Group(option="url", operand="command", shown="<COMMAND|--url <URL>>"),
    operands=(
        Operand(key="name", value="NAME", about="Name for the MCP server configuration"),
        Operand(
            key="command",
            value="COMMAND",
            about="Command to launch the MCP server. Use --url for a streamable HTTP server",
            required=False,
            rest=True,
        ),
    ),
    options=(
        CONFIG,
        Option(
            key="env",
            long="env",
            value="KEY=VALUE",
            many=True,
            fault=_env_fault,
            about="Environment variables to set when launching the server. "
            "Only valid with stdio servers",
        ),
        ENABLE,
        Option(key="url", long="url", value="URL", about="URL for a streamable HTTP MCP server"),
        Option(
            key="bearer",
            long="bearer-token-env-var",
            value="ENV_VAR",
            about="Optional environment variable to read for a bearer token. "
            "Only valid with streamable HTTP servers",
        ),
        DISABLE,
        Option(
            key="client_id",
            long="oauth-client-id",
            value="CLIENT_ID",
            about="Optional OAuth client identifier to use for this MCP server",
        ),
        Option(
            key="client_secret",
            long="oauth-client-secret",
            value="CLIENT_SECRET",
            needs=("url", "client_id"),
            about="Optional OAuth client secret for the pre-registered client",
        ),
        _registration("OAuth client-registration strategy for the immediate login only"),
        Option(
            key="resource",
            long="oauth-resource",
            value="RESOURCE",
            about="Optional OAuth resource parameter to include during MCP login",
        ),
    ),
)
URL_ONLY = ("bearer", "client_id", "registration", "resource")
"""Options of `add` that make no sense with a command."""
REMOVE = _named("remove", "Name of the MCP server configuration to remove")
LOGIN = _named(
    "login",
    "Name of the MCP server to authenticate with oauth",
    CONFIG,
    Option(
        key="no_browser",
        long="no-browser",
        about="Print the authorization URL and accept the callback URL without opening a browser",
    ),
    ENABLE,
    Option(
        key="scopes",
        long="scopes",
        value="SCOPE,SCOPE",
        many=True,
        split=",",
        about="Comma-separated list of OAuth scopes to request",
    ),
    DISABLE,
    _registration("OAuth client-registration strategy for this login only"),
)
LOGOUT = _named("logout", "Name of the MCP server to deauthenticate")
MCP = Command(
    path="codex mcp",
    about="Manage external MCP servers for Codex",
    options=_COMMON,
    commands=(LIST, GET, ADD, REMOVE, LOGIN, LOGOUT),
)
