"""`jackfield events`: what happens, as JSON lines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import anyio
import msgspec

from core.cli.text import json_text
from core.cli.verb_run import add_common, add_starting, in_client
from core.method_table import JACKFIELD_PANEL_START
from core.protocol.events import Event, RefreshFinished, StateChanged
from core.protocol.jackfield import PanelStartParams

if TYPE_CHECKING:
    from core.client.contract import CoreClient


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `events` takes."""
    parser.add_argument(
        "--follow", action="store_true", help="go on until interrupted, files are watched"
    )
    parser.add_argument(
        "--no-state", action="store_true", help="leave out the differences of lists"
    )
    add_common(parser, json="it is always JSON: one object a line, `type` says which event")
    add_starting(parser)
    parser.epilog = (
        "Without --follow it ends when the servers' first answers are in. "
        "Exit codes: 0 ended; 1 it failed; 130 interrupted; 141 the reader has gone."
    )


def run(given: argparse.Namespace) -> int:
    """Print events until told to stop."""
    return in_client(given, lambda client: _print(client, given))


async def _print(client: CoreClient, given: argparse.Namespace) -> int:
    deadline = None if given.follow else given.deadline
    with anyio.move_on_after(deadline):
        async with client.subscribe() as events:
            await client.call(JACKFIELD_PANEL_START, PanelStartParams(consent_all=given.yes))
            async for event in events:
                if not (given.no_state and isinstance(event, StateChanged)):
                    print(json_text(_told(event), indent=None), flush=True)
                if not given.follow and _is_last(event):
                    break
    return 0


def _told(event: Event) -> object:
    return msgspec.to_builtins(event)


def _is_last(event: Event) -> bool:
    return isinstance(event, RefreshFinished) and event.domain == "servers"
