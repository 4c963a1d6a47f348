from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest

from core.config.watch import Change, FileWatch

pytestmark = pytest.mark.anyio


class Seen:
    """Collects changes; `next` waits for one."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._more = anyio.Event()

    def __call__(self, changes: list[Change]) -> None:
        self.changes.extend(changes)
        self._more.set()

    async def next(self) -> Change:
        with anyio.fail_after(5):
            while not self.changes:
                self._more = anyio.Event()
                await self._more.wait()
        return self.changes.pop(0)


def _broken() -> object:
    raise OSError("inotify watch limit reached")


@asynccontextmanager
async def watching(
    *paths: Path, own: bytes | None = None, poll: float = 60.0
) -> AsyncGenerator[tuple[Seen, FileWatch]]:
    seen = Seen()
    watch = FileWatch(seen, lambda path, content: own is not None and content == own, poll=poll)
    await watch.watch(paths)
    async with anyio.create_task_group() as group:
        group.start_soon(watch.run)
        await anyio.wait_all_tasks_blocked()
        yield seen, watch
        group.cancel_scope.cancel()


# By notification, and by looking alone.
MODES = pytest.mark.parametrize("notified", [True, False])


def mode(
    notified: bool, monkeypatch: pytest.MonkeyPatch, *paths: Path
) -> AbstractAsyncContextManager[tuple[Seen, FileWatch]]:
    if not notified:
        monkeypatch.setattr("core.config.watch._watchfiles", _broken)
    return watching(*paths, poll=1.0 if notified else 0.02)


@MODES
async def test_a_write_in_place_is_seen(
    tmp_path: Path, notified: bool, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "config.toml"
    file.write_text("a = 1\n")
    async with mode(notified, monkeypatch, file) as (seen, _):
        file.write_text("a = 2\n")
        assert await seen.next() == Change(str(file), ours=False, exists=True)


@MODES
async def test_creation_replacement_and_deletion_are_seen(
    tmp_path: Path, notified: bool, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "config.toml"
    async with mode(notified, monkeypatch, file) as (seen, _):
        file.write_text("a = 1\n")
        assert (await seen.next()).exists
        (tmp_path / "new").write_text("a = 2\n")
        os.replace(tmp_path / "new", file)
        assert (await seen.next()).exists
        file.unlink()
        assert not (await seen.next()).exists


@MODES
async def test_a_symlink_is_followed_and_its_turning_is_seen(
    tmp_path: Path, notified: bool, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a/real").write_text("a = 1\n")
    (tmp_path / "b/real").write_text("a = 2\n")
    file = tmp_path / "config.toml"
    file.symlink_to(tmp_path / "a/real")
    async with mode(notified, monkeypatch, file) as (seen, _):
        (tmp_path / "a/real").write_text("a = 3\n")
        await seen.next()
        (tmp_path / "link").symlink_to(tmp_path / "b/real")
        os.replace(tmp_path / "link", file)
        await seen.next()
        assert file.read_text() == "a = 2\n"


async def test_our_own_content_is_told_from_others(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("a = 1\n")
    async with watching(file, own=b"ours\n", poll=0.02) as (seen, _):
        file.write_text("ours\n")
        assert (await seen.next()).ours
        file.write_text("theirs\n")
        assert not (await seen.next()).ours


async def test_the_same_content_is_no_change(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("a = 1\n")
    async with watching(file) as (seen, watch):
        os.utime(file, (1, 1))
        (tmp_path / "same").write_text("a = 1\n")
        os.replace(tmp_path / "same", file)
        await watch.check()
        assert seen.changes == []
        file.write_text("a = 2\n")
        await watch.check()
        assert [change.path for change in seen.changes] == [str(file)]


async def test_files_that_are_no_longer_asked_for_are_silent(tmp_path: Path):
    first, second = tmp_path / "first", tmp_path / "second"
    async with watching(first) as (seen, watch):
        await watch.watch([second])
        first.write_text("x")
        second.write_text("x")
        await watch.check()
        assert [change.path for change in seen.changes] == [str(second)]


async def test_a_folder_that_appears_later_is_seen(tmp_path: Path):
    file = tmp_path / "later" / "config.toml"
    async with watching(file, poll=0.02) as (seen, _):
        file.parent.mkdir()
        file.write_text("a = 1\n")
        assert (await seen.next()).exists


async def test_a_directory_or_a_pipe_in_the_file_s_place_hangs_nothing(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("a = 1\n")
    async with watching(file) as (seen, watch):
        file.unlink()
        os.mkfifo(file)
        with anyio.fail_after(5):
            await watch.check()
        assert seen.changes.pop().exists
        file.unlink()
        file.mkdir()
        with anyio.fail_after(5):
            await watch.check()
        assert seen.changes.pop().exists


async def test_a_name_that_no_file_can_have_is_no_file(tmp_path: Path):
    file = tmp_path / "config.toml"
    async with watching(file) as (seen, watch):
        await watch.watch([file, f"{tmp_path}/a\0b"])
        file.write_text("a = 1\n")
        with anyio.fail_after(5):
            await watch.check()
        assert [change.path for change in seen.changes] == [str(file)]
