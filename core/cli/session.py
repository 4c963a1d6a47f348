"""A core for one command line, ended in order whatever ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

import anyio

from core.ports import Deps

if TYPE_CHECKING:
    from core.compose import Core

Work = Callable[["Core"], Awaitable[int]]
INTERRUPTED = 130


def in_core(deps: Deps, overrides: Mapping[str, Any], work: Work) -> int:
    """Run `work` on an open core; its exit code.

    SIGINT, SIGTERM and SIGHUP end everything in order: servers, downloads, listeners. A second
    one does not wait.
    """
    came: list[signal.Signals] = []
    codes: list[int] = []
    try:
        anyio.run(_run, deps, overrides, work, came, codes)
    except BaseExceptionGroup as group:
        if group.subgroup(BrokenPipeError) is not None:  # of a print in some task
            raise BrokenPipeError from None
        raise
    if came:
        return 128 + came[0]
    return codes[0]


async def _run(
    deps: Deps,
    overrides: Mapping[str, Any],
    work: Work,
    came: list[signal.Signals],
    codes: list[int],
) -> None:
    async with anyio.create_task_group() as tasks:
        working = anyio.CancelScope()
        tasks.start_soon(_watch_signals, working, came)
        with working:
            from core.compose import open_core

            async with open_core(deps, overrides=overrides) as core:
                codes.append(await work(core))
        tasks.cancel_scope.cancel()


async def _watch_signals(working: anyio.CancelScope, came: list[signal.Signals]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            if came:
                os._exit(128 + number)
            came.append(number)
            working.cancel()
