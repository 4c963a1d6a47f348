"""Subscriptions to resources, kept over restarts of their servers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp import offers
from core.mcp.connection import Connection
from core.mcp.runtime import McpRuntime
from core.ports import Clock
from core.protocol.events import Event, ResourceUpdated, ServerHappened

MOST_FOLLOWED = 200

_log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Following:
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    settled: anyio.Event = field(default_factory=anyio.Event)
    failed: CoreError | None = None


class Followers:
    """Subscriptions to resources, kept over restarts of their servers.

    Args:
        runtime: Of the panel's thread; raises `CoreError` before there is one.
        tasks: Where subscriptions live.

    Emits: `ResourceUpdated`.
    """

    def __init__(
        self,
        runtime: Callable[[], McpRuntime],
        tasks: Callable[[], TaskGroup],
        clock: Clock,
        emit: Callable[[Event], None],
    ) -> None:
        self._runtime, self._tasks = runtime, tasks
        self._clock, self._emit = clock, emit
        self._kept: dict[tuple[str, str], _Following] = {}

    def of(self, server: str) -> tuple[str, ...]:
        """URIs that are followed."""
        return tuple(uri for name, uri in self._kept if name == server)

    async def follow(self, server: str, uri: str) -> None:
        """Subscribe, and wait until the server has agreed; nothing to do when it has already.

        Raises:
            InvalidRequest: There is no such server, it does not do that, or there are too many.
            InternalError: It refuses, does not answer, or is gone.
        """
        if (server, uri) in self._kept:
            return
        if len(self._kept) >= MOST_FOLLOWED:
            raise InvalidRequest(f"at most {MOST_FOLLOWED} resources are followed at once")
        connection = connection_of(self._runtime(), server)
        one = self._begin(server, uri)
        try:
            with anyio.fail_after(connection.spec.tool_timeout + connection.spec.start_timeout):
                await one.settled.wait()
        except TimeoutError:
            one.failed = InternalError(f"no answer of {server} to the subscription")
        finally:
            if one.failed is not None or not one.settled.is_set():
                self._drop(server, uri)
        if one.failed is not None:
            raise one.failed

    async def unfollow(self, server: str, uri: str) -> None:
        """End a subscription, if there is one. Raises InternalError when the server objects."""
        if (server, uri) not in self._kept:
            return
        self._drop(server, uri)
        connection = self._runtime().connection(server)
        if connection is not None:
            await offers.unfollow(connection, uri)

    def happened(self, event: Event) -> None:
        """A listener of the core's events: a server that has restarted is asked once more."""
        if not isinstance(event, ServerHappened):
            return
        if event.what == "ready":
            for uri in self.of(event.name):
                self._drop(event.name, uri)
                again = self._begin(event.name, uri)
                self._tasks().start_soon(self._tell_again, event.name, uri, again)
        elif event.what == "ended":
            for uri in self.of(event.name):
                self._tell(event.name, uri, "lost", event.text)

    async def _tell_again(self, server: str, uri: str, one: _Following) -> None:
        await one.settled.wait()
        if one.failed is None:
            self._tell(server, uri, "followed", "after a restart of the server")
        else:
            self._drop(server, uri)
            self._tell(server, uri, "lost", one.failed.message)

    def _begin(self, server: str, uri: str) -> _Following:
        one = self._kept[server, uri] = _Following()
        self._tasks().start_soon(self._keep, server, uri, one)
        return one

    def _drop(self, server: str, uri: str) -> None:
        one = self._kept.pop((server, uri), None)
        if one is not None:
            one.scope.cancel()

    async def _keep(self, server: str, uri: str, one: _Following) -> None:
        try:
            with one.scope:
                connection = connection_of(self._runtime(), server)
                changed = partial(self._tell, server, uri, "updated", "")
                await offers.follow(connection, uri, changed, one.settled.set)
        except CoreError as error:
            if not one.settled.is_set():
                one.failed = error
            elif self._kept.get((server, uri)) is one:
                self._tell(server, uri, "lost", error.message)
        except Exception:
            # The boundary of a background task: one subscription must not end the panel.
            _log.exception("subscription to %s of %s", uri, server)
            one.failed = InternalError("the subscription failed by a fault of Jackfield's own")
        finally:
            one.settled.set()

    def _tell(self, server: str, uri: str, what: str, text: str) -> None:
        at = self._clock.now()
        self._emit(ResourceUpdated(at=at, name=server, uri=uri, what=what, text=text))


def connection_of(runtime: McpRuntime, server: str) -> Connection:
    """A server that runs or is starting. Raises InvalidRequest, saying why there is none."""
    connection = runtime.connection(server)
    if connection is not None:
        return connection
    spec = runtime.specs.get(server)
    if spec is None:
        raise InvalidRequest(f"unknown MCP server '{server}'")
    why = spec.reason or ("it has not been started" if spec.usable else spec.standing)
    raise InvalidRequest(f"{server} is not connected: {why}")
