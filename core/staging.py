"""Opens a core for a panel in two steps, so that rows are on the screen before all is loaded."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from core.client.in_process import InProcessClient
from core.client.staged import StagedClient
from core.early import Early
from core.errors import CoreError
from core.ports import Deps
from core.service.dispatch import Dispatcher
from core.version import VERSION

if TYPE_CHECKING:
    from core.client.contract import CoreClient

PATIENCE = 1.0
"""Seconds after which the rest is loaded, rows or none."""
A_FRAME = 0.06
"""Seconds that the screen gets to paint the first rows before anything else wants the processor."""


@asynccontextmanager
async def open_staged(
    deps: Deps, *, overrides: Mapping[str, Any] | None = None
) -> AsyncGenerator[CoreClient]:
    """A client at once; the whole core stands behind it soon. Otherwise as `open_core`."""
    early = Early(deps, overrides)
    closing = anyio.Event()
    async with anyio.create_task_group() as tasks:

        def begin() -> None:
            tasks.start_soon(_fill, early)

        here = InProcessClient(
            Dispatcher(early.handlers()), early.hub, version=VERSION, read_only=deps.read_only
        )
        client = StagedClient(here, begin)
        tasks.start_soon(_serve_rest, early, client, closing)
        try:
            yield client
        finally:
            closing.set()


async def _fill(early: Early) -> None:
    try:
        await early.read()
    except CoreError:
        return  # whoever reads once more hears of it


async def _serve_rest(early: Early, client: StagedClient, closing: anyio.Event) -> None:
    with anyio.move_on_after(PATIENCE):
        await early.shown.wait()
        await early.deps.clock.sleep(A_FRAME)
    if closing.is_set():
        return
    try:
        await anyio.to_thread.run_sync(import_module, "core.compose")
        from core.compose import open_core

        async with open_core(early.deps, early=early) as core:
            client.stands(core.client())
            await closing.wait()
    except CoreError as error:
        client.fails(error.message)
