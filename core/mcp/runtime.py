"""The servers of one thread: which of them run, and what a new configuration does to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import anyio
from anyio.abc import TaskGroup

from core.mcp.connection import Connection
from core.mcp.sandbox import Sandboxing
from core.mcp.spec import ServerSpec
from core.mcp.surroundings import Surroundings

CLOSING = 2.8
"""Seconds after which the end of servers is not waited for any longer."""

Held = Callable[[ServerSpec], bool]


def _nothing_is_held(spec: ServerSpec) -> bool:
    return False


class McpRuntime:
    """One per thread. All methods are for the event loop; only `aclose` and waits take time.

    Args:
        held: True for a usable server that may not be started (yet): the person has not said
            yes to it. A server that runs goes on as it was started.
        applied: Called after the set of servers has changed.
    """

    def __init__(
        self,
        around: Surroundings,
        tasks: TaskGroup,
        *,
        held: Held = _nothing_is_held,
        applied: Callable[[], None] = lambda: None,
    ) -> None:
        self._around, self._tasks = around, tasks
        self._held, self._applied = held, applied
        self._specs: dict[str, ServerSpec] = {}
        self._connections: dict[str, Connection] = {}
        self._leaving: set[Connection] = set()
        self._stale: set[str] = set()
        self._closed = False

    @property
    def specs(self) -> Mapping[str, ServerSpec]:
        """The servers as they were last loaded, by name."""
        return self._specs

    @property
    def connections(self) -> Mapping[str, Connection]:
        """What has been started and not dropped, by name."""
        return self._connections

    @property
    def sandboxing(self) -> Sandboxing | None:
        """What calls are bound to."""
        return self._around.sandboxing

    def connection(self, name: str) -> Connection | None:
        """Of one server; None for one that is not to run."""
        return self._connections.get(name)

    def invalidate(self, name: str) -> None:
        """What runs was authorised by credentials that have been replaced."""
        if name in self._connections:
            self._stale.add(name)

    def current(self, name: str) -> Connection | None:
        """As `connection`, for somebody who is about to use it: an invalidated one begins anew."""
        if name in self._stale:
            self._stale.discard(name)
            self.reconnect(name)
        return self.connection(name)

    def runtime_status(self, name: str) -> str | None:
        """The wire's word for one server; None for one that is not loaded."""
        if connection := self._connections.get(name):
            return "failed" if connection.status == "waiting" else connection.status
        spec = self._specs.get(name)
        if spec is None or spec.standing == "invalid":
            return None
        return "notStarted" if spec.usable else "disabled"

    def start(self, specs: Iterable[ServerSpec]) -> None:
        """Start all servers that may run; all of them are told as `starting` before any runs."""
        self._specs = {spec.name: spec for spec in specs}
        fresh = [self._new(spec) for spec in self._specs.values() if self._may_run(spec)]
        self._begin(fresh)
        self._applied()

    def reload(self, specs: Iterable[ServerSpec]) -> None:
        """The configuration was read anew.

        New, changed, failed and dead servers are started, removed and switched-off ones are
        dropped; others stay as they are and are told as `ready` once more.
        """
        self._specs = {spec.name: spec for spec in specs}
        for name in self._connections.keys() - self._specs.keys():
            self._drop(name)
        fresh: list[Connection] = []
        for spec in self._specs.values():
            connection = self._connections.get(spec.name)
            if connection is None:
                fresh += [self._new(spec)] if self._may_run(spec) else []
            elif not spec.usable:
                self._drop(spec.name)
            elif not self._held(spec):
                self._renew(connection, spec)
        self._begin(fresh)
        self._applied()

    def follow(self, specs: Iterable[ServerSpec]) -> None:
        """The files have changed without anybody asking for a reload.

        Servers that were agreed to are started, switched off or exchanged; those that wait for a
        yes, and those whose entry is gone or broken, run on as they were started. What a plugin
        brought ends with the plugin.
        """
        self._specs = {spec.name: spec for spec in specs}
        for name, connection in list(self._connections.items()):
            if name not in self._specs:
                connection.configured = False
                idle = connection.status in ("failed", "cancelled", "waiting")
                if idle or connection.spec.plugin_id is not None:
                    self._drop(name)
        fresh: list[Connection] = []
        for spec in self._specs.values():
            connection = self._connections.get(spec.name)
            if connection is None:
                fresh += [self._new(spec)] if self._may_run(spec) else []
                continue
            connection.configured = True
            if spec.standing in ("disabled", "blocked", "untrusted"):
                self._drop(spec.name)
            elif spec.usable and not self._held(spec):
                self._exchange(connection, spec)
        self._begin(fresh)
        self._applied()

    def announce(self) -> None:
        """Tell `ready` once more for each server that is."""
        for connection in self._connections.values():
            connection.announce()

    def reconnect(self, name: str) -> bool:
        """End what there is of a server and start it anew, as the files have it now.

        Returns:
            False when it may not run; one that no file names any more is ended.
        """
        connection, spec = self._connections.get(name), self._specs.get(name)
        if spec is None or not self._may_run(spec):
            if connection is not None and spec is None:
                self._drop(name)
                self._applied()
            return False
        if connection is not None:
            connection.configured = True
            connection.retry(spec)
        else:
            self._begin([self._new(spec)])
        self._applied()
        return True

    def cancel(self, name: str) -> bool:
        """Give up a start, or end a server; it stays `cancelled` until `reconnect`."""
        connection = self._connections.get(name)
        if connection is None:
            return False
        if name in self._specs:
            connection.park()
        else:
            self._drop(name)
            self._applied()
        return True

    def stop(self) -> None:
        """End all servers; starts under way are told as `cancelled` before this returns."""
        self._closed = True
        for name in list(self._connections):
            self._drop(name)

    async def aclose(self) -> None:
        """`stop`, and wait for the end of all, but not for ever."""
        self.stop()
        with anyio.move_on_after(CLOSING, shield=True):
            for connection in list(self._leaving):
                await connection.finished.wait()

    def _may_run(self, spec: ServerSpec) -> bool:
        return spec.usable and not self._held(spec)

    def _new(self, spec: ServerSpec) -> Connection:
        connection = self._connections[spec.name] = Connection(spec, self._around)
        return connection

    def _begin(self, fresh: Iterable[Connection]) -> None:
        if self._closed:
            return
        for connection in fresh:
            connection.prepare()
        for connection in fresh:
            self._tasks.start_soon(connection.run, name=f"mcp {connection.spec.name}")

    def _renew(self, connection: Connection, spec: ServerSpec) -> None:
        same = spec.fingerprint == connection.spec.fingerprint
        if not same and not self._adoptable(connection, spec):
            connection.retry(spec)
        elif connection.live:
            connection.adopt(spec)
            connection.announce()
        elif connection.status != "starting":
            connection.retry(spec)

    def _exchange(self, connection: Connection, spec: ServerSpec) -> None:
        if self._adoptable(connection, spec):
            connection.adopt(spec)
        else:
            connection.retry(spec)

    def _adoptable(self, connection: Connection, spec: ServerSpec) -> bool:
        """Only what needs no new connection has changed, and the policy makes use of that."""
        follows = self._around.opening.policy.follow_config
        return follows and spec.link == connection.spec.link

    def _drop(self, name: str) -> None:
        connection = self._connections.pop(name)
        connection.stop()
        if not connection.finished.is_set():
            self._leaving.add(connection)
            self._tasks.start_soon(self._forget, connection)

    async def _forget(self, connection: Connection) -> None:
        await connection.finished.wait()
        self._leaving.discard(connection)
