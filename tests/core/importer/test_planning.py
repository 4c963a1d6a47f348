"""Names, secrets, and what differs from what is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.importer.jsonc import without_comments
from tests.core.importer.world import SECRET, Desk

CURSOR = "~/.cursor/mcp.json"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# ── names ──


def test_what_is_there_already_is_the_same(desk: Desk):
    desk.put(CURSOR, {"mcpServers": {"s": {"command": "x"}}})
    row = desk.rows({"mcp_servers": {"s": {"command": "x"}}})["s"]
    assert (row.state, row.proposed) == ("same", False)


def test_a_taken_name_is_a_clash_with_what_differs_and_a_free_name(desk: Desk):
    desk.put(CURSOR, {"mcpServers": {"s": {"command": "x", "args": ["2"]}}})
    row = desk.rows({"mcp_servers": {"s": {"command": "x", "args": ["1"]}, "s-cursor": {}}})["s"]
    assert row.state == "clash"
    assert row.diff == (" [mcp_servers.s]", ' command = "x"', '-args = ["1"]', '+args = ["2"]')
    assert row.free_name == "s-cursor"


def test_two_agents_with_the_same_server_and_with_another_of_its_name(desk: Desk):
    desk.put(CURSOR, {"mcpServers": {"a": {"command": "x"}, "b": {"command": "x"}}})
    desk.put(
        "~/.gemini/settings.json", {"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}
    )
    rows = {plan.row.id: plan.row for plan in desk.scan().plans}
    assert rows["gemini:user/server/a"].state == "same"
    assert rows["gemini:user/server/a"].reason == "the same as in Cursor"
    assert rows["gemini:user/server/b"].state == "clash"
    assert rows["gemini:user/server/b"].free_name == "b-gemini"


def test_a_name_that_codex_starts_nothing_under_is_not_proposed(desk: Desk):
    row = desk.row(CURSOR, "mcpServers", {"command": "x"}, name="my server")
    assert not row.proposed
    assert row.table == 'mcp_servers."my server"'
    assert any("under another one" in note for note in row.notes)


def test_the_persons_own_files_have_the_first_claim(desk: Desk):
    desk.put(".mcp.json", {"mcpServers": {"s": {"command": "theirs"}}})
    desk.put("~/.gemini/settings.json", {"mcpServers": {"s": {"command": "mine"}}})
    states = {plan.row.source: plan.row.state for plan in desk.scan().plans}
    assert states == {"gemini:user": "new", "claude-code:project": "clash"}


# ── secrets ──

STDIO: dict[str, Any] = {"command": "x", "env": {"API_KEY": SECRET, "LANG": "C"}}
HTTP: dict[str, Any] = {"url": "https://h/m", "headers": {"X-Api-Key": SECRET, "Accept": "a"}}
BEARER: dict[str, Any] = {"url": "https://h/m", "headers": {"Authorization": f"Bearer {SECRET}"}}
ARGS: dict[str, Any] = {"command": "x", "args": ["--token", SECRET]}
URL: dict[str, Any] = {"url": f"https://h/m?api_key={SECRET}"}


@pytest.mark.parametrize("server", [STDIO, HTTP, BEARER, ARGS, URL])
def test_a_literal_secret_is_named_and_never_told(desk: Desk, server: dict[str, Any]):
    desk.put(CURSOR, {"mcpServers": {"s": server}})
    found = desk.scan()
    (plan,) = found.plans
    assert plan.row.secrets
    assert SECRET not in repr(found)
    assert SECRET not in str(dict(plan.table))
    assert SECRET in str(dict(plan.copied))


def test_secrets_become_variables(desk: Desk):
    assert desk.table(CURSOR, "mcpServers", STDIO) == {
        "command": "x", "env_vars": ["API_KEY"], "env": {"LANG": "C"},
    }  # fmt: skip
    assert desk.table(CURSOR, "mcpServers", HTTP) == {
        "url": "https://h/m",
        "http_headers": {"Accept": "a"},
        "env_http_headers": {"X-Api-Key": "S_X_API_KEY"},
    }
    assert desk.table(CURSOR, "mcpServers", BEARER) == {
        "url": "https://h/m", "bearer_token_env_var": "S_TOKEN",
    }  # fmt: skip


def test_secrets_of_what_is_there_are_not_told_either(desk: Desk):
    desk.put(CURSOR, {"mcpServers": {"s": {"command": "x"}}})
    present = {"mcp_servers": {"s": {"command": "y", "env": {"TOKEN": SECRET}}}}
    row = desk.rows(present)["s"]
    assert "TOKEN" in row.present and SECRET not in repr(row)


def test_what_no_variable_can_stand_for_is_marked_and_not_proposed(desk: Desk):
    desk.put(CURSOR, {"mcpServers": {"s": ARGS}})
    (plan,) = desk.scan().plans
    assert plan.bare and not plan.row.proposed


@pytest.mark.parametrize(
    ("value", "variables", "note"),
    [
        ("${env:API_KEY}", ["API_KEY"], ""),
        ("${env:OTHER}", ["API_KEY"], "takes ${env:OTHER}: set API_KEY itself"),
        ("a-${env:B}", ["API_KEY"], "is put together from ${env:B}"),
    ],
)
def test_references_in_env_stay_references(desk: Desk, value: str, variables: list[str], note: str):
    row = desk.row(CURSOR, "mcpServers", {"command": "x", "env": {"API_KEY": value}})
    assert f"env_vars = {variables}".replace("'", '"') in row.toml
    assert row.secrets == () and row.wants == ("API_KEY",)
    assert any(note in said for said in (*row.notes, ""))


def test_a_default_stands_where_codex_fills_in_nothing(desk: Desk):
    desk.put("~/.claude.json", {"mcpServers": {"s": {"command": "x", "args": ["${PORT:-80}"]}}})
    row = desk.rows()["s"]
    assert 'args = ["80"]' in row.toml and row.proposed


# ── the digest ──


def test_the_digest_changes_with_everything_that_is_written(desk: Desk):
    digests = {
        desk.row(CURSOR, "mcpServers", server).digest
        for server in (
            {"command": "x"},
            {"command": "y"},
            STDIO,
            {**STDIO, "env": {"API_KEY": "o"}},
        )
    }
    assert len(digests) == 4


# ── JSON with comments ──


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": 1, // x\n"b": 2}', '{"a": 1,     \n"b": 2}'),
        ('{"a": "//no", /* x\ny */ "b": [1,2,],}', None),
        ('{"a": "\\"//", }', '{"a": "\\"//"  }'),
        ("/* never ends", " " * 13),
    ],
)
def test_comments_become_blanks_and_places_stay(text: str, plain: str | None):
    made = without_comments(text)
    assert len(made) == len(text)
    assert made.count("\n") == text.count("\n")
    assert plain is None or made == plain
    assert '"//no"' in made or "//no" not in text
