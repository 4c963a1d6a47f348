from __future__ import annotations

import math
from typing import Any

import pytest

from core.config.server_entry import (
    EntryError,
    EnvVar,
    OAuthEntry,
    ServerEntry,
    ToolRule,
    parse_server,
)


def refused(**entry: Any) -> str:
    with pytest.raises(EntryError) as caught:
        parse_server("a", entry)
    return caught.value.message


def test_a_stdio_server_has_all_its_members():
    entry = parse_server(
        "a",
        {
            "command": "npx",
            "args": ["-y"],
            "env": {"A": "1"},
            "env_vars": ["B", {"name": "C"}, {"name": "D", "source": "remote"}],
            "cwd": "/w",
            "environment_id": "e",
            "enabled": False,
            "required": True,
            "startup_timeout_sec": 3,
            "startup_timeout_ms": 9,
            "startup_readiness": "catalog",
            "tool_timeout_sec": 1.5,
            "tool_input_schema_max_bytes": 10,
            "enabled_tools": ["t"],
            "disabled_tools": ["u"],
            "default_tools_approval_mode": "writes",
            "supports_parallel_tool_calls": True,
            "omit_tools_from": ["direct"],
            "tools": {"t": {"approval_mode": "auto", "output_token_limit": 5}},
            "scopes": ["s"],
            "name": "label",
            "whatever": 1,
        },
    )
    assert entry == ServerEntry(
        name="a",
        transport="stdio",
        command="npx",
        args=("-y",),
        env={"A": "1"},
        env_vars=(EnvVar("B"), EnvVar("C"), EnvVar("D", "remote")),
        cwd="/w",
        environment_id="e",
        enabled=False,
        required=True,
        startup_timeout=3.0,
        startup_readiness="catalog",
        tool_timeout=1.5,
        tool_input_schema_max_bytes=10,
        enabled_tools=("t",),
        disabled_tools=("u",),
        default_tools_approval_mode="writes",
        supports_parallel_tool_calls=True,
        omit_tools_from=("direct",),
        tools={"t": ToolRule("auto", 5)},
        scopes=("s",),
        label="label",
    )


def test_an_http_server_has_all_its_members():
    entry = parse_server(
        "a",
        {
            "url": "https://x/mcp",
            "bearer_token_env_var": "T",
            "http_headers": {"A": "1"},
            "env_http_headers": {"B": "V"},
            "http_headers_helper": "helper",
            "oauth_resource": "r",
            "auth": "ema_auth",
            "oauth": {
                "client_id": "i",
                "client_secret": "s",
                "callback_url": "http://c",
                "callback_port": 1,
                "token_endpoint_auth_method": "client_secret_post",
                "authorization_server_issuer": "https://as",
            },
        },
    )
    assert entry.transport == "http"
    assert entry.oauth == OAuthEntry("i", "s", "http://c", 1, "client_secret_post", "https://as")
    assert (entry.auth, entry.oauth_resource, entry.http_headers_helper) == (
        "ema_auth",
        "r",
        "helper",
    )


def test_milliseconds_count_where_there_are_no_seconds():
    assert parse_server("a", {"command": "c", "startup_timeout_ms": 1500}).startup_timeout == 1.5


def test_limits_have_codex_defaults():
    entry = parse_server("a", {"command": "c"})
    assert (entry.startup_seconds, entry.tool_seconds) == (30.0, 300.0)


def test_secrets_are_not_in_the_representation():
    entry = parse_server(
        "a",
        {
            "url": "u",
            "http_headers": {"K": "sesame"},
            "oauth": {"client_id": "i", "client_secret": "sesame"},
            "http_headers_helper": "echo sesame",
        },
    )
    assert "sesame" not in repr(entry)
    assert "sesame" not in repr(parse_server("a", {"command": "c", "env": {"K": "sesame"}}))


def test_a_missing_value_in_json_counts_as_absent():
    assert parse_server("a", {"command": "c", "env": None, "url": None}).env is None


@pytest.mark.parametrize(
    ("allowed", "denied", "expected"),
    [(None, None, True), (["t"], None, True), (["u"], None, False), (["t"], ["t"], False)],
)
def test_tool_lists_allow_and_then_deny(
    allowed: list[str] | None, denied: list[str] | None, expected: bool
):
    entry = parse_server("a", {"command": "c", "enabled_tools": allowed, "disabled_tools": denied})
    assert entry.allows_tool("t") is expected


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "invalid transport"),
        ({"args": ["x"]}, "invalid transport"),
        ({"command": "c", "url": "u"}, "url is not supported for stdio"),
        ({"command": "c", "auth": "oauth"}, "auth is not supported for stdio"),
        ({"url": "u", "args": []}, "args is not supported for streamable_http"),
        ({"url": "u", "cwd": "/"}, "cwd is not supported for streamable_http"),
        ({"command": "c", "bearer_token": "t"}, "bearer_token is not supported for stdio"),
        ({"url": "u", "bearer_token": "t"}, "bearer_token is not supported for streamable_http"),
        (
            {"command": "c", "startup_timeout_sec": -1},
            "cannot convert float seconds to Duration: value is negative",
        ),
        (
            {"command": "c", "startup_timeout_sec": math.nan},
            "cannot convert float seconds to Duration: value is either too big or NaN",
        ),
        (
            {"command": "c", "tool_timeout_sec": math.inf},
            "cannot convert float seconds to Duration: value is either too big or NaN",
        ),
        (
            {"command": "c", "env_vars": [{"name": "B", "source": "moon"}]},
            "unsupported env_vars source `moon`; expected `local` or `remote`",
        ),
        (
            {"command": "c", "env_vars": [1]},
            "data did not match any variant of untagged enum McpServerEnvVar",
        ),
        (
            {"command": "c", "env_vars": [{"name": "B", "sourc": "local"}]},
            "data did not match any variant of untagged enum McpServerEnvVar",
        ),
        (
            {"url": "u", "auth": "bogus"},
            "unknown variant `bogus`, expected one of `oauth`, `chatgpt`, `ema_auth`",
        ),
        ({"url": 1}, "invalid type: integer `1`, expected a string"),
        ({"url": 1e-7}, "invalid type: floating point `0.0000001`, expected a string"),
        ({"url": True}, "invalid type: boolean `true`, expected a string"),
        ({"command": "c", "enabled": 1}, "invalid type: integer `1`, expected a boolean"),
        ({"command": "c", "enabled": 'a"b'}, 'invalid type: string "a\\"b", expected a boolean'),
        (
            {"command": "c", "startup_timeout_ms": -1},
            "invalid value: integer `-1`, expected u64",
        ),
        (
            {"command": "c", "tool_input_schema_max_bytes": 0},
            "invalid value: integer `0`, expected a nonzero usize",
        ),
        (
            {"command": "c", "startup_readiness": "x"},
            "unknown variant `x`, expected `connection` or `catalog`",
        ),
        ({"url": "u", "http_headers_helper": " "}, "http_headers_helper must not be empty"),
        (
            {"url": "u", "http_headers_helper": "h", "environment_id": "r"},
            "http_headers_helper is only supported for local MCP servers",
        ),
        (
            {"url": "u", "oauth": {"client_secret": "s"}},
            "oauth.client_secret requires oauth.client_id",
        ),
        (
            {"url": "u", "oauth": {"client_secret": "", "client_id": "i"}},
            "oauth.client_secret must not be empty",
        ),
        (
            {"url": "u", "oauth": {"authorization_server_issuer": "i"}},
            'oauth.authorization_server_issuer requires auth = "ema_auth"',
        ),
        (
            {"url": "u", "oauth": {"token_endpoint_auth_method": "client_secret_post"}},
            'oauth.token_endpoint_auth_method requires auth = "ema_auth"',
        ),
        (
            {"url": "u", "oauth": {"callback_port": 70000}},
            "invalid value: integer `70000`, expected u16",
        ),
        (
            {"url": "u", "oauth": 1},
            "invalid type: integer `1`, expected struct McpServerOAuthConfig",
        ),
    ],
)
def test_a_bad_entry_is_refused_in_codex_words(entry: dict[str, Any], message: str):
    assert refused(**entry) == message


def test_the_first_offending_field_is_told():
    everything = dict.fromkeys(
        ("auth", "oauth_resource", "http_headers_helper", "bearer_token", "bearer_token_env_var"),
        "oauth",
    )
    assert refused(command="c", **everything) == ("bearer_token_env_var is not supported for stdio")


def test_the_path_of_the_fault_is_told():
    with pytest.raises(EntryError) as caught:
        parse_server("a", {"command": "c", "args": ["x", 1]})
    assert caught.value.key_path == ("args", 1)
