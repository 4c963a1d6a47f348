"""`jackfield app-server`: the Codex app-server protocol on stdin and stdout."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.errors import CoreError
from core.ports import Deps

if TYPE_CHECKING:
    from core.appserver.opening import Opening

STDIO = "stdio://"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `app-server` takes."""
    parser.add_argument(
        "--listen", type=_listen, default=STDIO, metavar="URL", help=f"only {STDIO}, the default"
    )
    parser.add_argument("--stdio", action="store_true", help=f"the same as --listen {STDIO}")
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Serve until the input ends or a signal comes.

    SIGTERM ends with 0, as the real one does; SIGINT and SIGHUP too end everything in order, and
    then the process as if nobody had caught them.
    """
    came: list[signal.Signals] = []
    anyio.run(_until_the_end, deps_of(given), overrides_of(given), came)
    if came and came[0] != signal.SIGTERM:
        signal.signal(came[0], signal.SIG_DFL)
        os.kill(os.getpid(), came[0])
    return 0


async def _until_the_end(
    deps: Deps, overrides: Mapping[str, Any], came: list[signal.Signals]
) -> None:
    """Serve; signals that have come are added to `came`."""
    async with anyio.create_task_group() as tasks:
        serving = anyio.CancelScope()
        tasks.start_soon(_watch_signals, serving, came)
        with serving:
            await _serve(deps, overrides)
        tasks.cancel_scope.cancel()


async def _watch_signals(serving: anyio.CancelScope, came: list[signal.Signals]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP, signal.SIGINT) as signals:
        async for number in signals:
            if came:  # asked twice: what does not end is left to the reaper
                os._exit(128 + number)
            came.append(number)
            serving.cancel()


async def _serve(deps: Deps, overrides: Mapping[str, Any]) -> None:
    from core.appserver.opening import Opening
    from core.config.paths import Home

    home = Home.of(deps)
    # With requirements that cannot be read the real one ends before it has answered anything.
    opening = Opening(hasty=not home.requirements_file.exists())
    ended = anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_talk, opening, deps, str(home.codex_home), ended)
        await _open(opening, deps, overrides, ended)


async def _talk(opening: Opening, deps: Deps, codex_home: str, ended: anyio.Event) -> None:
    from core.appserver.greeting import Greeting
    from core.appserver.loop import serve
    from core.version import VERSION

    greeting = Greeting(version=VERSION, codex_home=codex_home)
    await serve(opening, greeting, now=deps.clock.now)
    ended.set()


async def _open(
    opening: Opening, deps: Deps, overrides: Mapping[str, Any], ended: anyio.Event
) -> None:
    compose = await anyio.to_thread.run_sync(import_module, "core.compose")
    from core.appserver.strictness import ConfigGate

    async with compose.open_core(deps, overrides=overrides) as core:
        broken = core.config.load().requirements.broken
        if broken is not None:  # what is allowed is unknown, so nothing is
            raise CoreError(f"failed to load requirements: {broken.message}")
        opening.done(core.dispatcher, ConfigGate(core.config.load, deps.cwd))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(core.startup)
            await ended.wait()
            tasks.cancel_scope.cancel()


def _listen(url: str) -> str:
    if url != STDIO:
        raise argparse.ArgumentTypeError(f"unsupported --listen URL `{url}`; expected `{STDIO}`")
    return url
