"""`jackfield app-server`: the Codex app-server protocol on stdin and stdout, or on a socket."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.errors import CoreError
from core.ports import Deps

if TYPE_CHECKING:
    from core.appserver.opening import Opening

STDIO = "stdio://"


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `app-server` takes."""
    parser.add_argument(
        "--listen",
        type=_listen,
        metavar="URL",
        help=f"{STDIO}, the default, or unix:PATH for many clients of yours",
    )
    parser.add_argument("--stdio", action="store_true", help=f"the same as --listen {STDIO}")
    parser.add_argument(
        "--connect",
        type=_socket,
        metavar="unix:PATH",
        help="be the client of one that listens there: pass stdin and stdout on",
    )
    add_place(parser)
    add_overrides(parser)


def run(given: argparse.Namespace) -> int:
    """Serve until the input ends or a signal comes.

    SIGTERM ends with 0, as the real one does; SIGINT and SIGHUP too end everything in order, and
    then the process as if nobody had caught them. On a socket only a signal ends it.

    Raises:
        CoreError: Nothing can be served: wrong overrides, or a socket that cannot be had.
    """
    came: list[signal.Signals] = []
    if given.connect is not None:
        from core.appserver.relay import relay

        serving = partial(relay, given.connect)
    else:
        path = given.listen if not given.stdio else None
        serving = partial(_serve, deps_of(given), overrides_of(given), path)
    anyio.run(_until_the_end, serving, came)
    if came and came[0] != signal.SIGTERM:
        signal.signal(came[0], signal.SIG_DFL)
        os.kill(os.getpid(), came[0])
    return 0


async def _until_the_end(serve: Callable[[], Awaitable[None]], came: list[signal.Signals]) -> None:
    """Serve; signals that have come are added to `came`."""
    async with anyio.create_task_group() as tasks:
        serving = anyio.CancelScope()
        tasks.start_soon(_watch_signals, serving, came)
        with serving:
            await serve()
        tasks.cancel_scope.cancel()


async def _watch_signals(serving: anyio.CancelScope, came: list[signal.Signals]) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGHUP, signal.SIGINT) as signals:
        async for number in signals:
            if came:  # asked twice: what does not end is left to the reaper
                os._exit(128 + number)
            came.append(number)
            serving.cancel()


async def _serve(deps: Deps, overrides: Mapping[str, Any], path: Path | None) -> None:
    from core.appserver.opening import Opening
    from core.config.paths import Home

    home = Home.of(deps)
    # With requirements that cannot be read the real one ends before it has answered anything.
    opening = Opening(hasty=not home.requirements_file.exists())
    ended = anyio.Event()
    async with anyio.create_task_group() as tasks:
        if path is None:
            tasks.start_soon(_talk, opening, deps, str(home.codex_home), ended)
        else:
            await tasks.start(_listen_on, opening, deps, str(home.codex_home), path)
        await _open(opening, deps, overrides, ended)


async def _talk(opening: Opening, deps: Deps, codex_home: str, ended: anyio.Event) -> None:
    from core.appserver.greeting import Greeting
    from core.appserver.loop import serve
    from core.version import VERSION

    greeting = Greeting(version=VERSION, codex_home=codex_home)
    await serve(opening, greeting, now=deps.clock.now)
    ended.set()


async def _listen_on(
    opening: Opening,
    deps: Deps,
    codex_home: str,
    path: Path,
    *,
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    from core.appserver.greeting import Greeting
    from core.appserver.listening import serve_socket
    from core.version import VERSION

    greeting = Greeting(version=VERSION, codex_home=codex_home)
    now = deps.clock.now
    await serve_socket(opening, greeting, path, now=now, task_status=task_status)


async def _open(
    opening: Opening, deps: Deps, overrides: Mapping[str, Any], ended: anyio.Event
) -> None:
    compose = await anyio.to_thread.run_sync(import_module, "core.compose")
    from core.appserver.strictness import ConfigGate

    async with compose.open_core(deps, overrides=overrides) as core:
        broken = core.config.load().requirements.broken
        if broken is not None:  # what is allowed is unknown, so nothing is
            raise CoreError(f"failed to load requirements: {broken.message}")
        opening.done(
            core.dispatcher,
            ConfigGate(core.config.load, deps.cwd),
            hub=core.hub,
            read_only=deps.read_only,
            gone=core.threads.connection_closed,
        )
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(core.startup)
            tasks.start_soon(_warm)
            await ended.wait()
            tasks.cancel_scope.cancel()


async def _warm() -> None:
    from core.appserver.warming import warm

    await anyio.to_thread.run_sync(warm, abandon_on_cancel=True)


def _listen(url: str) -> Path | None:
    """None: stdin and stdout."""
    if url == STDIO:
        return None
    try:
        return _socket(url)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(
            f"unsupported --listen URL `{url}`: {error}; or {STDIO}"
        ) from None


def _socket(url: str) -> Path:
    from core.appserver.sockets import socket_path

    try:
        return socket_path(url)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
