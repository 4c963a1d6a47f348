from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.cli.main import main
from tests.core.importer.world import SECRET, put


@pytest.fixture
def config(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work").mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / "work")
    servers: dict[str, Any] = {
        "good": {"command": "x"},
        "there": {"command": "y"},
        "keyed": {"command": "x", "env": {"API_KEY": SECRET}},
        "\x1b[2J": {"command": "x"},
    }
    put(home / ".cursor/mcp.json", {"mcpServers": servers})
    return put(home / ".codex/config.toml", '[mcp_servers.there]\ncommand = "z"\n')


def test_without_a_yes_it_shows_the_difference_and_writes_nothing(
    config: Path, capsys: pytest.CaptureFixture[str]
):
    before = config.read_text()
    for words in ([], ["cursor"], ["--dry-run"], ["--yes", "good", "--dry-run"]):
        assert main(["import", *words]) == 0
    said = capsys.readouterr().out
    assert config.read_text() == before
    assert "*+ good  x  new" in said
    assert '      -command = "z"\n      +command = "y"' in said
    assert "--rename there=there-cursor" in said
    assert "holds a literal secret in env API_KEY; it is not copied" in said
    assert SECRET not in said and "\x1b" not in said


def test_yes_writes_what_is_named_under_the_name_that_is_wanted(
    config: Path, capsys: pytest.CaptureFixture[str]
):
    assert main(["import", "--yes", "there", "keyed", "--rename", "there=there2"]) == 0
    written = config.read_text()
    assert '[mcp_servers.there2]\ncommand = "y"' in written
    assert 'env_vars = ["API_KEY"]' in written and SECRET not in written
    assert "good" not in written
    assert "2 written to config.toml." in capsys.readouterr().out


def test_yes_without_names_writes_what_was_ticked(config: Path):
    assert main(["import", "cursor", "--yes"]) == 0
    assert "mcp_servers.good" in config.read_text()
    assert 'command = "z"' in config.read_text()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--yes", "nobody"], "nothing called nobody was found"),
        (["--yes", "there"], "there is in the configuration already"),
        (["--yes", "good", "--replace", "there"], "there is not among those that --yes names"),
        (["--yes", "good", "--rename", "good"], "--rename takes NAME=NEW"),
    ],
)
def test_what_cannot_be_done_ends_with_1_and_writes_nothing(
    config: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str
):
    before = config.read_text()
    assert main(["import", *words]) == 1
    assert why in capsys.readouterr().err
    assert config.read_text() == before


def test_json_of_both(config: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--json"]) == 0
    told = capsys.readouterr().out
    assert SECRET not in told
    rows = {row["name"]: row for row in json.loads(told)["rows"]}
    assert rows["there"]["state"] == "clash"
    assert main(["import", "--json", "--yes", rows["good"]["id"]]) == 0
    assert json.loads(capsys.readouterr().out)["outcomes"][0]["state"] == "written"


def test_an_unknown_agent_is_wrong_usage(config: Path):
    assert main(["import", "emacs"]) == 2


def test_nothing_found(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["import", "--cwd", str(tmp_path)]) == 0
    assert "No servers or plugins of other agents were found." in capsys.readouterr().out
