from __future__ import annotations

import json
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from core.appserver.outgoing import Outgoing
from core.errors import CoreError

pytestmark = pytest.mark.anyio


class Reader:
    """A client that reads only when it is told to."""

    def __init__(self) -> None:
        self.got = b""
        self.reads = anyio.Event()

    async def write(self, data: bytes) -> None:
        await self.reads.wait()
        self.got += data

    @property
    def messages(self) -> list[Any]:
        return [json.loads(line) for line in self.got.splitlines()]


async def test_everything_arrives_in_the_order_in_which_it_was_put():
    reader = Reader()
    outgoing = Outgoing(reader.write, lambda: 1.0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outgoing.run)
        for number in range(1000):
            outgoing.notify("n", {"number": number})
            outgoing.answer(number, b"{}")
            if number == 500:
                reader.reads.set()
                await anyio.lowlevel.checkpoint()
        assert outgoing.ask("q", {}) == 0
        outgoing.refuse("x", CoreError("no"))
        outgoing.finish()
    assert [m.get("id", m.get("params")) for m in reader.messages[:-2]] == [
        part for number in range(1000) for part in ({"number": number}, number)
    ]
    assert [m["id"] for m in reader.messages[-2:]] == [0, "x"]


async def test_there_is_room_only_while_the_client_reads():
    reader = Reader()
    outgoing = Outgoing(reader.write, lambda: 1.0, high_water=100)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(outgoing.run)
        await outgoing.room()
        outgoing.answer(1, b'"' + b"x" * 200 + b'"')
        with anyio.move_on_after(0.02) as waited:
            await outgoing.room()
        assert waited.cancelled_caught
        reader.reads.set()
        with anyio.fail_after(5):
            await outgoing.room()
        outgoing.finish()


async def test_a_client_that_reads_no_more_ends_the_writing_and_blocks_nobody():
    async def broken(data: bytes) -> None:
        raise anyio.BrokenResourceError

    outgoing = Outgoing(broken, lambda: 1.0, high_water=1)
    outgoing.answer(1, b"{}")
    with anyio.fail_after(5):
        await outgoing.run()
        outgoing.notify("late", {})
        await outgoing.room()
