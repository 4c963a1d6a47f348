"""`jackfield mcp` where it answers as `codex mcp` does (texts of Codex 0.171.0)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.core.cli.conftest import Said

Say = Callable[..., Said]


def test_nothing_is_configured_at_first(say: Say):
    none = "No MCP servers configured yet. Try `codex mcp add my-tool -- my-command`.\n"
    assert say("mcp", "list") == (0, none, "")
    assert say("mcp", "list", "--json") == (0, "[]\n", "")


def test_what_is_added_is_listed_shown_and_removed(say: Say, config: Path):
    config.write_text('# mine\nmodel = "o3"  # stays\n')
    assert say("mcp", "add", "fs", "--env", "B=2", "--env", "A=1=2", "--", "npx", "-y", "x") == (
        0,
        "Added global MCP server 'fs'.\n",
        "",
    )
    assert config.read_text() == (
        '# mine\nmodel = "o3"  # stays\n\n[mcp_servers.fs]\ncommand = "npx"\nargs = ["-y", "x"]\n\n'
        '[mcp_servers.fs.env]\nA = "1=2"\nB = "2"\n'
    )
    assert (
        say("mcp", "add", "h", "--url", "http://127.0.0.1:9/", "--bearer-token-env-var", "T")[0]
        == 0
    )
    assert say("mcp", "list")[1] == (
        "Name  Command  Args  Env               Cwd  Status   Auth       \n"
        "fs    npx      -y x  A=*****, B=*****  -    enabled  Unsupported\n"
        "\n"
        "Name  Url                  Bearer Token Env Var  Status   Auth        \n"
        "h     http://127.0.0.1:9/  T                     enabled  Bearer token\n"
    )
    assert say("mcp", "get", "fs")[1] == (
        "fs\n  enabled: true\n  transport: stdio\n  command: npx\n  args: -y x\n  cwd: -\n"
        "  env: A=*****, B=*****\n  remove: codex mcp remove fs\n"
    )
    told = json.loads(say("mcp", "get", "fs", "--json")[1])
    assert told["transport"]["env"] == {"A": "1=2", "B": "2"}
    assert say("mcp", "remove", "fs") == (0, "Removed global MCP server 'fs'.\n", "")
    assert say("mcp", "remove", "fs") == (0, "No MCP server named 'fs' found.\n", "")
    assert config.read_text().startswith('# mine\nmodel = "o3"  # stays\n\n[mcp_servers.h]\n')


def test_adding_again_replaces_the_whole_table_in_its_place(say: Say, config: Path):
    config.write_text(
        '[mcp_servers.a]\ncommand = "old"\nenabled = false\n[mcp_servers.a.env]\nK = "v"\n\n'
        '[mcp_servers.b]\ncommand = "b"\n'
    )
    assert say("mcp", "add", "a", "--", "new")[0] == 0
    assert config.read_text() == (
        '[mcp_servers.a]\ncommand = "new"\n\n[mcp_servers.b]\ncommand = "b"\n'
    )


def test_every_member_is_shown_as_the_real_one_shows_it(say: Say, config: Path):
    config.write_text(
        '[mcp_servers.a]\ncommand = "x"\nenabled_tools = ["a", "b"]\ndisabled_tools = []\n'
        'startup_timeout_sec = 3\ntool_timeout_sec = 2.5\ndefault_tools_approval_mode = "auto"\n'
        'env_vars = ["Z", { name = "Y", source = "local" }]\ncwd = "rel"\n'
        '[mcp_servers.h]\nurl = "http://127.0.0.1:9/"\nhttp_headers = { B = "s3cret", A = "t" }\n'
        'env_http_headers = { X = "VAR" }\nhttp_headers_helper = "helper"\nenabled = false\n'
    )
    assert say("mcp", "get", "a")[1] == (
        "a\n  enabled: true\n  enabled_tools: a, b\n  disabled_tools: []\n  transport: stdio\n"
        "  command: x\n  args: -\n  cwd: rel\n  env: Z=*****, Y=*****\n  startup_timeout_sec: 3\n"
        "  tool_timeout_sec: 2.5\n  default_tools_approval_mode: auto\n"
        "  remove: codex mcp remove a\n"
    )
    assert say("mcp", "get", "h")[1] == "h (disabled)\n"
    assert say("mcp", "get", "h", "-c", "mcp_servers.h.enabled=true")[1] == (
        "h\n  enabled: true\n  transport: streamable_http\n  url: http://127.0.0.1:9/\n"
        "  bearer_token_env_var: -\n  http_headers: A=*****, B=*****\n"
        "  env_http_headers: X=VAR\n  http_headers_helper: <redacted>\n"
        "  remove: codex mcp remove h\n"
    )
    listed = json.loads(say("mcp", "list", "--json")[1])
    assert listed[0]["startup_timeout_sec"] == 3.0
    assert listed[0]["transport"]["env_vars"] == ["Z", {"name": "Y", "source": "local"}]
    assert listed[1] == {
        "name": "h",
        "enabled": False,
        "disabled_reason": None,
        "transport": {
            "type": "streamable_http",
            "url": "http://127.0.0.1:9/",
            "bearer_token_env_var": None,
            "http_headers": {"B": "s3cret", "A": "t"},
            "env_http_headers": {"X": "VAR"},
            "http_headers_helper": "<redacted>",
        },
        "startup_timeout_sec": None,
        "tool_timeout_sec": None,
        "auth_status": "unsupported",
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["get", "zz"], "No MCP server named 'zz' found."),
        (["login", "zz"], "No MCP server named 'zz' found."),
        (["logout", "zz"], "No MCP server named 'zz' found in configuration."),
        (["login", "s"], "OAuth login is only supported for streamable HTTP servers."),
        (["logout", "s"], "OAuth logout is only supported for streamable_http transports."),
        (["add", "x", "--url", "http://h/", "--env", "A=1"], "command is required"),
        (["list", "-c", "foo"], "Invalid override (missing '='): foo"),
        (["list", "--enable", "nope"], "Unknown feature flag: nope"),
        (
            ["add", "a b", "--", "c"],
            "invalid server name 'a b' (use letters, numbers, '-', '_', ':', '@', '/', '.')",
        ),
        (
            ["remove", ""],
            "invalid server name '' (use letters, numbers, '-', '_', ':', '@', '/', '.')",
        ),
    ],
)
def test_failures_are_one_line_and_change_nothing(
    say: Say, config: Path, words: list[str], told: str
):
    config.write_text('[mcp_servers.s]\ncommand = "x"\n')
    assert say("mcp", *words) == (1, "", f"Error: {told}\n")
    assert config.read_text() == '[mcp_servers.s]\ncommand = "x"\n'


def test_options_for_urls_make_no_sense_with_a_command(say: Say, config: Path):
    code, out, err = say("mcp", "add", "x", "--bearer-token-env-var", "T", "--", "c")
    assert (code, out) == (2, "")
    assert err.startswith("error: the following required argument was not provided: url\n")
    assert config.read_text() == ""


def test_a_configuration_that_codex_refuses_is_refused_with_its_causes(say: Say, config: Path):
    config.write_text("[mcp_servers.a]\ncommand = 1\n")
    assert say("mcp", "list") == (
        1,
        "",
        "Error: failed to load bootstrap configuration\n\nCaused by:\n"
        "    invalid type: integer `1`, expected a string\n    in `mcp_servers.a.command`\n    \n",
    )
    code, _, err = say("mcp", "remove", "a")
    assert code == 1
    assert err.startswith(f"Error: failed to load MCP servers from {config.parent}\n")
    config.write_text("[mcp_servers.a\n")
    assert say("plugin", "list")[2] == (
        "Error: failed to load configuration\n\nCaused by:\n"
        f"    0: {config}:1:15: unclosed table, expected `]`\n"
        "    1: TOML parse error at line 1, column 15\n"
        "         |\n       1 | [mcp_servers.a\n         |               ^\n"
        "       unclosed table, expected `]`\n       \n"
    )


def test_a_server_is_removed_whatever_else_is_wrong_in_the_file(say: Say, config: Path):
    config.write_text('model = 3\n\n[mcp_servers.a]\ncommand = "x"\n')
    assert say("mcp", "list")[0] == 1
    assert say("mcp", "remove", "a") == (0, "Removed global MCP server 'a'.\n", "")
    assert config.read_text() == "model = 3\n"


def test_names_from_files_cannot_drive_the_terminal(say: Say, config: Path):
    config.write_text('[mcp_servers."a\\u001b[2J"]\ncommand = "c\\u009b31m"\n')
    code, out, _ = say("mcp", "list")
    assert code == 0
    assert "\x1b" not in out
    assert "\x9b" not in out
    assert "a\\x1b[2J  c\\x9b31m" in out
    raw = say("mcp", "list", "--json")[1]
    assert raw.isprintable() or all(char.isprintable() or char == "\n" for char in raw)
    assert json.loads(raw)[0]["transport"]["command"] == "c\x9b31m"


def test_a_home_that_is_not_there_is_told(say: Say, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CODEX_HOME", "/no/such/home")
    assert say("mcp", "list") == (
        1,
        "",
        "Error: failed to resolve CODEX_HOME\n\nCaused by:\n"
        '    CODEX_HOME points to "/no/such/home", but that path does not exist\n',
    )


def test_help_names_our_own_verbs_too(say: Say):
    code, out, _ = say("mcp", "--help")
    assert code == 0
    assert out.startswith("Manage external MCP servers for Codex\n\nUsage: codex mcp [OPTIONS]")
    assert "\n  reconnect  connect to servers and say how it went\n" in out
