"""The core's events as Textual messages: subscribe first, then read, then follow."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from textual.message import Message
from textual.message_pump import MessagePump

from core.errors import CoreError
from core.method_table import JACKFIELD_EVENTS_RECENT, JACKFIELD_ROWS
from core.protocol.events import CoreEvent, Phase
from core.protocol.jackfield import RecentParams, RowsParams
from core.protocol.rows import Domain, Row

if TYPE_CHECKING:
    from core.client.contract import CoreClient

log = logging.getLogger(__name__)

FRAME = 1 / 30  # seconds; at most one batch in this time, so one repaint
PAGE = 5_000  # rows asked for at once
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)  # seconds before the next try
# The open tab's lists first, so that they are on the screen before the others are asked for.
READ_ORDER: tuple[Domain, ...] = (
    "marketplaces",
    "plugins",
    "servers",
    "account",
    "apps",
    "installed",
    "inventory",
    "problems",
    "threads",
    "config",
)


@dataclass
class CoreSession(Message, bubble=False):
    """A subscription stands; what comes from now on is gapless."""


@dataclass
class CoreRows(Message, bubble=False):
    """One domain as it was read."""

    domain: Domain
    rows: Sequence[Row]
    revision: int
    phase: Phase
    refreshed_at: float


@dataclass
class CoreUnread(Message, bubble=False):
    """One domain could not be read; the others can."""

    domain: Domain
    reason: str


@dataclass
class CoreEventBatch(Message, bubble=False):
    """Events in order, at least one."""

    events: list[CoreEvent]


@dataclass
class CorePast(Message, bubble=False):
    """What happened before the subscription, oldest first."""

    events: list[CoreEvent]


@dataclass
class CoreRead(Message, bubble=False):
    """Every domain has been read once in this session."""


@dataclass
class CoreLost(Message, bubble=False):
    """The core cannot be heard; the bridge tries again in `again_in` seconds."""

    reason: str
    again_in: float


async def pump(
    client: CoreClient,
    target: MessagePump,
    *,
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
) -> None:
    """Post the core's state and events to `target` until cancelled; starts anew after failures."""
    tries = 0
    while True:
        began = time.monotonic()
        try:
            await _session(client, target, sleep)
            return
        except Exception as error:
            log.exception("the core's events ended")
            if time.monotonic() - began > PAUSES[-1]:
                tries = 0
            pause = PAUSES[min(tries, len(PAUSES) - 1)]
            tries += 1
            target.post_message(CoreLost(_reason(error), pause))
            await sleep(pause)


def _reason(error: Exception) -> str:
    if isinstance(error, ExceptionGroup):
        group: ExceptionGroup[Exception] = error  # pyright: ignore[reportUnknownVariableType]
        return _reason(group.exceptions[0])
    return error.message if isinstance(error, CoreError) else type(error).__name__


async def _session(
    client: CoreClient, target: MessagePump, sleep: Callable[[float], Awaitable[None]]
) -> None:
    async with client.subscribe() as subscription, anyio.create_task_group() as readers:
        target.post_message(CoreSession())
        readers.start_soon(_read_all, client, target)
        async for batch in subscription.batches():
            target.post_message(CoreEventBatch(batch))
            # What comes while we sleep is folded by the subscription, so a busy core costs one
            # repaint per frame and an idle one is shown at once.
            await sleep(FRAME)
        readers.cancel_scope.cancel()


async def _read_all(client: CoreClient, target: MessagePump) -> None:
    for domain in READ_ORDER:
        await post_rows(client, target, domain)
    if past := await _read_past(client):
        target.post_message(CorePast(past))
    target.post_message(CoreRead())


async def post_rows(client: CoreClient, target: MessagePump, domain: Domain) -> None:
    """Read one domain and post it, or why it could not be read."""
    try:
        target.post_message(await read_rows(client, domain))
    except CoreError as error:
        target.post_message(CoreUnread(domain, error.message))


async def read_rows(client: CoreClient, domain: Domain) -> CoreRows:
    """All rows of a domain, page by page; the pages of one reading are of one snapshot."""
    page = first = await client.call(JACKFIELD_ROWS, RowsParams(domain=domain, limit=PAGE))
    rows: list[Row] = list(first.rows)
    while page.next_cursor is not None:
        params = RowsParams(domain=domain, cursor=page.next_cursor, limit=PAGE)
        page = await client.call(JACKFIELD_ROWS, params)
        rows.extend(page.rows)
    return CoreRows(domain, rows, first.revision, first.phase, first.refreshed_at)


async def _read_past(client: CoreClient) -> list[CoreEvent]:
    if client.capabilities.lacks(JACKFIELD_EVENTS_RECENT):
        return []
    try:
        result = await client.call(JACKFIELD_EVENTS_RECENT, RecentParams(limit=1_000))
    except CoreError as error:
        log.warning("the past cannot be read: %s", error.message)
        return []
    return list(result.events)
