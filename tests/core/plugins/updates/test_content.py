from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.plugins.updates import content
from core.plugins.updates.content import ContentReader, TooBig, difference
from tests.core.plugins.world import put


def differing(one: Path, other: Path) -> list[str]:
    reader = ContentReader()
    return difference(reader.read(str(one)), reader.read(str(other)))


def pair(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("source", "copy"):
        put(tmp_path / name / "a/b", "1")
        put(tmp_path / name / "c", "1")
    return tmp_path / "source", tmp_path / "copy"


def test_the_same_content_has_the_same_digest_wherever_it_lies(tmp_path: Path):
    source, copy = pair(tmp_path)
    reader = ContentReader()
    assert differing(source, copy) == []
    digests = {reader.read(str(source)).digest, reader.read(str(copy)).digest}
    assert len(digests) == 1
    put(copy / "c", "2")
    assert reader.read(str(copy)).digest not in digests


def test_new_changed_and_missing_files_are_named(tmp_path: Path):
    source, copy = pair(tmp_path)
    put(source / "c", "2")
    put(source / "new", "")
    put(copy / "old", "")
    assert differing(source, copy) == ["c", "new", "old"]


def test_a_file_that_may_be_run_now_is_another_one(tmp_path: Path):
    source, copy = pair(tmp_path)
    (source / "c").chmod(0o755)
    assert differing(source, copy) == ["c"]


@pytest.mark.parametrize(
    "path",
    [
        "__pycache__/a.pyc",
        "x/node_modules/y/z",
        ".venv/bin/python",
        ".git/HEAD",
        ".codex-plugin/migrated-command-skills/source-command-x/SKILL.md",
        ".codex-plugin/plugin.json",
    ],
)
def test_what_an_install_or_a_run_makes_is_no_difference(tmp_path: Path, path: str):
    source, copy = pair(tmp_path)
    put(copy / path, "x")
    assert differing(source, copy) == []


def test_links_do_not_count_for_they_are_not_copied(tmp_path: Path):
    source, copy = pair(tmp_path)
    (source / "link").symlink_to("/etc/passwd")
    (source / "folder").symlink_to("/etc")
    assert differing(source, copy) == []


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    source, _ = pair(tmp_path)
    opened: list[str] = []
    real = os.open

    def counting(path: str, *more: int) -> int:
        opened.append(path)
        return real(path, *more)

    monkeypatch.setattr(content.os, "open", counting)
    reader = ContentReader()
    reader.read(str(source))
    assert len(opened) == 2
    reader.read(str(source))
    assert len(opened) == 2
    put(source / "c", "22")
    reader.read(str(source))
    assert len(opened) == 3


@pytest.mark.parametrize(("name", "limit"), [("FILES", 1), ("BYTES", 1)])
def test_there_is_a_limit_to_what_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
):
    source, _ = pair(tmp_path)
    monkeypatch.setattr(content, name, limit)
    with pytest.raises(TooBig):
        ContentReader().read(str(source))
