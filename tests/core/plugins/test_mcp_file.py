"""MCP servers that plugins declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.plugins.mcp_file import PluginServers, plugin_servers
from tests.core.plugins.world import manifest_at, put, put_plugin

AGENT = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
AGENT_MCP = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json"


def servers_of(root: Path, content: Any = None, **manifest: Any) -> PluginServers:
    put_plugin(root, **manifest)
    if content is not None:
        put(root / ".mcp.json", content)
    return plugin_servers(manifest_at(root))


@pytest.mark.parametrize("wrapped", [True, False])
def test_servers_are_read_sorted_wrapped_or_not(tmp_path: Path, wrapped: bool):
    table = {"b": {"url": "https://b.test"}, "a": {"command": "a", "args": ["x"]}}
    servers = servers_of(tmp_path / "p", {"mcpServers": table} if wrapped else table)
    assert list(servers.entries) == ["a", "b"]
    assert servers.entries["a"] == {"command": "a", "args": ["x"]}
    assert servers.path == f"{tmp_path}/p/.mcp.json"


def test_one_bad_server_is_dropped_with_its_reason_and_takes_no_other_down(tmp_path: Path):
    table = {"good": {"command": "a"}, "both": {"command": "a", "url": "https://x"}, "no": 7}
    servers = servers_of(tmp_path / "p", {"mcpServers": table})
    assert list(servers.entries) == ["good"]
    assert [gone.name for gone in servers.dropped] == ["both", "no"]
    assert all(gone.reason for gone in servers.dropped)


def test_members_that_other_agents_have_are_passed_over(tmp_path: Path):
    table: Any = {"a": {"type": "stdio", "command": "a", "alwaysAllow": [], "env": None}}
    servers = servers_of(tmp_path / "p", {"mcpServers": table})
    assert servers.entries["a"] == {"command": "a"}


def test_oauth_members_are_taken_in_both_spellings(tmp_path: Path):
    table = {"a": {"url": "https://a.test", "oauth": {"clientId": "c", "callback_port": 7}}}
    servers = servers_of(tmp_path / "p", {"mcpServers": table})
    assert servers.entries["a"]["oauth"] == {"client_id": "c", "callback_port": 7}


def test_servers_may_stand_in_the_manifest_or_another_file(tmp_path: Path):
    inline = servers_of(tmp_path / "p", mcpServers={"a": {"command": "a"}})
    assert (list(inline.entries), Path(inline.path).name) == (["a"], "plugin.json")
    put(tmp_path / "q/other.json", {"mcpServers": {"b": {"command": "b"}}})
    other = servers_of(tmp_path / "q", {"c": {"command": "c"}}, mcpServers="./other.json")
    assert list(other.entries) == ["b"]


def test_a_plugin_without_servers_has_no_fault(tmp_path: Path):
    servers = servers_of(tmp_path / "p")
    assert (servers.path, servers.entries, servers.fault) == ("", {}, "")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{\n,}", "key must be a string at line 2 column 1"),
        (b'{"a": "\xff"}', "it is not UTF-8"),
        ("[]", "it holds no object of servers"),
        ('{"mcpServers": {}, "mcpServers": {}}', "`mcpServers` stands twice"),
    ],
)
def test_a_file_that_counts_for_nothing_says_why(tmp_path: Path, content: Any, fault: str):
    servers = servers_of(tmp_path / "p", content)
    assert (servers.fault, servers.entries) == (fault, {})


# --- the Agent Plugins format ---


def agent_servers(root: Path, table: Any, **others: Any) -> PluginServers:
    put(root / "plugin.json", {"$schema": AGENT, "name": "p"})
    put(root / "mcp.json", {"$schema": AGENT_MCP, "mcpServers": table, **others})
    return plugin_servers(manifest_at(root), "/data")


def test_variables_of_an_agent_plugin_are_filled_in(tmp_path: Path):
    root = tmp_path / "p"
    entry = {
        "type": "stdio",
        "command": "./bin/serve",
        "args": ["${PLUGIN_ROOT}/a", "${PLUGIN_DATA}"],
        "env": {"KEY": "${PLUGIN_DATA}/k"},
        "cwd": "${PLUGIN_DATA}/work",
    }
    assert agent_servers(root, {"a": entry}).entries["a"] == {
        "command": f"{root}/bin/serve",
        "args": [f"{root}/a", "/data"],
        "env": {"KEY": "/data/k", "PLUGIN_ROOT": str(root), "PLUGIN_DATA": "/data"},
        "cwd": "/data/work",
    }


def test_an_agent_server_over_http_keeps_its_headers(tmp_path: Path):
    entry = {"type": "streamable-http", "url": "https://a.test/mcp", "headers": {"X-A": "b"}}
    entries = agent_servers(tmp_path / "p", {"a": entry}).entries
    assert entries["a"] == {"url": "https://a.test/mcp", "http_headers": {"X-A": "b"}}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"type": "sse", "url": "https://a"}, "neither stdio nor streamable-http"),
        ({"type": "stdio", "command": "/bin/sh"}, "command is neither"),
        ({"type": "stdio", "command": "./../x"}, "command is neither"),
        ({"type": "stdio", "command": "a", "url": "x"}, "`url` is not known"),
        ({"type": "stdio", "command": "a", "env": {"PLUGIN_ROOT": "x"}}, "must not set"),
        ({"type": "stdio", "command": "a", "cwd": "/tmp"}, "cwd does not stay"),
        ({"type": "stdio", "command": "a", "args": [1]}, "args is no list"),
        ({"type": "streamable-http", "url": "http://a.test"}, "plain http"),
        ({"type": "streamable-http", "url": "https://u:p@a.test"}, "user info"),
        ({"type": "streamable-http", "url": "mcp"}, "no absolute"),
        (
            {"type": "streamable-http", "url": "https://a", "headers": {"A B": "c"}},
            "cannot be sent",
        ),
    ],
)
def test_an_agent_server_that_breaks_its_schema_is_dropped(
    tmp_path: Path, entry: dict[str, Any], reason: str
):
    servers = agent_servers(tmp_path / "p", {"a": entry, "b": {"type": "stdio", "command": "b"}})
    assert list(servers.entries) == ["b"]
    (gone,) = servers.dropped
    assert reason in gone.reason


def test_an_agent_file_takes_two_members_and_no_others(tmp_path: Path):
    servers = agent_servers(tmp_path / "p", {}, other=1)
    assert servers.fault == "it needs `$schema` and `mcpServers` and takes nothing else"
