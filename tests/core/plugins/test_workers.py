"""Threads that take turns, and are left to themselves when they do not answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import anyio
import anyio.lowlevel
import pytest

from core.plugins.workers import Turns, back, in_thread

pytestmark = pytest.mark.anyio


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_a_result_and_a_failure_come_back():
    assert await in_thread(lambda: 7, deadline=5) == 7

    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        await in_thread(fail, deadline=5)


async def test_a_thread_that_does_not_answer_is_left_to_itself(gate: threading.Event):
    with anyio.fail_after(5), pytest.raises(TimeoutError):
        await in_thread(lambda: gate.wait(30), deadline=0.05)


async def test_threads_do_not_compute_at_the_same_time():
    turns = Turns(resting=False)
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.turn():
                inside += 1
                most = max(most, inside)
                inside -= 1

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(lambda: in_thread(work, deadline=10))
    assert most == 1


async def test_a_turn_whose_holder_waits_for_a_disk_passes_on(gate: threading.Event):
    turns = Turns(resting=False)
    held = threading.Event()

    def hang() -> None:
        with turns.turn():
            held.set()
            gate.wait(30)

    def work() -> int:
        held.wait(5)
        with turns.turn() as tick:
            tick()
            return 7

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: in_thread(hang, deadline=10))
            assert await in_thread(work, deadline=5) == 7
            gate.set()


async def test_a_holder_that_comes_back_late_waits_for_a_new_turn(gate: threading.Event):
    turns = Turns(resting=True)
    held = threading.Event()
    order: list[str] = []

    def late() -> None:
        with turns.turn() as tick:
            held.set()
            gate.wait(30)
            tick()
            order.append("late")

    def other() -> None:
        held.wait(5)
        with turns.turn():
            gate.set()
            order.append("other")

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: in_thread(late, deadline=10))
            await in_thread(other, deadline=5)
    assert sorted(order) == ["late", "other"]


def test_nothing_happens_when_the_loop_has_ended():
    tokens: list[anyio.lowlevel.EventLoopToken] = []

    async def once() -> None:
        tokens.append(anyio.lowlevel.current_token())

    anyio.run(once)
    back(lambda: pytest.fail("called"), tokens[0])
