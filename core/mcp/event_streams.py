"""Subscriptions to events of the hosted apps server, one long request each.

Source: observed in Codex 0.171.0; how often a broken stream is taken up again is as it documents.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp.client.session import Incoming
from core.mcp.faults import StartFailed, request_failed
from core.mcp.hosted import HOSTED_NAME
from core.mcp.runtime import McpRuntime
from core.ports import Clock

ACTIVE, TERMINATED = "notifications/events/active", "notifications/events/terminated"
START_LIMIT = 90.0
"""Seconds that the server has to say that a stream is active."""
MOST_PER_CLIENT = 64
TRIES, FIRST_PAUSE = 3, 1.0

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Stream:
    name: str
    arguments: dict[str, Any]
    meta: dict[str, Any] | None
    tell: Callable[[str, dict[str, Any]], None]
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    settled: anyio.Event = field(default_factory=anyio.Event)
    active: bool = False
    terminated: bool = False
    failed: CoreError | None = None
    losses: int = 0

    def heard(self, message: Incoming) -> None:
        """A notification that names this stream's request."""
        self.tell(message.method, message.params)
        if message.method == ACTIVE:
            self.active = True
            self.settled.set()
        elif message.method == TERMINATED:
            self.terminated = True
            self.scope.cancel()
        else:
            self.losses = 0


class EventStreams:
    """All subscriptions of all clients. Streams live in `tasks`."""

    def __init__(self, tasks: Callable[[], TaskGroup], clock: Clock) -> None:
        self._tasks, self._clock = tasks, clock
        self._streams: dict[tuple[int, str], _Stream] = {}

    async def start(
        self,
        client: int,
        subscription_id: str,
        runtime: McpRuntime,
        *,
        name: str,
        arguments: dict[str, Any],
        meta: dict[str, Any] | None,
        tell: Callable[[str, dict[str, Any]], None],
    ) -> None:
        """Subscribe, and wait until the server says that the stream is active.

        Args:
            client: Connection that subscribes; ids are its own.
            tell: Gets method and parameters of each event, `active` included.

        Raises:
            InvalidRequest: The id is taken, or there are too many.
            InternalError: The server refuses, or the stream ends before it is active.
        """
        key = client, subscription_id
        if key in self._streams:
            raise InvalidRequest(f"MCP event subscription '{subscription_id}' already exists")
        if sum(other == client for other, _ in self._streams) >= MOST_PER_CLIENT:
            raise InvalidRequest(
                f"at most {MOST_PER_CLIENT} MCP event subscriptions per connection"
            )
        stream = self._streams[key] = _Stream(name, arguments, meta, tell)
        self._tasks().start_soon(self._keep, key, stream, runtime)
        try:
            with anyio.fail_after(START_LIMIT):
                await stream.settled.wait()
        except TimeoutError:
            stream.failed = InternalError("MCP event stream ended before becoming active")
        except BaseException:
            stream.scope.cancel()
            raise
        if stream.failed is not None:
            stream.scope.cancel()
            raise stream.failed

    def stop(self, client: int, subscription_id: str) -> None:
        """End a subscription, if there is one; its id can be used again at once."""
        stream = self._streams.pop((client, subscription_id), None)
        if stream is not None:
            stream.scope.cancel()

    def client_gone(self, client: int) -> None:
        """End all subscriptions of a connection."""
        for key in [key for key in self._streams if key[0] == client]:
            self.stop(*key)

    async def _keep(self, key: tuple[int, str], stream: _Stream, runtime: McpRuntime) -> None:
        try:
            with stream.scope:
                await self._run(stream, runtime)
        except Exception:
            _log.exception("event stream %s", stream.name)
        finally:
            if not stream.active and stream.failed is None:
                stream.failed = InternalError("MCP event stream ended before becoming active")
            stream.settled.set()
            if self._streams.get(key) is stream:
                del self._streams[key]

    async def _run(self, stream: _Stream, runtime: McpRuntime) -> None:
        """Until the server ends it, or until it cannot be had any longer."""
        while True:
            error = await self._once(stream, runtime)
            if not stream.active:
                stream.failed = error
                return
            if stream.losses >= TRIES:
                stream.tell(TERMINATED, {})
                return
            await self._clock.sleep(FIRST_PAUSE * 2**stream.losses)
            stream.losses += 1

    async def _once(self, stream: _Stream, runtime: McpRuntime) -> CoreError | None:
        """One request, for as long as it lasts; why it could not be made, or None."""
        connection = runtime.connection(HOSTED_NAME)
        if connection is None:
            return InternalError(
                f"failed to start MCP event stream for '{HOSTED_NAME}': "
                f"unknown MCP server '{HOSTED_NAME}'"
            )
        try:
            session = await connection.usable()
            await session.request(
                "events/stream",
                {"name": stream.name, "arguments": stream.arguments},
                deadline=None,
                meta=stream.meta,
                on_notice=stream.heard,
            )
        except StartFailed as failed:
            return InternalError(
                f"failed to start MCP event stream for '{HOSTED_NAME}': {failed.message}"
            )
        except CoreError as error:
            return InternalError(request_failed(error))
        return None
