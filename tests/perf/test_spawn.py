from __future__ import annotations

import os
import time

import anyio
import pytest

from core.process import Processes
from core.reaper import Reaper

pytestmark = [pytest.mark.anyio, pytest.mark.perf]


async def test_fifty_spawns_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    processes, gaps = Processes(Reaper()), list[float]()

    async def tick() -> None:
        last = time.perf_counter()
        while True:
            await anyio.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    async def spawn() -> None:
        await processes.spawn(["sleep", "60"], env={"PATH": os.environ["PATH"]})

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tick)
            await anyio.sleep(0.1)
            gaps.clear()
            began = time.perf_counter()
            async with anyio.create_task_group() as spawns:
                for _ in range(50):
                    spawns.start_soon(spawn)
            took = time.perf_counter() - began
            tasks.cancel_scope.cancel()
        await processes.aclose(grace=0)
    with capsys.disabled():
        longest = 1000 * max(gaps)
        print(f"\n50 spawns: {1000 * took:.0f} ms, longest stall {longest:.1f} ms (budget 50)")
