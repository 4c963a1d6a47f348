"""Event streams over HTTP: reading one to its end, and coming back to it."""

from __future__ import annotations

import errno as errors
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from core.errors import CoreError
from core.mcp.client.events import EventParser, EventTooLarge, ServerSentEvent
from core.mcp.client.session import CloseReason, HttpFailed
from core.mcp.client.wire import Wire
from core.net.body import BodyUnreadable, capped_chunks

if TYPE_CHECKING:
    import httpx

EVENT_STREAM = "text/event-stream"
_LIVED = 1.0  # seconds after which a stream that ends was no failure
_MOST_LOSSES = 5
_FIRST_RETURN, _SLOWEST_RETURN = 0.1, 30.0


@dataclass
class Cursor:
    """How far a stream has been read, and when to come back to it."""

    last_id: str | None = None
    retry: float | None = None

    def saw(self, event: ServerSentEvent) -> None:
        """Remember what the event says of the stream."""
        if event.id is not None:
            self.last_id = event.id or None
        if event.retry is not None:
            self.retry = event.retry


def content_type(response: httpx.Response) -> str:
    """In small letters, without parameters; "" when there is none."""
    return response.headers.get("content-type", "").partition(";")[0].strip().lower()


async def events_of(
    response: httpx.Response, wire: Wire, limit: int, heard: Callable[[], None]
) -> AsyncGenerator[ServerSentEvent]:
    """The events of a streamed answer; `heard` is called for each piece that arrives.

    Raises:
        HttpFailed: An event of more than `limit` bytes, or wrong packing.
        httpx.HTTPError: As the connection has it; `Wire.send` turns it into HttpFailed.
    """
    parser = EventParser(limit)
    try:
        async with aclosing(capped_chunks(response)) as chunks:
            async for chunk in chunks:
                heard()
                for event in parser.feed(chunk):
                    yield event
    except EventTooLarge:
        raise HttpFailed(wire.broken(f"sent an event of more than {limit} bytes")) from None
    except BodyUnreadable as error:
        raise HttpFailed(wire.broken(f"failed: {error.message}")) from None


async def keep_listening(
    hear: Callable[[Cursor], Awaitable[bool]],
    gone: Callable[[CloseReason], None],
    scope: anyio.CancelScope,
) -> None:
    """Listen to a server's own stream, again whenever it ends, until it is plainly gone.

    Args:
        hear: One connection of the stream, to its end; False when the server has none.
        gone: Told why, when the server can no longer be reached or breaks the protocol.
        scope: Ends it.
    """
    cursor, losses = Cursor(), 0
    with scope:
        while losses <= _MOST_LOSSES:
            began, lost = time.monotonic(), None
            try:
                if not await hear(cursor):
                    return
            except HttpFailed as failed:
                lost = failed.reason
            except CoreError:
                return  # no authorization to be had: the next request says so
            losses = 0 if time.monotonic() - began > _LIVED else losses + 1
            if lost is not None and lost.http_status is not None:
                return  # 405: it has no stream; 404, 401: the next request deals with it
            if lost is not None and _is_gone(lost, losses):
                gone(lost)
                return
            await anyio.sleep(_pause(losses, None if lost else cursor.retry))


def _is_gone(lost: CloseReason, losses: int) -> bool:
    return lost.errno in (None, errors.ECONNREFUSED) or losses > _MOST_LOSSES


def _pause(losses: int, asked: float | None) -> float:
    """A stream that was cut is tried again soon, to see whether the server still lives."""
    if asked is not None:
        return asked
    return min(_SLOWEST_RETURN, _FIRST_RETURN * 4 ** max(0, losses - 1))
