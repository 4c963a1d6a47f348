"""All threads of a core: started, listed, reloaded, archived, ended together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from core.config.model import Loaded
from core.config.strict import refusal, strict, wire_error
from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp.connection import Connection
from core.mcp.effective import Reading, ServerSource
from core.mcp.elicitation import Asker
from core.mcp.links import Links, Plumbing
from core.mcp.opening import Opening, SessionMaker
from core.mcp.runtime import McpRuntime
from core.mcp.sandbox import VARIABLE, Launcher, Sandboxing
from core.mcp.slots import HandshakeSlots
from core.mcp.surroundings import Surroundings
from core.ports import Clock, Deps
from core.protocol.events import StateChanged
from core.protocol.rows import ThreadRow
from core.scope import Caller, RequestScope
from core.snapshot import SnapshotOwner
from core.threads.ids import new_id, thread_id_of
from core.threads.permissions import permissions_of
from core.threads.policy import ThreadPolicy
from core.threads.settings import Settings, Wishes, settings_of
from core.threads.thread import STATUS, Thread

if TYPE_CHECKING:  # the panel starts without any of the wire's models
    from core.protocol.threads import (
        ThreadLoadedListParams,
        ThreadLoadedListResult,
        ThreadStartParams,
        ThreadStartResult,
    )

CLOSING = 2.8


class ThreadManager:
    """Enter it to have a place where servers live; leaving it ends them all, within 3 s.

    Args:
        version: Told to clients and to servers.
        links: Makes what opens sessions on behalf of a client, from its policy and capabilities.
    """

    def __init__(
        self,
        deps: Deps,
        source: ServerSource,
        plumbing: Plumbing,
        emit: Callable[[StateChanged], None],
        *,
        version: str,
        links: Callable[[Plumbing, ThreadPolicy, Mapping[str, Any]], SessionMaker] = Links,
    ) -> None:
        self._deps, self.source, self.plumbing = deps, source, plumbing
        self._version, self._links = version, links
        self.slots = HandshakeSlots()
        self._launcher = Launcher(deps.environ.get(VARIABLE), plumbing.processes)
        self.rows: SnapshotOwner[ThreadRow] = SnapshotOwner("threads", emit)
        self._threads: dict[str, Thread] = {}
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> ThreadManager:
        self._group = anyio.create_task_group()
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *exc: Any) -> bool | None:
        await self.aclose()
        group, self._group = self.tasks, None
        group.cancel_scope.cancel()
        # An error of the block comes out as it is: it is none of the group's.
        await group.__aexit__(None, None, None)
        return None

    @property
    def clock(self) -> Clock:
        """The core's."""
        return self._deps.clock

    @property
    def tasks(self) -> TaskGroup:
        """Where servers live. Only while the manager is entered."""
        if self._group is None:
            raise InternalError("the core is closed")
        return self._group

    async def aclose(self) -> None:
        """End the servers of all threads, all at once."""
        threads, self._threads = list(self._threads.values()), {}
        with anyio.move_on_after(CLOSING, shield=True):
            async with anyio.create_task_group() as ending:
                for thread in threads:
                    ending.start_soon(thread.runtime.aclose)

    # -- looking up

    def get(self, thread_id: str) -> Thread:
        """A loaded thread. Raises InvalidRequest in the real one's words."""
        canonical = thread_id_of(thread_id)
        thread = self._threads.get(canonical)
        if thread is None:
            raise InvalidRequest(f"thread not found: {canonical}")
        return thread

    def subscribed(self, thread_id: str, connection: int) -> Thread:
        """A loaded thread that this connection listens to. Raises InvalidRequest."""
        canonical = thread_id_of(thread_id)
        thread = self._threads.get(canonical)
        if thread is None or not thread.heard_by(connection):
            raise InvalidRequest(f"connection is not subscribed to thread '{canonical}'")
        return thread

    def config_of(self, thread_id: str) -> Loaded:
        """See `core.seams.ThreadConfigs`."""
        return self.get(thread_id).loaded

    def loaded_list(self, params: ThreadLoadedListParams) -> ThreadLoadedListResult:
        """Ids of all threads, ascending. Raises InvalidRequest for a cursor that is no id."""
        from core.protocol.threads import ThreadLoadedListResult

        ids = sorted(self._threads)
        if params.cursor is not None and ids:
            try:
                after = thread_id_of(params.cursor)
            except InvalidRequest:
                raise InvalidRequest(f"invalid cursor: {params.cursor}") from None
            ids = [each for each in ids if each > after]
        size = len(ids) if params.limit is None else max(1, params.limit)
        page = ids[:size]
        more = len(ids) > size
        return ThreadLoadedListResult(data=page, next_cursor=page[-1] if more else None)

    # -- starting and ending

    async def start(self, params: ThreadStartParams, scope: RequestScope) -> ThreadStartResult:
        """thread/start.

        The answer, `thread/started` and the startup states come in this order. Required servers
        are waited for; when one fails there is no thread, and nothing is told of it.

        Raises:
            InvalidRequest: The configuration is refused.
            InternalError: Required servers failed.
        """
        from core.protocol.threads import ThreadStarted

        cwd = _directory(self._deps.cwd, params.cwd)
        overrides = _overrides(params)
        policy = scope.caller.policy
        reading = await self.source.read(cwd, overrides)
        if policy.strict_config:
            strict(reading.loaded, "thread")
        settings = settings_of(Wishes.of(params), reading.loaded, str(cwd))
        thread = self._thread(scope.caller, settings, reading, overrides)
        thread.subscribe(scope)
        required = [spec.name for spec in reading.specs if spec.required and spec.usable]
        if required:
            await self._start_required(thread, reading, required)
        self._threads[thread.id] = thread
        self._publish()
        info = thread.info(
            now=self._deps.clock.now(), version=self._version, originator=scope.caller.name
        )

        def begin() -> None:
            scope.notify("thread/started", ThreadStarted(thread=info))
            thread.release()
            if not required:
                thread.runtime.start(reading.specs)

        scope.after_answer(begin)
        return settings.result(info)

    async def _start_required(self, thread: Thread, reading: Reading, names: list[str]) -> None:
        runtime = thread.runtime
        try:
            runtime.start(reading.specs)
            for name in names:
                await runtime.connections[name].settled()
        except BaseException:
            runtime.stop()
            raise
        failed = {name: runtime.connections[name].failure for name in names}
        told = [f"{name}: {why.wire}" for name, why in failed.items() if why is not None]
        if told:
            await runtime.aclose()
            raise InternalError(
                "error creating thread: Fatal error: Failed to initialize session: "
                f"required MCP servers failed to initialize: {'; '.join(told)}"
            )

    def _thread(
        self,
        caller: Caller,
        settings: Settings,
        reading: Reading,
        overrides: Mapping[str, Any] | None,
    ) -> Thread:
        thread = Thread(
            new_id(self._deps.clock.now()),
            cwd=Path(settings.cwd),
            policy=caller.policy,
            settings=settings,
            loaded=reading.loaded,
            overrides=overrides,
        )
        around = self.surroundings(thread, self.opening(caller, threaded=True), asker=thread)
        thread.runtime = McpRuntime(around, self.tasks)
        return thread

    def surroundings(
        self, thread: Thread, opening: Opening, *, asker: Asker, **more: Any
    ) -> Surroundings:
        """What the connections of a thread share."""
        facts: dict[str, Any] = {
            "changed": _unwatched,
            "approvals": thread.settings.approvals,
            "sandboxing": Sandboxing(
                permissions=partial(permissions_of, thread), launcher=self._launcher
            ),
            **more,
        }
        return Surroundings(
            thread_id=thread.id,
            opening=opening,
            clock=self._deps.clock,
            told=thread.told,
            asker=asker,
            **facts,
        )

    def opening(self, caller: Caller, *, threaded: bool) -> Opening:
        """How sessions are opened on behalf of a client."""
        links = self._links(self.plumbing, caller.policy, caller.capabilities)
        return Opening(maker=links, policy=caller.policy, slots=self.slots, threaded=threaded)

    def adopt(self, thread: Thread) -> None:
        """Take in a thread that was made elsewhere: the panel's own."""
        self._threads[thread.id] = thread
        self._publish()

    async def archive(self, thread_id: str, scope: RequestScope) -> None:
        """Unload a thread; its starts under way are told as `cancelled`.

        Raises:
            InvalidRequest: There is no such thread, or nothing of it is kept.
        """
        from core.protocol.threads import ThreadArchived, ThreadStatusChanged

        canonical = thread_id_of(thread_id)
        thread = self._threads.get(canonical)
        if thread is None or thread.settings.ephemeral or thread.mine:
            raise InvalidRequest(f"no rollout found for thread id {canonical}")
        del self._threads[canonical]
        thread.runtime.stop()
        thread.notify(STATUS, ThreadStatusChanged(thread_id=canonical, status=_NOT_LOADED))
        self._publish()
        archived = ThreadArchived(thread_id=canonical)
        scope.after_answer(lambda: thread.notify("thread/archived", archived))

    def signed_in(self, thread_id: str, name: str) -> None:
        """Credentials of a thread's server were stored: start it anew with them."""
        self.get(thread_id).runtime.reconnect(name)

    def credentials_changed(self, name: str, url: str) -> None:
        """Others are stored for a server: threads that follow the files start it anew when it is
        next asked for.
        """
        for thread in self._threads.values():
            spec = thread.runtime.specs.get(name) if thread.policy.follow_config else None
            if spec is not None and spec.url == url and not thread.mine:
                thread.runtime.invalidate(name)

    def unsubscribe(self, thread_id: str, connection: int) -> str:
        """`notLoaded`, `notSubscribed` or `unsubscribed`; the thread stays loaded."""
        thread = self._threads.get(thread_id_of(thread_id))
        if thread is None:
            return "notLoaded"
        return "unsubscribed" if thread.unsubscribe(connection) else "notSubscribed"

    def connection_closed(self, connection: int) -> None:
        """A client has gone; its threads stay loaded."""
        for thread in self._threads.values():
            thread.unsubscribe(connection)

    # -- the configuration

    async def reload(self, scope: RequestScope) -> None:
        """config/mcpServer/reload: read everything anew, then let all threads have it.

        Raises:
            InternalError: The configuration is refused; all servers keep running, and those that
                are ready are told so once more.
        """
        threads = list(self._threads.values())
        try:
            readings = [await self._read_strictly(thread) for thread in threads]
        except CoreError:
            for thread in threads:
                thread.runtime.announce()
            raise
        if not threads and scope.caller.policy.strict_config:
            loaded = await self.source.loaded()
            found = refusal(loaded)
            if found is not None and found.reading:
                raise wire_error(found, loaded, "refresh")

        def apply() -> None:
            for thread, reading in zip(threads, readings, strict=True):
                if self._threads.get(thread.id) is thread:
                    thread.loaded = reading.loaded
                    thread.runtime.reload(reading.specs)
            self._publish()

        scope.after_answer(apply)

    async def _read_strictly(self, thread: Thread) -> Reading:
        reading = await self.reading_of(thread)
        if thread.policy.strict_config:
            strict(reading.loaded, "refresh")
        return reading

    async def reading_of(self, thread: Thread) -> Reading:
        """The files as they are now, for a thread."""
        return await self.source.read(thread.cwd, thread.overrides)

    def publish_rows(self) -> None:
        """The configuration of a thread has changed, and with it perhaps its trust."""
        self._publish()

    def _publish(self) -> None:
        rows = [self._threads[key].row() for key in sorted(self._threads)]
        self.rows.publish(self.rows.begin(), rows, at=self._deps.clock.now())


def _unwatched(connection: Connection) -> None:
    """Nobody looks at the states of this thread."""


_NOT_LOADED: dict[str, Any] = {"type": "notLoaded"}


def _directory(base: Path, wanted: str | None) -> Path:
    """A relative directory is taken from ours; it need not exist."""
    return Path(os.path.normpath(os.path.join(base, wanted or "")))


def _overrides(params: ThreadStartParams) -> Mapping[str, Any] | None:
    """The thread's own configuration; a provider that does not exist is refused with it."""
    own = dict(params.config or {})
    if params.model_provider is not None:
        own["model_provider"] = params.model_provider
    return own or None
