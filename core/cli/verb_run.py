"""How our own verbs run: a core at the place that was asked for, and its client."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from core.cli.options import add_overrides, add_place, deps_of, overrides_of
from core.cli.output import follow_progress, ticking
from core.cli.session import in_core

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from core.compose import Core

Job = Callable[["CoreClient"], Awaitable[int]]


def add_common(parser: argparse.ArgumentParser, *, json: str = "print JSON") -> None:
    """`--json`, where to work, and what counts more than the files."""
    parser.add_argument("--json", action="store_true", help=json)
    add_place(parser)
    add_overrides(parser)


def add_starting(parser: argparse.ArgumentParser) -> None:
    """Options of verbs that start servers."""
    parser.add_argument(
        "--yes",
        action="store_true",
        help="start programs that nobody has agreed to yet; without it they are not started",
    )
    parser.add_argument(
        "--deadline",
        type=_seconds,
        default=60.0,
        metavar="SECONDS",
        help="how long servers may take; 60 is the default",
    )


def in_client(given: argparse.Namespace, job: Job, *, progress: bool = False) -> int:
    """Run `job` with a client of a core of this process.

    Args:
        progress: Show on stderr how operations go, when it is a terminal.
    """

    async def work(core: Core) -> int:
        client = core.client()
        if not progress:
            return await job(client)
        codes: list[int] = []
        with ticking():
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(follow_progress, client)
                codes.append(await job(client))
                tasks.cancel_scope.cancel()
        return codes[0]

    return in_core(deps_of(given), overrides_of(given), work)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < 86400:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds")
    return seconds
