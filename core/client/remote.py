"""The client of a core that runs elsewhere: over a command's stdin and stdout, or a socket."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import anyio
import msgspec
from anyio.abc import TaskGroup

from core.channels import EventHub, Subscription
from core.client.contract import Capabilities
from core.client.decoding import events_in, result_of
from core.client.peer import Peer
from core.client.wires import Opener, opener
from core.errors import CoreError, InvalidRequest, PeerError, Unavailable
from core.method_table import JACKFIELD_PANEL_START, JACKFIELD_SUBSCRIBE, METHODS
from core.methods import Method
from core.ports import Clock
from core.process import Processes
from core.protocol.events import Event
from core.protocol.jackfield import NoParams
from core.protocol.jackfield_wire import EVENTS, PANEL_ABILITY, SubscribeResult
from core.reaper import Reaper
from core.version import VERSION

log = logging.getLogger(__name__)

P = TypeVar("P")
R = TypeVar("R")

PATIENCE = 30.0
"""Seconds for a connection to stand: a machine far away may have to be woken."""


class _Session:
    """One connection and who listens on it."""

    def __init__(self) -> None:
        self.hub = EventHub()
        self.peer: Peer | None = None
        self.why = ""

    def told(self, method: str, params: bytes) -> None:
        if method != EVENTS:
            return
        try:
            events = events_in(params)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            self.missed()
            return
        for event in events:
            self.hub.emit(cast("Event", event))

    def missed(self) -> None:
        """Rows may be wrong now: let everybody read them anew."""
        self.hub.close(Unavailable("a part of what happened could not be read"))


class RemoteClient:
    """See `CoreClient`. Connects when it is first used, and again with each `subscribe`.

    What is asked while there is no connection fails at once, and what waits for an answer when
    the connection ends fails then, with `Unavailable`: nobody can know whether it was done.
    """

    def __init__(
        self, opener: Opener, tasks: TaskGroup, clock: Clock, *, read_only: bool = False
    ) -> None:
        self._opener, self._tasks, self._clock = opener, tasks, clock
        self._read_only = read_only
        self._turn = anyio.Lock()
        self._session: _Session | None = None
        self._lost = ""
        self._closed = False
        self._started: Any = None
        self.capabilities = self._offers(frozenset(METHODS), VERSION, read_only)

    async def call(self, method: Method[P, R], params: P) -> R:
        peer = await self._peer(again=False)
        if lacking := self.capabilities.lacks(method):
            raise Unavailable(lacking)
        body = await peer.ask(method.name, params)
        if method.name == JACKFIELD_PANEL_START.name:
            self._started = params
        return cast("R", result_of(method, params, body))

    @asynccontextmanager
    async def subscribe(self) -> AsyncGenerator[Subscription]:
        await self._peer(again=True)
        if (session := self._session) is None:
            raise self._gone()
        async with session.hub.subscribe() as subscription:
            yield subscription

    async def aclose(self) -> None:
        self._closed = True

    async def _peer(self, *, again: bool) -> Peer:
        async with self._turn:
            if self._closed:
                raise Unavailable("the session has ended")
            session = self._session
            if session is None:
                if self._lost and not again:
                    raise self._gone()
                session = await self._connect()
        if session.peer is None:
            raise self._gone()
        return session.peer

    def _gone(self) -> Unavailable:
        return Unavailable(f"no connection: {self._lost}", hint=f"tried: {self._opener.what}")

    async def _connect(self) -> _Session:
        session = _Session()
        try:
            with anyio.fail_after(PATIENCE):
                wire = await self._opener.open()
                session.peer = peer = Peer(wire, session.told, session.missed, self._clock.now)
                self._tasks.start_soon(self._run, session, peer)
                await self._introduce(peer)
            self._session, self._lost = session, ""
        except TimeoutError:
            self._lost = f"no answer within {PATIENCE:g}s"
            raise self._gone() from None
        except CoreError as error:
            self._lost = (session.peer.over if session.peer else "") or error.message
            raise self._gone() from None
        finally:
            if session.peer is not None and self._session is not session:
                session.peer.hang_up()
        if self._started is not None:
            self._tasks.start_soon(self._start_again, peer)
        return session

    async def _introduce(self, peer: Peer) -> None:
        """Say hello, and hear of everything from then on."""
        client = {"name": "jackfield", "title": "Jackfield", "version": VERSION}
        able = {"experimentalApi": True, PANEL_ABILITY: True}
        greeting = await peer.ask("initialize", {"clientInfo": client, "capabilities": able})
        peer.tell("initialized", {})
        try:
            body = await peer.ask(JACKFIELD_SUBSCRIBE.name, NoParams())
        except PeerError as error:
            raise InvalidRequest(
                f"{_name_in(greeting)} serves no Jackfield panel",
                hint="start `jackfield app-server` there",
            ) from error
        there: SubscribeResult = result_of(JACKFIELD_SUBSCRIBE, NoParams(), body)
        self.capabilities = self._offers(
            frozenset(there.methods), there.version, there.read_only or self._read_only
        )

    def _offers(self, methods: frozenset[str], version: str, read_only: bool) -> Capabilities:
        return Capabilities(
            methods=methods,
            name="jackfield",
            version=version,
            read_only=read_only,
            remote=not self._opener.near,
        )

    async def _run(self, session: _Session, peer: Peer) -> None:
        try:
            session.why = await peer.run()
        finally:
            if self._session is session:
                self._session = None
                self._lost = session.why or "the session has ended"
                log.info("the connection to %s is lost: %s", self._opener.what, self._lost)
            session.hub.close(self._gone() if session.why else None)

    async def _start_again(self, peer: Peer) -> None:
        """The other side is another process than before: its panel has to be started, too."""
        try:
            await peer.ask(JACKFIELD_PANEL_START.name, self._started)
        except CoreError as error:
            log.warning("the panel was not started again: %s", error.message)


def _name_in(greeting: bytes) -> str:
    class Hello(msgspec.Struct, rename="camel"):
        user_agent: str = ""

    try:
        agent = msgspec.json.decode(greeting, type=Hello).user_agent
    except (msgspec.MsgspecError, RecursionError):
        agent = ""
    version = agent.partition("/")[2].partition(" ")[0]
    return f"the app-server {version}".strip() if version else "the other side"


@asynccontextmanager
async def open_remote(
    target: str, environ: Mapping[str, str], clock: Clock, *, read_only: bool = False
) -> AsyncGenerator[RemoteClient]:
    """A client of the core that `target` names; leaving the block hangs up.

    Args:
        target: As `wires.opener`.

    Raises:
        ValueError: As `wires.opener`.
    """
    reaper = Reaper()
    processes = Processes(reaper)
    where = opener(target, processes, environ)
    try:
        async with anyio.create_task_group() as tasks:
            yield RemoteClient(where, tasks, clock, read_only=read_only)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await processes.aclose()
            reaper.close()
