from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.cli.main import main
from tests.core.plugins.world import CODEX_PLACE, put, put_market, put_plugin

SKILL = {"skills/a/SKILL.md": "---\ndescription: d\n---\n"}


def sound(root: Path) -> Path:
    put_market(root, "p")
    put_plugin(root / "plugins/p", SKILL)
    return root


def test_a_sound_folder_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["validate", str(sound(tmp_path))]) == 0
    said = capsys.readouterr().out
    assert said == "Marketplace m: Codex lists 1 of 1 entry; 0 errors, 0 warnings, 0 info.\n"


def test_an_error_ends_with_1_and_is_told_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    put_market(sound(tmp_path), "p", {"name": "q", "source": "plugins/q"})
    assert main(["validate", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert said.startswith(f"{CODEX_PLACE}\n")
    assert "1:91  error    `q`: local path `plugins/q` does not begin with `./`" in said
    assert "at     plugins[1].source" in said
    assert "Codex  leaves the entry out, says nothing" in said


def test_warnings_count_only_where_that_is_asked_for(tmp_path: Path):
    put_plugin(tmp_path, {**SKILL, "SKILL.md": "x"})
    assert main(["validate", str(tmp_path)]) == 0
    assert main(["validate", str(tmp_path), "--strict"]) == 1


def test_no_such_path_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["validate", str(tmp_path / "gone")]) == 2
    assert main(["validate"]) == 2
    assert "no such file or folder" in capsys.readouterr().err


def test_json_has_every_finding_and_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    put(tmp_path / CODEX_PLACE, '{"name": "m",\n"plugins": 1}')
    assert main(["validate", str(tmp_path), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"error": 1, "warning": 0, "info": 0}
    (finding,) = told["findings"]
    assert (finding["rule"], finding["line"]) == ("marketplace-type", 2)
    assert finding["codex"] == "refuses the whole file"


def test_names_of_strangers_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    put_market(sound(tmp_path), {"name": "\x1b[2Jx", "source": "./plugins/p"})
    main(["validate", str(tmp_path)])
    assert "\x1b" not in capsys.readouterr().out
