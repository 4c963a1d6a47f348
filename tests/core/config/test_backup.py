from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from core.config.backup import KEPT, Backups
from core.config.edit_plan import Edit
from core.errors import InvalidRequest
from tests.core.config.conftest import World


class Ticking:
    """A second per look."""

    def __init__(self) -> None:
        self.time = 1_700_000_000.0

    def __call__(self) -> float:
        self.time += 1
        return self.time


@pytest.mark.anyio
async def test_the_first_write_of_a_run_keeps_a_copy(world: World):
    world.user("a = 1 # original\n")
    for number in range(3):
        await world.editor.write([Edit("a", number + 2)])
    (backup,) = world.editor.backups.list()
    assert backup.file == str(world.file)
    assert backup.taken_at == world.deps.clock.now()
    content = world.deps.state_dir / "backups" / backup.id / "content"
    assert content.read_text() == "a = 1 # original\n"
    assert stat.S_IMODE(content.stat().st_mode) == 0o600
    assert stat.S_IMODE(content.parent.stat().st_mode) == 0o700


def test_a_restored_file_is_as_it_was_and_what_it_replaced_is_kept(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_bytes(b"old\xff")
    backups = Backups(tmp_path / "state", Ticking())
    kept = backups.before_write(str(file), b"old\xff")
    assert kept is not None
    file.write_bytes(b"new")
    file.chmod(0o640)
    replaced = backups.restore(kept.id)
    assert file.read_bytes() == b"old\xff"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    backups.restore(replaced.id)
    assert file.read_bytes() == b"new"


def test_restoring_no_file_removes_it(tmp_path: Path):
    file = tmp_path / "config.toml"
    backups = Backups(tmp_path / "state", Ticking())
    kept = backups.before_write(str(file), None)
    assert kept is not None and kept.size is None
    file.write_text("new")
    backups.restore(kept.id)
    assert not file.exists()


def test_only_the_newest_copies_stay(tmp_path: Path):
    backups = Backups(tmp_path / "state", Ticking())
    for number in range(KEPT + 3):
        backups.before_write(f"/file{number}", b"x")
    files = [backup.file for backup in backups.list()]
    assert files == [f"/file{number}" for number in range(KEPT + 2, 2, -1)]
    assert len(os.listdir(tmp_path / "state" / "backups")) == KEPT


def test_a_damaged_copy_is_not_restored(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("now")
    backups = Backups(tmp_path / "state", Ticking())
    kept = backups.before_write(str(file), b"old")
    assert kept is not None
    (tmp_path / "state" / "backups" / kept.id / "content").write_text("tampered")
    with pytest.raises(InvalidRequest, match="damaged"):
        backups.restore(kept.id)
    assert file.read_text() == "now"


def test_what_is_no_copy_is_passed_over(tmp_path: Path):
    folder = tmp_path / "state" / "backups"
    (folder / "20300101T000000-junk").mkdir(parents=True)
    (folder / "file").write_text("x")
    (folder / "20300101T000001-bad").mkdir()
    (folder / "20300101T000001-bad" / "manifest.json").write_text('{"file": 1')
    backups = Backups(tmp_path / "state", Ticking())
    assert backups.list() == []
    with pytest.raises(InvalidRequest, match="no backup"):
        backups.restore("../../etc")
