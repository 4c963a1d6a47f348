"""A server's table as lines of a form, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.views.server_draft import Draft, quoted

PROGRAM: dict[str, Any] = {
    "command": "npx",
    "args": ["-y", "a b", "it's", ""],
    "cwd": "src",
    "env": {"REGION": "eu west"},
    "env_vars": ["TOKEN", {"name": "OTHER", "source": "local"}],
    "startup_timeout_sec": 2.5,
    "tool_timeout_sec": 60,
    "disabled_tools": ["x"],
}
ADDRESS: dict[str, Any] = {
    "url": "https://h/mcp",
    "bearer_token_env_var": "T",
    "env_http_headers": {"X-Key": "KEY"},
    "oauth": {"client_id": "c"},
}


@pytest.mark.parametrize("table", [PROGRAM, ADDRESS, {}])
def test_what_nobody_has_touched_comes_back_as_it_was(table: dict[str, Any]) -> None:
    assert Draft.of("n", table).table() == (table, {})


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4),
    st.dictionaries(st.from_regex("[A-Z]{1,5}", fullmatch=True), st.text(max_size=8), max_size=3),
)
def test_every_command_and_environment_can_be_written_and_read(
    args: list[str], env: dict[str, str]
) -> None:
    draft = Draft.of("n", {"command": "c", "args": args, "env": env})
    draft.plain = {}  # so that lines are read, not passed over
    table, faults = draft.table()
    assert faults == {}
    assert table["command"] == "c" and table.get("args", []) == args and table.get("env", {}) == env


def test_what_the_form_does_not_show_is_kept_where_it_belongs() -> None:
    draft = Draft.of("n", ADDRESS)
    assert draft.hidden == ["oauth"]
    draft.kind = "program"
    draft.lines["command"] = "sh -c 'exit 1'"
    assert draft.table() == ({"command": "sh", "args": ["-c", "exit 1"]}, {})
    assert draft.hidden == []


@pytest.mark.parametrize(
    ("key", "line", "fault"),
    [
        ("command", "sh 'open", "a quote is not closed"),
        ("env", "REGION", "REGION is no NAME=value; REGION=eu"),
        ("env", "=x", "=x is no NAME=value; REGION=eu"),
        ("env_vars", "A=b", "names only; a value belongs into the line below"),
        ("startup_timeout_sec", "soon", "a number of seconds is needed"),
        ("startup_timeout_sec", "-1", "a number of seconds is needed"),
        ("tool_timeout_sec", "nan", "a number of seconds is needed"),
    ],
)
def test_a_line_that_cannot_be_read_says_why(key: str, line: str, fault: str) -> None:
    draft = Draft.of("n", {"command": "c"})
    draft.lines[key] = line
    assert draft.table()[1] == {key: fault}


def test_an_argument_is_quoted_only_where_its_end_would_be_unclear() -> None:
    assert [quoted(part) for part in ("a", "-y", "数据", "a b", "")] == [
        "a",
        "-y",
        "数据",
        "'a b'",
        "''",
    ]
