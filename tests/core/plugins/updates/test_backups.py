from __future__ import annotations

import stat
from pathlib import Path

import anyio
import pytest

from core.errors import InternalError
from core.plugins.updates import backups as module
from core.plugins.updates.backups import Backup, Backups
from core.plugins.updates.ledger import CopyNote
from tests.core.plugins.world import put

pytestmark = pytest.mark.anyio
HOME = Path("/home/x/.codex")


class Shelf:
    """Backups, and copies to put there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.time = 1000.0
        self.backups = Backups(root / "state", HOME, self.now)

    def now(self) -> float:
        return self.time

    def copy(self, version: str, content: str = "x") -> str:
        put(self.root / "cache" / version / "f", content)
        return str(self.root / "cache" / version)

    def text(self, kept: Backup) -> str:
        return (self.root / kept.root / "f").read_text()

    def left(self) -> list[str]:
        found = (self.root / "state").rglob("*")
        return sorted(path.name for path in found if path.name.startswith("."))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


async def test_a_former_version_is_kept_with_what_was_known_of_it(shelf: Shelf):
    note = CopyNote(version="1.0.0", commit="a" * 40)
    kept = await shelf.backups.keep("p@m", shelf.copy("1.0.0"), note)
    (found,) = shelf.backups.all("p@m")
    assert (found.version, found.at, found.note) == ("1.0.0", 1000.0, note)
    assert found == kept
    assert shelf.text(found) == "x"
    assert shelf.left() == []
    assert shelf.backups.newest() == {"p@m": kept}
    assert stat.S_IMODE(Path(found.place).parent.stat().st_mode) == 0o700


async def test_the_newest_comes_first_and_only_three_stay(shelf: Shelf):
    for number in range(5):
        shelf.time += 1
        await shelf.backups.keep("p@m", shelf.copy(f"{number}.0.0"))
    assert [one.version for one in shelf.backups.all("p@m")] == ["4.0.0", "3.0.0", "2.0.0"]


async def test_two_in_the_same_moment_are_both_kept(shelf: Shelf):
    for version in ("1", "1"):
        await shelf.backups.keep("p@m", shelf.copy(version))
    assert [one.version for one in shelf.backups.all("p@m")] == ["1", "1"]


async def test_plugins_and_homes_do_not_see_each_other(shelf: Shelf):
    await shelf.backups.keep("p@m", shelf.copy("1"))
    other = Backups(shelf.root / "state", Path("/other"), shelf.now)
    assert (shelf.backups.all("p@n"), shelf.backups.all("q@m"), other.newest()) == ([], [], {})


async def test_one_that_is_given_up_leaves_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch):
    copy = shelf.copy("1")
    real, begun = module.copy_tree, anyio.Event()

    def endless(source: str, target: str, **more: object) -> None:
        real(source, target)
        anyio.from_thread.run_sync(begun.set)
        while True:
            anyio.from_thread.check_cancelled()

    monkeypatch.setattr(module, "copy_tree", endless)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(shelf.backups.keep, "p@m", copy)
        with anyio.fail_after(5):
            await begun.wait()
        tasks.cancel_scope.cancel()
    assert (shelf.backups.all("p@m"), shelf.left()) == ([], [])


async def test_what_cannot_be_kept_is_told(shelf: Shelf):
    put(shelf.root / "state/plugin-backups", "in the way")
    with pytest.raises(InternalError, match="the former version of p@m cannot be kept"):
        await shelf.backups.keep("p@m", shelf.copy("1"))


async def test_what_others_put_there_is_no_backup(shelf: Shelf):
    await shelf.backups.keep("p@m", shelf.copy("1"))
    (kept,) = shelf.backups.all("p@m")
    folder = Path(kept.place).parent
    put(folder / "x/copy/f", "")
    put(folder / "123-2/f", "")
    put(folder / "124-../copy/f", "")
    put(Path(kept.place) / "note.json", "{")
    (found,) = shelf.backups.all("p@m")
    assert (found.version, found.at, found.note) == ("1", 1000.0, None)


def test_an_id_that_is_none_leads_nowhere(shelf: Shelf):
    assert shelf.backups.all("../../x@m") == []
