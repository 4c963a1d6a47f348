"""One server of a thread: a single task owns its session, for life and through all its lives."""

from __future__ import annotations

import logging
import random
from collections import deque
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    HttpFailed,
    Incoming,
    ServerHello,
    Session,
    SessionClosed,
)
from core.mcp.faults import StartFailed, ending, said_by
from core.mcp.followed import tell_followed
from core.mcp.incoming import ServerSide
from core.mcp.inventory import Listing
from core.mcp.lists import Lists, changed_by
from core.mcp.opening import Opened
from core.mcp.sandbox import lack
from core.mcp.spec import ServerSpec
from core.mcp.surroundings import Past, Surroundings, Told
from core.protocol.events import ServerHappened
from core.protocol.rows import ServerStatus

HISTORY = 50
LATENCIES = 40
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STEADY = 10.0
"""Seconds that a connection must have lasted for the next failure to count as the first."""
CRASHES = 5
"""Tries after which a program that keeps dying in its handshake is left alone."""
PING_DEADLINE = 10.0
_GONE = frozenset({401, 404, 410, 502, 503, 504})
_log = logging.getLogger(__name__)


@dataclass
class _Life:
    """What is known of the present session."""

    opening: Session | None = None
    session: Session | None = None
    hello: ServerHello | None = None
    lists: Lists | None = None
    failed: StartFailed | None = None
    ended: CloseReason | None = None
    up_since: float | None = None
    barren: set[str] = field(default_factory=set[str])
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=LATENCIES))


class Connection:
    """A server of a thread. `run` is its task; everything else may be called from any task.

    A connection is started once; `retry` begins a new life, `park` ends the present one and
    waits for `retry`, `stop` ends it for good.

    Attributes:
        status, reason, since, limit: As in `ServerRow`.
        configured: False when it runs although no file names it any more.
        history: The last `HISTORY` states, oldest first.
        followed: URIs of resources whose changes are told.
    """

    def __init__(
        self, spec: ServerSpec, around: Surroundings, history: deque[Past] | None = None
    ) -> None:
        self.spec = spec
        self.configured = True
        self.status: ServerStatus = "notStarted"
        self.reason = ""
        self.since = around.clock.now()
        self.limit: float | None = None
        self.history: deque[Past] = deque(history or (), maxlen=HISTORY)
        self.followed: set[str] = set()
        self._around = around
        self._life = _Life()
        self._tries = 0
        self._was_up = False
        self._parked = False
        self._prepared = False
        self._stopped = False
        self._scope = anyio.CancelScope()
        self._life_scope: anyio.CancelScope | None = None
        self._wake = anyio.Event()
        self._moved = anyio.Event()
        self.finished = anyio.Event()

    # -- what others see

    @property
    def hello(self) -> ServerHello | None:
        """What the server last said of itself."""
        return self._life.hello

    @property
    def failure(self) -> StartFailed | None:
        """Why the last start failed; None when it did not."""
        return self._life.failed

    @property
    def ended(self) -> CloseReason | None:
        """How a connection that had come to be has ended."""
        return self._life.ended

    @property
    def live(self) -> bool:
        """A session is open and has listed its tools."""
        return self.status == "connected"

    @property
    def session(self) -> Session | None:
        """Of the present life, open or closed."""
        return self._life.session

    @property
    def tail(self) -> tuple[str, ...]:
        """What the present life has said beside the protocol so far, its start included."""
        session = self._life.session or self._life.opening
        return session.tail if session is not None else ()

    @property
    def latencies(self) -> tuple[float, ...]:
        """Milliseconds that the last answers took, oldest first."""
        return tuple(self._life.latencies)

    @property
    def barren(self) -> set[str]:
        """Methods that list nothing in the present life, and were not promised to."""
        return self._life.barren

    @property
    def lack(self) -> str:
        """What keeps its tools from working although it is connected, for people; or ""."""
        return lack(self, self._around.sandboxing)

    def listing(self, name: str) -> Listing | None:
        """`tools`, `resources`, `templates` or `prompts` as last read; None = not read."""
        return self._life.lists.get(name) if self._life.lists is not None else None

    async def settled(self) -> None:
        """Wait until a start that is under way has come to an end, good or bad."""
        while self.status == "starting" and not self._stopped:
            await self._moved.wait()

    async def listed(self) -> None:
        """Wait until lists that are being read anew have come, or the session has gone."""
        lists = self._life.lists
        while lists is not None and self.live and not self._stopped and lists.reading:
            await self._moved.wait()

    async def usable(self) -> Session:
        """The session, after waiting for a start that is under way.

        Raises:
            SessionClosed: It was up and is gone.
            StartFailed: It could not be started.
        """
        await self.settled()
        life = self._life
        if life.ended is not None:
            raise SessionClosed(life.ended)
        if life.failed is not None:
            raise life.failed
        if life.session is None or not self.live:
            raise SessionClosed(CloseReason())
        return life.session

    # -- commands

    def retry(self, spec: ServerSpec | None = None) -> None:
        """Start anew, with `spec` from now on; what is there ends first, tries count from one.

        A start that is under way is told as `cancelled`, the new one as `starting`, at once.
        """
        if self._stopped:
            return
        if self.status == "starting":
            self._become("cancelled", told=Told(spec=self.spec, status="cancelled"))
        self.spec = spec or self.spec
        self._parked = self._was_up = False
        self._tries = 0
        if self._life_scope is not None:
            self._life_scope.cancel()
        self._wake.set()
        self.prepare()

    def park(self) -> None:
        """End the present life, or give up waiting, and stay `cancelled` until `retry`."""
        self._parked = True
        if self._life_scope is not None:
            self._life_scope.cancel()
        self._wake.set()

    def stop(self) -> None:
        """End for good. A start that is under way is told as `cancelled` before this returns."""
        if self._stopped:
            return
        if self.status == "starting":
            self._become("cancelled", told=Told(spec=self.spec, status="cancelled"))
        self._stopped = True
        self._moved.set()
        self._scope.cancel()

    def announce(self) -> None:
        """Tell `ready` once more, when it is."""
        if self.live:
            self._around.told(Told(spec=self.spec, status="ready"))

    def adopt(self, spec: ServerSpec) -> None:
        """Take over an entry whose connection is the same: filters, limits, place in the file."""
        self.spec = spec
        self._around.changed(self)

    def relist(self, *names: str) -> None:
        """Read lists of a live server anew, all when none is named."""
        if self._life.lists is not None:
            self._life.lists.stale(*names)

    # -- the task

    def prepare(self) -> None:
        """Become `starting`, before the task runs: so that all servers of a thread say it first."""
        self._prepared = True
        self._become(
            "starting",
            limit=self.spec.start_timeout,
            told=Told(spec=self.spec, status="starting"),
        )

    async def run(self) -> None:
        """Own the session until `stop`. `prepare` has been called."""
        try:
            with self._scope:
                await self._live()
        except Exception:
            # The task's boundary: one server must not take the others down.
            _log.exception("MCP server %s", self.spec.name)
        finally:
            self._stopped = True
            self.finished.set()
            self._moved.set()

    async def _live(self) -> None:
        while True:
            if not self._parked:
                if not self._prepared:
                    self.prepare()
                self._prepared = False
                self._wake = anyio.Event()
                await self._live_once()
            await self._pause()

    async def _live_once(self) -> None:
        self._life = _Life()
        with anyio.CancelScope() as self._life_scope:
            side = ServerSide(
                name=self.spec.name,
                environment_id=self.spec.environment_id,
                approvals=self._around.approvals,
                asker=self._around.asker,
                heard=self._heard,
            )
            try:
                await self._around.opening.run(
                    self.spec, side, self._serve, greeted=self._greeted, begun=self._begun
                )
            except StartFailed as failed:
                self._fail(failed)
            except CoreError as error:
                self._fail(StartFailed(error.message))
            except Exception:
                _log.exception("MCP server %s", self.spec.name)
                self._fail(StartFailed("internal error", "internal error; see the log"))
        self._life_scope = None

    def _begun(self, session: Session) -> None:
        self._life.opening = session

    def _greeted(self, hello: ServerHello) -> None:
        self._life.hello = hello

    async def _serve(self, opened: Opened, tasks: TaskGroup) -> None:
        life = self._life
        life.session, life.hello = opened.session, opened.hello
        life.lists = Lists(opened.tools, self._around.clock, self._relisted)
        life.latencies.append(round(opened.ms, 1))
        life.up_since = anyio.current_time()
        self._was_up = True
        self._become("connected", told=Told(spec=self.spec, status="ready"), ms=opened.ms)
        policy = self._around.opening.policy
        tasks.start_soon(life.lists.keep, opened.session, opened.hello, self.spec.tool_timeout)
        if policy.negotiate:
            self.relist("resources", "templates", "prompts")
        if policy.reconnect and self.spec.url and self._around.ping_every > 0:
            tasks.start_soon(self._ping, opened.session)
        self._end(await opened.session.closed())

    def _relisted(self) -> None:
        self._stir()
        self._around.changed(self)

    def _stir(self) -> None:
        """Wake those who wait for a state or a list."""
        self._moved.set()
        self._moved = anyio.Event()

    def _heard(self, message: Incoming) -> None:
        tell_followed(self.followed, message, self.spec.name, self._around)
        stale = changed_by(message.method)
        if stale and self._around.opening.policy.obey_list_changed:
            self.relist(*stale)
            self._happened("listChanged", message.method)

    async def _ping(self, session: Session) -> None:
        """See that an HTTP server is still there: its silence looks the same as its death."""
        missed = 0
        while True:
            await self._around.clock.sleep(self._around.ping_every)
            began = anyio.current_time()
            try:
                await session.request("ping", None, deadline=PING_DEADLINE)
            except DeadlinePassed as error:
                missed += 1
                if missed > 1:
                    self._give_up(CloseReason(text=said_by(error, "ping")))
                continue
            except (HttpFailed, SessionClosed) as error:
                if isinstance(error, SessionClosed) or _is_gone(error.reason):
                    self._give_up(error.reason)
                    return
            except CoreError as error:
                _log.debug("ping of %s: %s", self.spec.name, error)
            missed = 0
            self._life.latencies.append(round((anyio.current_time() - began) * 1000, 1))
            self._around.changed(self)

    def _give_up(self, reason: CloseReason) -> None:
        """Let a session go that no longer answers."""
        if self._life.ended is None:
            self._end(reason)
        if self._life_scope is not None:
            self._life_scope.cancel()

    # -- states

    def _fail(self, failed: StartFailed) -> None:
        life = self._life
        life.failed = failed
        life.hello = life.hello or failed.hello
        self._tries += 1
        status: ServerStatus = "authenticationRequired" if failed.auth else "failed"
        told = Told(spec=self.spec, status="failed", failed=failed)
        self._become(status, reason=failed.reason, told=told)

    def _end(self, reason: CloseReason) -> None:
        """The session is gone after it had been up."""
        life = self._life
        if life.ended is not None:
            return
        life.ended = reason
        lasted = anyio.current_time() - (life.up_since or 0.0)
        self._tries = 1 if lasted >= STEADY else self._tries + 1
        challenged = reason.http_status == 401
        self._become("authenticationRequired" if challenged else "failed", reason=ending(reason))
        self._happened("ended", self.reason)

    async def _pause(self) -> None:
        """Between two lives: until it is time for the next try, or until somebody says so."""
        while self._parked or not self._wake.is_set():
            if self._parked:
                self._wake = anyio.Event()
                self._become("cancelled")
                await self._sleep(None)
                continue
            pause = self._next_pause()
            if pause is not None:
                reason = f"{self.reason}; try {self._tries + 1} in {pause:g} s"
                self._become("waiting", reason=reason, limit=pause)
                self._happened("reconnecting", reason)
            if not await self._sleep(pause):
                break

    async def _sleep(self, seconds: float | None) -> bool:
        """True when woken, False when the time is over. None = until woken."""
        async with anyio.create_task_group() as tasks:
            if seconds is not None:

                async def alarm() -> None:
                    jitter = random.uniform(0, seconds / 10) if self.spec.url else 0.0
                    await self._around.clock.sleep(seconds + jitter)
                    tasks.cancel_scope.cancel()

                tasks.start_soon(alarm)
            await self._wake.wait()
            tasks.cancel_scope.cancel()
        return self._wake.is_set()

    def _next_pause(self) -> float | None:
        """Seconds until the next try; None when only somebody else can help."""
        if not self._around.opening.policy.reconnect or self.status == "authenticationRequired":
            return None
        failed, ended = self._life.failed, self._life.ended
        if failed is not None and not failed.passing:
            died = failed.ended is not None and failed.ended.exit_code is not None
            if not (self._was_up and died and self._tries < CRASHES):
                return None
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._tries - 1, 10))
        reason = failed.ended if failed is not None else ended
        asked = reason.retry_after if reason is not None else None
        return max(pause, min(asked or 0.0, LONGEST_PAUSE))

    def _become(
        self,
        status: ServerStatus,
        *,
        reason: str = "",
        limit: float | None = None,
        told: Told | None = None,
        ms: float | None = None,
    ) -> None:
        if self._stopped:
            return
        self.status, self.reason, self.limit = status, reason, limit
        self.since = self._around.clock.now()
        self.history.append(Past(status=status, reason=reason, at=self.since))
        self._stir()
        if told is not None:
            self._around.told(told)
            self._happened(told.status, reason, ms)
        self._around.changed(self)

    def _happened(self, what: str, text: str = "", ms: float | None = None) -> None:
        if self._around.emit is not None:
            self._around.emit(
                ServerHappened(
                    at=self._around.clock.now(),
                    thread_id=self._around.thread_id,
                    name=self.spec.name,
                    what=what,
                    text=self.spec.secrets.mask(text),
                    ms=None if ms is None else round(ms, 1),
                )
            )


def _is_gone(reason: CloseReason) -> bool:
    """A refused ping means that there is no server, or no session, any more.

    Anything else was said by a server that is there and does not know pings.
    """
    return reason.errno is not None or reason.http_status in _GONE
