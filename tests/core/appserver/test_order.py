from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest

from core.appserver.order import Lanes

pytestmark = pytest.mark.anyio


class Run:
    """Requests that end when the test says so; `ended` in the order in which they were let in."""

    def __init__(self, patience: float = 60.0) -> None:
        self.lanes = Lanes(patience)
        self.inside: list[str] = []
        self.ended: list[str] = []
        self.may_end: dict[str, anyio.Event] = {}

    def send(self, tasks: anyio.abc.TaskGroup, method: str, name: str) -> None:
        place = self.lanes.place(method)
        self.may_end[name] = anyio.Event()

        async def work() -> None:
            async with place:
                self.inside.append(name)
                await self.may_end[name].wait()
                self.ended.append(name)

        tasks.start_soon(work)

    async def settle(self) -> None:
        for _ in range(20):
            await anyio.lowlevel.checkpoint()


async def test_plugin_requests_run_in_the_order_sent():
    run = Run()
    async with anyio.create_task_group() as tasks:
        methods = ("plugin/install", "plugin/list", "marketplace/add", "plugin/list", "skills/list")
        for number, method in enumerate(methods):
            run.send(tasks, method, str(number))
        for number in range(len(methods)):
            await run.settle()
            assert run.inside == [str(n) for n in range(number + 1)]
            run.may_end[str(number)].set()
    assert run.ended == ["0", "1", "2", "3", "4"]


async def test_servers_threads_and_apps_wait_for_nobody():
    run = Run()
    async with anyio.create_task_group() as tasks:
        methods = ["mcpServerStatus/list", "mcpServerStatus/list", "thread/start", "app/list"]
        for number, method in enumerate(["marketplace/add", *methods]):
            run.send(tasks, method, str(number))
        await run.settle()
        assert sorted(run.inside) == ["0", "1", "2", "3", "4"]
        for event in run.may_end.values():
            event.set()


async def test_a_read_waits_for_a_slow_write_no_longer_than_its_patience():
    run = Run(patience=0.01)
    async with anyio.create_task_group() as tasks:
        run.send(tasks, "marketplace/add", "clone")
        run.send(tasks, "plugin/list", "list")
        with anyio.fail_after(5):
            while "list" not in run.inside:
                await anyio.lowlevel.checkpoint()
        for event in run.may_end.values():
            event.set()
    assert run.inside == ["clone", "list"]


async def test_a_write_waits_for_earlier_writes_for_as_long_as_they_take():
    run = Run(patience=0.0)
    async with anyio.create_task_group() as tasks:
        run.send(tasks, "config/value/write", "first")
        run.send(tasks, "plugin/list", "read")
        run.send(tasks, "plugin/install", "second")
        await run.settle()
        assert run.inside == ["first", "read"]
        run.may_end["first"].set()
        await run.settle()
        assert run.inside == ["first", "read", "second"]
        for event in run.may_end.values():
            event.set()


async def test_account_requests_have_a_lane_of_their_own():
    run = Run()
    async with anyio.create_task_group() as tasks:
        run.send(tasks, "plugin/install", "plugin")
        run.send(tasks, "account/logout", "logout")
        run.send(tasks, "account/read", "read")
        await run.settle()
        assert run.inside == ["plugin", "logout"]
        run.may_end["logout"].set()
        await run.settle()
        assert run.inside == ["plugin", "logout", "read"]
        for event in run.may_end.values():
            event.set()


async def test_a_request_that_is_given_up_gives_its_place_free():
    run = Run()
    async with anyio.create_task_group() as tasks:
        async with anyio.create_task_group() as given_up:
            run.send(given_up, "plugin/install", "first")
            await run.settle()
            run.send(tasks, "plugin/install", "second")
            given_up.cancel_scope.cancel()
        await run.settle()
        assert run.inside == ["first", "second"]
        run.may_end["second"].set()
