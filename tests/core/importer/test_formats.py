"""Each format: where it lies, what its members become."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.importer.places import places
from tests.core.importer.world import SECRET, Desk

CURSOR, VSCODE, GEMINI = ".cursor/mcp.json", ".vscode/mcp.json", "~/.gemini/settings.json"
STATE = "~/.claude.json"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ── where they lie ──


@pytest.mark.parametrize(
    ("platform", "environ", "desktop", "editor"),
    [
        ("linux", {}, "/h/.config/Claude/", "/h/.config/Code/User/"),
        ("linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Claude/", "/x/Code/User/"),
        (
            "darwin", {}, "/h/Library/Application Support/Claude/",
            "/h/Library/Application Support/Code/User/",
        ),
        ("win32", {"APPDATA": "/h/R"}, "/h/R/Claude/", "/h/R/Code/User/"),
        ("win32", {}, "/h/AppData/Roaming/Claude/", "/h/AppData/Roaming/Code/User/"),
    ],
)  # fmt: skip
def test_desktop_programs_keep_theirs_where_the_platform_has_it(
    platform: str, environ: dict[str, str], desktop: str, editor: str, tmp_path: Path
):
    from core.importer.places import Around

    found = {one.id: one.path for one in places(Around("/h", "/p", platform, environ))}
    assert found["claude-desktop:user"] == f"{desktop}claude_desktop_config.json"
    assert found["vscode:user"] == f"{editor}mcp.json"
    assert found["vscode:user-settings"] == f"{editor}settings.json"
    assert found["vscode:project"] == "/p/.vscode/mcp.json"
    assert found["cursor:user"] == "/h/.cursor/mcp.json"
    assert found["gemini:project"] == "/p/.gemini/settings.json"


def test_claude_code_may_have_another_folder(tmp_path: Path):
    desk = Desk(tmp_path, CLAUDE_CONFIG_DIR="/elsewhere")
    found = {one.id: one.path for one in places(desk.around)}
    assert found["claude-code:user"] == "/elsewhere/.claude.json"
    assert found["claude-code:settings"] == "/elsewhere/settings.json"


# ── Claude Code ──


def test_claude_code_servers_of_the_person_and_of_the_project(desk: Desk):
    desk.put(
        STATE,
        {
            "mcpServers": {"mine": {"command": "a", "args": ["-x"], "env": {"LANG": "C"}}},
            "projects": {
                str(desk.project): {"mcpServers": {"here": {"type": "http", "url": "https://h/m"}}},
                "/elsewhere": {"mcpServers": {"other": {"command": "b"}}},
            },
        },
    )
    rows = desk.rows()
    assert rows.keys() == {"mine", "here"}
    assert rows["mine"].toml == (
        '[mcp_servers.mine]\ncommand = "a"\nargs = ["-x"]\n\n[mcp_servers.mine.env]\nLANG = "C"'
    )
    assert rows["mine"].origin.line == 3
    assert rows["mine"].origin.key == "mcpServers.mine"
    assert rows["here"].toml == '[mcp_servers.here]\nurl = "https://h/m"'


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_project_file_with_and_without_its_wrapper(desk: Desk, wrapped: bool):
    servers = {"s": {"command": "x"}}
    desk.put(".mcp.json", {"mcpServers": servers} if wrapped else servers)
    (row,) = desk.rows().values()
    assert (row.name, row.proposed) == ("s", False)
    assert any("this project only" in note for note in row.notes)


def test_servers_that_were_declined_are_written_turned_off(desk: Desk):
    desk.put(".mcp.json", {"mcpServers": {"s": {"command": "x"}, "t": {"command": "x"}}})
    desk.put("~/.claude/settings.json", {"disabledMcpjsonServers": ["t"]})
    rows = desk.rows()
    assert "enabled = false" in rows["t"].toml
    assert "enabled" not in rows["s"].toml


def test_an_oauth_client_and_a_headers_helper_come_along(desk: Desk):
    oauth = {"clientId": "c", "callbackPort": 3118}
    server = {"type": "http", "url": "https://h/m", "oauth": oauth, "headersHelper": "./h.sh"}
    table = desk.table(STATE, "mcpServers", server)
    assert table["oauth"] == {"client_id": "c", "callback_port": 3118}
    assert table["http_headers_helper"] == "./h.sh"


# ── marketplaces and plugins ──


@pytest.mark.parametrize(
    ("source", "table"),
    [
        ({"source": "github", "repo": "o/r"}, {"source": "https://github.com/o/r.git"}),
        (
            {"source": "git", "url": "https://g/r.git", "ref": "v1"},
            {"source": "https://g/r.git", "ref": "v1"},
        ),
        ({"source": "directory", "path": "/m"}, {"source_type": "local", "source": "/m"}),
        (
            {"source": "file", "path": "/m/.claude-plugin/marketplace.json"},
            {"source_type": "local", "source": "/m"},
        ),
    ],
)
def test_marketplaces_of_claude_code(desk: Desk, source: dict[str, Any], table: dict[str, str]):
    desk.put("~/.claude/plugins/known_marketplaces.json", {"m": {"source": source}})
    (plan,) = desk.scan().plans
    assert plan.table == {"source_type": "git", **table}
    assert plan.path == ("marketplaces", "m")
    assert plan.row.proposed


@pytest.mark.parametrize(
    ("name", "source", "why"),
    [
        ("m", {"source": "url", "url": "https://x/m.json"}, "no marketplaces of the kind `url`"),
        ("m", {"source": "github"}, "has no repo"),
        ("m", {"source": "git", "url": "https://x", "ref": "--help"}, "begins with `-`"),
        ("a b", {"source": "github", "repo": "o/r"}, "letters, digits"),
        ("m", 7, "no source"),
    ],
)
def test_marketplaces_that_codex_cannot_have(desk: Desk, name: str, source: Any, why: str):
    desk.put("~/.claude/plugins/known_marketplaces.json", {name: {"source": source}})
    (row,) = desk.rows().values()
    assert row.state == "blocked"
    assert why in row.reason


def test_plugins_that_are_on_and_those_that_are_off(desk: Desk):
    desk.put(
        "~/.claude/settings.json",
        {
            "enabledPlugins": {"p@m": True, "q@m": False, "r@gone": True},
            "extraKnownMarketplaces": {"m": {"source": {"source": "github", "repo": "o/r"}}},
        },
    )
    rows = desk.rows()
    assert rows.keys() == {"m", "p@m", "r@gone"}
    assert rows["p@m"].toml == '[plugins."p@m"]\nenabled = true'
    assert not any("does not know" in note for note in rows["p@m"].notes)
    assert any("does not know its marketplace `gone`" in note for note in rows["r@gone"].notes)


# ── Claude Desktop, Cursor ──


def test_claude_desktop_fills_in_nothing(desk: Desk):
    path = "~/.config/Claude/claude_desktop_config.json"
    table = desk.table(path, "mcpServers", {"command": "x", "args": ["${HOME}/y"]})
    assert table["args"] == ["${HOME}/y"]


def test_cursor_fills_in_folders_and_names_variables(desk: Desk):
    server = {
        "command": "${workspaceFolder}/bin/x",
        "args": ["--home", "${userHome}"],
        "env": {"TOKEN": "${env:TOKEN}"},
    }
    table = desk.table(CURSOR, "mcpServers", server)
    assert table == {
        "command": f"{desk.project}/bin/x",
        "args": ["--home", str(desk.home)],
        "env_vars": ["TOKEN"],
    }


def test_cursor_sign_in_without_its_secret(desk: Desk):
    auth = {"CLIENT_ID": "c", "CLIENT_SECRET": SECRET, "scopes": ["a"]}
    row = desk.row(CURSOR, "mcpServers", {"url": "https://h/m", "auth": auth})
    assert SECRET not in repr(row)
    assert 'client_id = "c"' in row.toml and 'scopes = ["a"]' in row.toml
    assert any("client secret is not copied" in note for note in row.notes)


# ── VS Code ──


def test_vscode_with_comments_and_what_is_asked_for(desk: Desk):
    desk.put(
        VSCODE,
        """{
  // asked for once
  "inputs": [{"type": "promptString", "id": "gh-token", "description": "A token", "password": true},],
  "servers": {
    /* two of them */
    "github": {"type": "http", "url": "https://h/m", "headers": {"Authorization": "Bearer ${input:gh-token}"}},
    "local": {"command": "x", "env": {"KEY": "${input:gh-token}"}, "envFile": "${workspaceFolder}/.env",},
  },
}""",
    )
    rows = desk.rows()
    assert rows["github"].toml == (
        '[mcp_servers.github]\nurl = "https://h/m"\nbearer_token_env_var = "GITHUB_TOKEN"'
    )
    assert rows["github"].wants == ("GITHUB_TOKEN",)
    assert rows["github"].origin.line == 6
    assert any("(A token) becomes the variable GITHUB_TOKEN" in n for n in rows["github"].notes)
    assert 'env_vars = ["KEY"]' in rows["local"].toml
    assert any("envFile" in note for note in rows["local"].notes)


def test_vscode_settings_of_older_versions(desk: Desk):
    desk.put(
        "~/.config/Code/User/settings.json",
        {"editor.tabSize": 2, "mcp": {"servers": {"s": {"command": "x"}}}},
    )
    assert desk.rows()["s"].toml == '[mcp_servers.s]\ncommand = "x"'


def test_an_input_in_a_place_that_codex_does_not_fill_in_is_not_proposed(desk: Desk):
    row = desk.row("~/.config/Code/User/mcp.json", "servers",
                   {"command": "x", "args": ["${input:t}"]})  # fmt: skip
    assert not row.proposed
    assert any("${input:t} in args" in note for note in row.notes)


# ── Gemini CLI ──


def test_gemini_tools_time_limits_and_variables(desk: Desk):
    server = {
        "httpUrl": "https://h/m",
        "headers": {"Authorization": "Bearer $API", "X-Team": "${TEAM}", "X-Plain": "1"},
        "timeout": 30000,
        "includeTools": ["a"],
        "excludeTools": ["b"],
        "trust": True,
    }
    table = desk.table(GEMINI, "mcpServers", server)
    assert table == {
        "url": "https://h/m",
        "bearer_token_env_var": "API",
        "http_headers": {"X-Plain": "1"},
        "env_http_headers": {"X-Team": "TEAM"},
        "enabled_tools": ["a"],
        "disabled_tools": ["b"],
        "tool_timeout_sec": 30.0,
    }


def test_gemini_servers_that_are_excluded_or_not_allowed_are_off(desk: Desk):
    servers = {name: {"command": "x"} for name in "abc"}
    desk.put(GEMINI, {"mcp": {"excluded": ["a"], "allowed": ["a", "b"]}, "mcpServers": servers})
    rows = desk.rows()
    assert [name for name in "abc" if "enabled = false" in rows[name].toml] == ["a", "c"]


def test_a_url_of_gemini_is_sse_unless_it_says_otherwise(desk: Desk):
    desk.put(
        GEMINI,
        {
            "mcpServers": {
                "old": {"url": "https://h/s"},
                "new": {"url": "https://h", "type": "http"},
            }
        },
    )
    rows = desk.rows()
    assert any("SSE" in note for note in rows["old"].notes) and not rows["old"].proposed
    assert rows["new"].proposed


# ── broken ones ──


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        ('{"servers": {\n"a": }}', "no JSON", 2),
        ("[]", "no object", 0),
        ("", "no JSON", 1),
        ('{"x":' * 50_000, "nested too deeply", 0),
    ],
)
def test_a_broken_file_is_told_and_hides_no_other(
    desk: Desk, content: str, message: str, line: int
):
    desk.put(VSCODE, content)
    desk.put(CURSOR, {"mcpServers": {"s": {"command": "x"}}})
    found = desk.scan()
    broken = next(source for source in found.sources if source.state == "broken")
    assert (message in broken.message, broken.line) == (True, line)
    assert [plan.row.name for plan in found.plans] == ["s"]


def test_a_byte_order_mark_and_utf_16_are_read(desk: Desk):
    path = desk.put(CURSOR, "")
    text = '{"mcpServers": {"s": {"command": "x"}}}'
    for data in (b"\xef\xbb\xbf" + text.encode(), text.encode("utf-16")):
        path.write_bytes(data)
        assert desk.rows().keys() == {"s"}


def test_pipes_folders_and_bytes_that_are_no_text(desk: Desk):
    import os

    (desk.project / ".cursor").mkdir()
    os.mkfifo(desk.project / ".cursor/mcp.json")
    (desk.project / ".vscode/mcp.json").mkdir(parents=True)
    desk.put("~/.gemini/settings.json", "").write_bytes(b"\xff\x00\xfe")
    states = {source.id: source.state for source in desk.scan().sources}
    assert states == {
        "cursor:project": "broken", "vscode:project": "broken", "gemini:user": "broken",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (7, "no object"),
        ({}, "neither `command` nor `url`"),
        ({"command": 1}, "`command`"),
        ({"command": "x", "args": "y"}, "`args`"),
        ({"command": "x", "env": {"A": {}}}, "`env`"),
        ({"type": "ws", "url": "wss://x"}, "transport `ws`"),
        ({"url": "file:///x"}, "neither http nor https"),
    ],
)
def test_one_broken_server_hides_no_other(desk: Desk, server: Any, why: str):
    desk.put(CURSOR, {"mcpServers": {"bad": server, "good": {"command": "x"}}})
    rows = desk.rows()
    assert rows["bad"].state == "blocked" and why in rows["bad"].reason
    assert rows["good"].state == "new"
