from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tui.files import Taken, save, target_of


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("list.json", "/w/list.json"), ("~/list.json", "/home/dev/list.json"), ("/x/y", "/x/y")],
)
def test_names_begin_at_the_workspace_or_the_home(typed: str, meant: str):
    assert target_of(typed, "/w", "/home/dev") == Path(meant)


def test_a_file_is_written_whole_and_for_its_owner_only(tmp_path: Path):
    target = tmp_path / "list.json"
    save(target, "é\n")
    assert target.read_text() == "é\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(tmp_path.glob(".list*"))


def test_what_is_there_already_is_kept_until_it_is_said_to_go(tmp_path: Path):
    target = tmp_path / "list.json"
    target.write_text("mine")
    with pytest.raises(Taken):
        save(target, "new")
    assert target.read_text() == "mine"
    save(target, "new", replace=True)
    assert target.read_text() == "new"
    assert not list(tmp_path.glob(".list*"))


def test_a_folder_is_never_replaced(tmp_path: Path):
    with pytest.raises(IsADirectoryError):
        save(tmp_path, "x", replace=True)


def test_a_name_that_utf_8_cannot_hold_costs_one_character_only(tmp_path: Path):
    target = tmp_path / "list.json"
    save(target, "a\udc80b")
    assert target.read_text() == "a?b"
