from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.cli.main import main
from core.config.backup import Backups


@pytest.fixture
def backups(home: Path) -> Backups:
    return Backups(home / ".local" / "state" / "jackfield")


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out


def test_there_may_be_nothing_to_restore(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["restore"]) == 0
    assert said(capsys) == "Nothing to restore: Jackfield has changed no file yet.\n"


def test_copies_are_listed_with_what_they_are(
    home: Path, backups: Backups, capsys: pytest.CaptureFixture[str]
):
    file = home / ".codex" / "config.toml"
    kept = backups.before_write(str(file), b"x" * 1234)
    absent = backups.before_write("/tmp/new\x1b[2J.toml", None)
    assert kept is not None
    assert absent is not None
    assert main(["restore", "--list"]) == 0
    head, newest, oldest = said(capsys).splitlines()
    assert head.split() == ["ID", "TAKEN", "SIZE", "FILE"]
    assert re.fullmatch(
        rf"{re.escape(absent.id)}  \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d  no file  /tmp/new\\x1b\[2J.toml",
        newest,
    )
    assert oldest.startswith(kept.id)
    assert oldest.endswith(f"1,234 B  {file}")
    assert "\x1b" not in newest


def test_a_file_is_put_back_and_what_was_there_can_be_had_again(
    home: Path, backups: Backups, capsys: pytest.CaptureFixture[str]
):
    file = home / ".codex" / "config.toml"
    file.write_text("changed")
    kept = backups.before_write(str(file), b"as it was")
    assert kept is not None
    assert main(["restore", kept.id]) == 0
    first, second = said(capsys).splitlines()
    assert first.startswith(f"Restored {file} as it was on ")
    assert file.read_text() == "as it was"
    assert main(second.split()[-2:]) == 0
    assert file.read_text() == "changed"


def test_an_unknown_copy_is_refused(home: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["restore", "nope"]) == 1
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Error: no backup `nope`\n")
