from __future__ import annotations

import os
import re
from pathlib import Path

import anyio
import pytest

from core.plugins.install.staging import FORMER, Staging, remove_tree, staged, sweep

PREFIX = "plugin-install-"
DEAD = f"{PREFIX}0123456789ab"


def aged(path: Path, seconds: float = 3600.0) -> Path:
    """As if it had been made a while ago."""
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


def half_done(place: str) -> None:
    Path(place, "half").write_text("half")


@pytest.mark.anyio
async def test_a_staging_directory_is_gone_after_its_block_however_it_ends(folder: Path):
    with pytest.raises(RuntimeError):
        async with staged(str(folder), PREFIX) as place:
            half_done(place)
            raise RuntimeError
    with anyio.CancelScope() as scope:
        async with staged(str(folder), PREFIX) as place:
            half_done(place)
            scope.cancel()
            await anyio.lowlevel.checkpoint()
    assert os.listdir(folder) == []


@pytest.mark.anyio
async def test_short_names_have_six_letters_and_digits_after_the_prefix(folder: Path):
    async with staged(str(folder / "new"), "marketplace-linux-", short=True) as place:
        assert re.fullmatch(r"marketplace-linux-[A-Za-z0-9]{6}", Path(place).name)


def test_what_a_killed_process_of_ours_left_is_swept(folder: Path):
    (folder / DEAD / "p" / "1").mkdir(parents=True)
    aged(folder / DEAD)
    sweep(str(folder), PREFIX)
    assert not (folder / DEAD).exists()


def test_what_a_living_process_works_in_stays(folder: Path):
    staging = Staging(str(folder), PREFIX)
    aged(Path(staging.path))
    sweep(str(folder), PREFIX)
    assert Path(staging.path).is_dir()
    staging.close()
    assert list(folder.iterdir()) == []


def test_what_was_made_just_now_stays(folder: Path):
    (folder / DEAD).mkdir()
    sweep(str(folder), PREFIX)
    assert (folder / DEAD).is_dir()


def test_what_other_programs_stage_stays_until_it_is_old_enough(folder: Path):
    theirs = folder / f"{PREFIX}aB3dE6"
    theirs.mkdir()
    aged(theirs, 1800)
    sweep(str(folder), PREFIX)
    sweep(str(folder), PREFIX, theirs_after=3600)
    assert theirs.is_dir()
    sweep(str(folder), PREFIX, theirs_after=900)
    assert not theirs.exists()


def test_a_copy_that_was_moved_away_by_a_killed_process_comes_back(folder: Path):
    moved = folder / DEAD / FORMER / "p" / "1.0.0"
    moved.mkdir(parents=True)
    (moved / "file").write_text("old")
    aged(folder / DEAD)
    sweep(str(folder), PREFIX)
    assert (folder / "p" / "1.0.0" / "file").read_text() == "old"


def test_a_copy_that_was_moved_away_does_not_replace_the_new_one(folder: Path):
    (folder / DEAD / FORMER / "p" / "1.0.0").mkdir(parents=True)
    (folder / "p" / "2.0.0").mkdir(parents=True)
    aged(folder / DEAD)
    sweep(str(folder), PREFIX)
    assert os.listdir(folder / "p") == ["2.0.0"]


def test_removing_follows_no_link(folder: Path):
    (folder / "kept").mkdir()
    (folder / "kept" / "file").write_text("x")
    (folder / "gone").mkdir()
    (folder / "gone" / "link").symlink_to(folder / "kept")
    remove_tree(str(folder / "gone"))
    (folder / "link").symlink_to(folder / "kept")
    remove_tree(str(folder / "link"))
    assert os.listdir(folder) == ["kept"]
    assert os.listdir(folder / "kept") == ["file"]
