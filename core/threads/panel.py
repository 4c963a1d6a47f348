"""The panel's own thread: its servers wait for a yes, follow the files and are watched."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from core.errors import InvalidRequest
from core.mcp.auth_status import AuthJudge
from core.mcp.board import ServerBoard
from core.mcp.client.session import Session
from core.mcp.connection import Connection
from core.mcp.detail import server_detail, tool_detail
from core.mcp.effective import Reading
from core.mcp.elicitation import Approvals
from core.mcp.opening import Opening
from core.mcp.runtime import McpRuntime
from core.mcp.spec import Endpoint, ServerSpec
from core.mcp.traffic import Recorded
from core.mcp.traffic_log import TrafficLog
from core.ports import Deps
from core.protocol.events import ConsentRequested, Event
from core.protocol.facts import Problem
from core.protocol.jackfield import ConsentItem
from core.protocol.rows import Domain
from core.scope import Caller
from core.threads.consent import Consent, ConsentStore
from core.threads.desk import Desk
from core.threads.ids import new_id
from core.threads.judging import Judging
from core.threads.manager import ThreadManager
from core.threads.overhearing import Overhearing
from core.threads.policy import PANEL
from core.threads.rereading import Rereading
from core.threads.settings import Wishes, settings_of
from core.threads.thread import Thread

PING_EVERY = 30.0
_WANTS_RECONNECT = frozenset({"failed", "waiting", "authenticationRequired"})
_TELLING = frozenset({"connected", "authenticationRequired", "failed"})

_log = logging.getLogger(__name__)


class Panel:
    """One per core. `open` starts it; before that there is nothing to see.

    Args:
        board: Its lists; published to as servers answer.
        ping_every: Seconds between two looks at an HTTP server.
        traffic: Where what servers write beside the protocol is kept.
    """

    def __init__(
        self,
        deps: Deps,
        manager: ThreadManager,
        board: ServerBoard,
        judge: AuthJudge,
        emit: Callable[[Event], None],
        *,
        version: str,
        ping_every: float = PING_EVERY,
        traffic: TrafficLog | None = None,
    ) -> None:
        self._deps, self._manager, self._board = deps, manager, board
        self._emit = emit
        self._judging = Judging(judge, board, lambda: self._runtime().specs)
        self._ping_every = ping_every
        traffic = traffic or TrafficLog(deps.clock)
        self._overhearing = Overhearing(board, traffic, deps.clock, emit)
        self._caller = Caller(policy=PANEL, version=version)
        self._store = ConsentStore(deps.state_dir, deps.clock)
        self.consent = Consent(self._store)
        self.desk = Desk(emit, deps.clock)
        self.problems: tuple[Problem, ...] = ()
        self.thread: Thread | None = None
        self._only: frozenset[str] | None = None
        self._turn = anyio.Lock()
        self._numbers = count(1)
        self._asked: frozenset[str] = frozenset()
        self._statuses: dict[str, str] = {}

    @property
    def caller(self) -> Caller:
        """On whose behalf servers are contacted."""
        return self._caller

    async def open(self, *, consent_all: bool = False, only: Iterable[str] | None = None) -> Thread:
        """Make the thread and start what was agreed to; the same thread when asked again.

        Args:
            consent_all: Everything counts as agreed to, but for untrusted folders.
            only: No server but these is started; None = all.
        """
        async with self._turn:
            if self.thread is not None:
                return self.thread
            await self._store.load()
            self.consent.everything = consent_all
            self._only = None if only is None else frozenset(only)
            cwd = self._deps.cwd
            # The account may lie in a keyring that is slow to answer; the first rows do not wait.
            reading = await self._manager.source.read(cwd, account=False)
            self.thread = self._make(cwd, reading)
            self._manager.adopt(self.thread)
            self._manager.tasks.start_soon(self._judging.run)
            self._manager.tasks.start_soon(self._overhearing.keep, self.thread)
            self._manager.tasks.start_soon(self._look_again)
            told, names = self._rereading(), self._startable(reading)
            with told.begun(names, forced=False):
                self._took(reading)
                self.thread.runtime.start(reading.specs)
            self._manager.tasks.start_soon(self._hear, told, names)
            self._ask()
            return self.thread

    def _startable(self, reading: Reading) -> list[str]:
        return [spec.name for spec in reading.specs if spec.usable and not self._holds(spec)]

    async def _look_again(self) -> None:
        try:
            await self.follow()
        except Exception:
            # The boundary of a background task: it must not take the panel down.
            _log.exception("the servers of the account")

    def _make(self, cwd: Path, reading: Reading) -> Thread:
        thread = Thread(
            new_id(self._deps.clock.now()),
            cwd=cwd,
            policy=PANEL,
            settings=settings_of(Wishes(), reading.loaded, str(cwd)),
            loaded=reading.loaded,
            mine=True,
        )
        thread.release()
        around = self._manager.surroundings(
            thread,
            self.opening(threaded=True),
            asker=self.desk,
            approvals=Approvals(),  # the person is here, whatever turns are allowed to ask
            changed=self._changed,
            emit=self._emit,
            ping_every=self._ping_every,
        )
        thread.runtime = McpRuntime(
            around, self._manager.tasks, held=self._holds, applied=self._applied
        )
        self._board.runtime = thread.runtime
        self._board.hold = self._hold_reason
        return thread

    def opening(self, *, threaded: bool) -> Opening:
        """For the panel's connections; nothing is contacted that was not agreed to."""
        opening = self._manager.opening(self._caller, threaded=threaded)
        return Opening(
            maker=opening.maker,
            policy=opening.policy,
            slots=opening.slots,
            threaded=threaded,
            watch=self._recorded,
            refusal=self._refusal,
        )

    def _recorded(self, spec: ServerSpec, session: Session) -> Session:
        self._overhearing.log.watch(spec)
        return Recorded(session, spec, self._emit, self._deps.clock)

    # -- what the files say

    async def follow(self) -> None:
        """The files, the plugins or the account have changed."""
        async with self._turn:
            if self.thread is not None:
                self._apply(self.thread, await self._manager.reading_of(self.thread))

    def _apply(self, thread: Thread, reading: Reading) -> None:
        self._took(reading)
        thread.runtime.follow(reading.specs)
        self._ask()

    async def refresh(
        self,
        refresh_id: str,
        *,
        forced: bool = False,
        names: Sequence[str] | None = None,
        domain: Domain = "servers",
    ) -> None:
        """Read everything anew; forced, ask the servers too and start those that failed.

        Args:
            names: Servers, or rows of the inventory; None = all.
            domain: Whose list was asked for.

        Emits: The refresh events of `servers` and `inventory`, each server a source of both, and
            the rows as they come.
        """
        told = self._rereading(refresh_id, domain)
        chosen: list[str] = []
        async with self._turn:
            if (thread := self.thread) is None:
                with told.begun((), forced=forced):
                    pass
            else:
                with told.reading_files():
                    reading = await self._manager.reading_of(thread)
                chosen = self._to_ask(thread.runtime, reading, names, forced=forced)
                with told.begun(chosen, forced=forced):
                    self._apply(thread, reading)
                    for name in chosen if forced else ():
                        self._renew(thread.runtime, name)
        await self._hear(told, chosen)

    def _to_ask(
        self,
        runtime: McpRuntime,
        reading: Reading,
        names: Sequence[str] | None,
        *,
        forced: bool,
    ) -> list[str]:
        """Who is waited for: all or the named ones; unforced, those that are being started."""
        tools = self._board.inventory.current.rows
        wanted = None if names is None else {tools[n].owner if n in tools else n for n in names}
        running = runtime.connections.items()
        asked = {name for name, each in running if forced or each.status == "starting"}
        asked |= set(self._startable(reading)) - runtime.connections.keys()
        return sorted(name for name in asked if wanted is None or name in wanted)

    async def _hear(self, told: Rereading, names: Sequence[str]) -> None:
        runtime = self.thread.runtime if self.thread is not None else None
        connections = [runtime.connection(name) for name in names] if runtime is not None else []
        await told.hear([each for each in connections if each is not None])

    def _rereading(self, refresh_id: str = "", domain: Domain = "servers") -> Rereading:
        own = refresh_id or f"servers-{next(self._numbers)}"
        return Rereading(self._board, self._deps.clock, self._emit, own, domain)

    def _renew(self, runtime: McpRuntime, name: str) -> None:
        connection = runtime.connection(name)
        if connection is None:
            return  # it is no longer to run
        if connection.live:
            connection.relist()
            self._judging.want([name], anew=True)
        elif connection.status != "starting":
            self._forget(connection.spec)
            runtime.reconnect(name)

    def _took(self, reading: Reading) -> None:
        if self.thread is None:
            return
        self.thread.loaded = reading.loaded
        self.problems = reading.problems
        self._manager.publish_rows()

    # -- consent

    def _holds(self, spec: ServerSpec) -> bool:
        if self._only is not None and spec.name not in self._only:
            return True
        if isinstance(spec.target, Endpoint) and spec.target.hosted:
            return False
        return PANEL.consent and self.consent.holds(spec)

    def _hold_reason(self, spec: ServerSpec) -> str | None:
        if self._only is not None and spec.name not in self._only:
            return "not asked for"
        return self.consent.reason(spec) if self._holds(spec) else None

    def _refusal(self, spec: ServerSpec) -> str:
        if not spec.usable:
            return spec.reason or spec.standing
        connection = self.thread.runtime.connection(spec.name) if self.thread else None
        if connection is not None and connection.spec is spec:
            return ""  # agreed to when it was started
        return "not agreed to yet" if self._holds(spec) else ""

    def consent_items(self) -> tuple[ConsentItem, ...]:
        """All programs and endpoints, those that wait for an answer first."""
        return self.consent.items(self._consentable())

    async def answer_consent(self, answers: Mapping[str, bool]) -> None:
        """Remember answers and start, or exchange, what has got its yes."""
        held = [spec for spec in self._consentable() if self._holds(spec)]
        await self.consent.answer(self._consentable(), answers)
        told, names = self._rereading(), [s.name for s in held if not self._holds(s)]
        with told.begun(names, forced=False):
            await self.follow()
        self._manager.tasks.start_soon(self._hear, told, names)

    def _consentable(self) -> list[ServerSpec]:
        specs = self.thread.runtime.specs.values() if self.thread is not None else ()
        return [s for s in specs if not (isinstance(s.target, Endpoint) and s.target.hosted)]

    def _ask(self) -> None:
        """Say it once when something new waits for a yes."""
        waiting = self.consent.waiting(self._consentable())
        if waiting - self._asked:
            self._emit(ConsentRequested(at=self._deps.clock.now(), count=len(waiting)))
        self._asked = waiting

    # -- commands

    def reconnect(self, names: Iterable[str] | None) -> None:
        """Start servers anew; None = all that have failed.

        Raises:
            InvalidRequest: A named one is unknown, or may not be started.
        """
        runtime = self._runtime()
        if names is None:
            names = [n for n, c in runtime.connections.items() if c.status in _WANTS_RECONNECT]
        for name in list(names):
            spec = runtime.specs.get(name)
            if spec is None and runtime.connection(name) is None:
                raise InvalidRequest(f"unknown MCP server '{name}'")
            if spec is not None:
                if refused := self._refusal(spec):
                    state = "" if spec.usable else f"{spec.standing}: "
                    raise InvalidRequest(f"{name} is not started, {state}{refused}")
                self._forget(spec)
            runtime.reconnect(name)

    def cancel(self, name: str) -> None:
        """Give up a start, or end a server. Raises InvalidRequest for one that does not run."""
        if not self._runtime().cancel(name):
            raise InvalidRequest(f"{name} is not running")

    def signed_in(self, name: str) -> None:
        """Credentials of a server were stored or removed: start it anew with them."""
        runtime = self.thread.runtime if self.thread is not None else None
        if runtime is not None and name in runtime.specs:
            self._forget(runtime.specs[name])
            runtime.reconnect(name)
            self._judging.want([name], anew=True)

    def refreshed(self, name: str) -> None:
        """Another program has refreshed the tokens of a server: the next request uses them."""
        connection = self.thread.runtime.connection(name) if self.thread is not None else None
        if connection is not None and not connection.live:
            self.signed_in(name)
        self.rejudge(name)

    def rejudge(self, name: str) -> None:
        """Something has become known of how a server is authorised."""
        if self.thread is not None:
            self._judging.want([name])

    async def detail(self, name: str) -> dict[str, Any]:
        """Everything known of a server. Raises InvalidRequest for an unknown one."""
        runtime = self._runtime()
        row = self._board.servers.current.rows.get(name)
        connection = runtime.connection(name)
        spec = runtime.specs.get(name) or (connection.spec if connection is not None else None)
        if row is None or spec is None:
            raise InvalidRequest(f"unknown MCP server '{name}'")
        detail = await anyio.to_thread.run_sync(
            server_detail, row, spec, connection, self._deps.environ
        )
        return {**detail, **self.consent.detail(spec)}

    def tool_detail(self, row_id: str) -> dict[str, Any] | None:
        """Of a row of the inventory; None when no server of ours has it."""
        row = self._board.inventory.current.rows.get(row_id)
        connection = self._runtime().connection(row.owner) if row is not None else None
        if row is None or connection is None:
            return None
        return tool_detail(row, connection.spec, connection)

    def _runtime(self) -> McpRuntime:
        if self.thread is None:
            raise InvalidRequest("the panel has not been started")
        return self.thread.runtime

    def _forget(self, spec: ServerSpec) -> None:
        """What was remembered about a server is to be asked again."""
        if isinstance(spec.target, Endpoint):
            self._judging.forget(spec.target.url)
            if spec.target.helper:
                helper = self._manager.plumbing.helper
                helper.forget(spec.target.helper, spec.target.helper_cwd)

    # -- watching

    def _applied(self) -> None:
        self._board.sync()
        # While a server is starting nothing else is asked of it.
        connections = self._runtime().connections
        self._judging.want(name for name, each in connections.items() if each.status in _TELLING)

    def _changed(self, connection: Connection) -> None:
        self._board.update(connection)
        name, status = connection.spec.name, connection.status
        if self._statuses.get(name) != status:
            self._statuses[name] = status
            if status in _TELLING:
                self._judging.want([name])
