from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.main import main
from tests.core.plugins.world import put_market, put_plugin


@pytest.fixture
def market(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(home)
    put_market(home, "lint", "lint-more", {"name": "x", "source": "./plugins/x"})
    put_plugin(home / "plugins/lint", description="checks\x1b[2J things")
    put_plugin(home / "plugins/lint-more")
    put_plugin(home / "plugins/x", {"skills/lint/SKILL.md": "---\ndescription: d\n---\n"})
    return home


def test_the_best_hit_comes_first(market: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["search", "lint"]) == 0
    said = capsys.readouterr().out
    assert [line.split()[:2] for line in said.splitlines()] == [
        ["PLUGIN", "FOUND"], ["lint@m", "exact"], ["lint-more@m", "prefix"], ["x@m", "text"],
    ]  # fmt: skip
    assert "\x1b" not in said


def test_no_hit_is_no_failure(market: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["search", "no", "such"]) == 0
    assert capsys.readouterr().out == "No plugin for “no such” among 3.\n"


def test_json_and_a_limit(market: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["search", "lint", "--json", "--limit", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    (hit,) = told["hits"]
    assert (told["total"], hit["found"], hit["plugin"]["pluginId"]) == (3, "exact", "lint@m")
    assert hit["marketplaceName"] == "m"
