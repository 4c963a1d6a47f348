from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from core.appserver.streams import lines, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for fd in ends:
        try:
            os.close(fd)
        except OSError:
            pass


async def all_lines(fd: int, limit: int = 1 << 20) -> list[bytes]:
    return [line async for line in lines(fd, limit)]


async def fed(pipe: tuple[int, int], data: bytes, limit: int = 1 << 20) -> list[bytes]:
    async def feed() -> None:
        await write(pipe[1], data)
        os.close(pipe[1])

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed)
            return await all_lines(pipe[0], limit)
    raise AssertionError


async def test_lines_come_whole_however_they_arrive(pipe: tuple[int, int]):
    assert await fed(pipe, b"a\n\nb b\r\nlast") == [b"a", b"", b"b b\r", b"last"]


async def test_a_line_longer_than_the_limit_is_thrown_away_and_the_next_is_not(
    pipe: tuple[int, int],
):
    data = (
        b"before\n" + b"x" * 500_000 + b"\n" + b"y" * 101 + b"\n" + b"z" * 100 + b"\n" + b"w" * 101
    )
    assert await fed(pipe, data, limit=100) == [b"before", b"z" * 100]


async def test_much_goes_through_in_order_and_others_get_their_turn(pipe: tuple[int, int]):
    data = b"\n".join(b"%d %s" % (n, b"x" * 10_000) for n in range(300))
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await anyio.lowlevel.checkpoint()
            turns += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(others)
        got = await fed(pipe, data)
        tasks.cancel_scope.cancel()
    assert b"\n".join(got) == data
    assert turns > 100


async def test_files_are_read_and_written_like_pipes(tmp_path: Path):
    path = tmp_path / "file"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    await write(fd, b"one\ntwo\n")
    os.close(fd)
    fd = os.open(path, os.O_RDONLY)
    try:
        assert await all_lines(fd) == [b"one", b"two"]
    finally:
        os.close(fd)


async def test_an_end_without_a_reader_is_told(pipe: tuple[int, int]):
    os.close(pipe[0])
    with pytest.raises(anyio.BrokenResourceError):
        await write(pipe[1], b"x")


async def test_a_writer_waits_for_its_reader_and_can_be_stopped(pipe: tuple[int, int]):
    with anyio.move_on_after(0.05) as scope:
        await write(pipe[1], b"x" * 5_000_000)
    assert scope.cancelled_caught


async def test_a_closed_terminal_is_the_end_of_the_input():
    parent, child = os.openpty()
    os.close(child)
    try:
        assert await all_lines(parent) == []
    finally:
        os.close(parent)
