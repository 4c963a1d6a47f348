"""From a server's entry to a session that has shaken hands and listed its tools, and its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import anyio
from anyio.abc import TaskGroup

from core.errors import CoreError, PeerError
from core.mcp import shapes
from core.mcp.client.session import DeadlinePassed, HttpFailed, ServerHello, Session, SessionClosed
from core.mcp.faults import StartFailed, handshake_failed, listing_failed, twice
from core.mcp.incoming import ServerSide
from core.mcp.inventory import TOOLS, Listing, read_list
from core.mcp.slots import HandshakeSlots
from core.mcp.spec import ServerSpec
from core.net.challenge import missing_scopes
from core.threads.policy import ThreadPolicy

T = TypeVar("T")


class SessionMaker(Protocol):
    """Makes sessions that are not open yet, with everything that authorises them."""

    def session(self, spec: ServerSpec, *, threaded: bool) -> AbstractAsyncContextManager[Session]:
        """For one attempt; the session ends with the block, however that takes its end.

        Args:
            threaded: It belongs to a thread, which servers are told.

        Raises:
            StartFailed: On entering: a variable is not set, the headers helper failed …
        """
        ...

    async def credentials(self, spec: ServerSpec) -> str:
        """What is stored for this server: `oAuth`, `notLoggedIn`, `none` or `unknown`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A session that has started. `ms`: what the handshake took."""

    session: Session
    hello: ServerHello
    tools: Listing
    ms: float


Body = Callable[[Opened, TaskGroup], Awaitable[T]]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """How sessions of one thread, or of requests without one, are opened.

    Attributes:
        watch: Wraps each session, to see what passes through it.
        refusal: Why a server may not be started or contacted at all, or "". Nothing gets past
            it, whoever asks for the server.
    """

    maker: SessionMaker
    policy: ThreadPolicy
    slots: HandshakeSlots
    threaded: bool
    watch: Callable[[ServerSpec, Session], Session] = lambda spec, session: session
    refusal: Callable[[ServerSpec], str] = lambda spec: ""

    async def run(
        self,
        spec: ServerSpec,
        side: ServerSide,
        body: Body[T],
        *,
        greeted: Callable[[ServerHello], None] = lambda hello: None,
        begun: Callable[[Session], None] = lambda session: None,
    ) -> T:
        """Open a session, list its tools, run `body` on it, and end it in any case.

        Args:
            side: Answers what the server asks meanwhile.
            body: Gets a task group for what is to end with the session.
            greeted: Called between the handshake and the listing.
            begun: Called before the handshake.

        Raises:
            StartFailed: The session did not come to be.
            CoreError: What `body` raises.
        """
        if refused := self.refusal(spec):
            raise StartFailed(refused)
        if spec.start_fault:
            raise StartFailed(spec.start_fault)
        attempt = _Attempt(self, spec, side, body, greeted, begun)
        await attempt.run()
        if attempt.failed is None:
            return attempt.values[0]
        if isinstance(attempt.failed, StartFailed):
            await self._judge(spec, attempt.failed, attempt.authorizing)
        raise attempt.failed

    async def _judge(self, spec: ServerSpec, failed: StartFailed, authorizing: bool) -> None:
        """Whether a new sign-in would mend it."""
        if failed.auth == "login":
            stored = await self.maker.credentials(spec)
            failed.auth = "again" if stored in ("oAuth", "notLoggedIn") else "login"
        elif self._lacks(failed):
            failed.auth, failed.passing = "again", False
        elif authorizing:
            useless = await self.maker.credentials(spec) == "notLoggedIn"
            failed.auth, failed.passing = ("again", False) if useless else ("", True)

    def _lacks(self, failed: StartFailed) -> bool:
        """The server takes the token, and wants more than was granted."""
        ended = failed.ended
        if ended is None or not self.policy.negotiate:
            return False
        return missing_scopes(ended.http_status, ended.challenge) is not None


class _Attempt(Generic[T]):
    """One session. Its outcome is carried out by hand: task groups on the way would wrap errors."""

    def __init__(
        self,
        opening: Opening,
        spec: ServerSpec,
        side: ServerSide,
        body: Body[T],
        greeted: Callable[[ServerHello], None],
        begun: Callable[[Session], None],
    ) -> None:
        self._opening, self._spec, self._side = opening, spec, side
        self._body, self._greeted, self._begun = body, greeted, begun
        self.values: list[T] = []
        self.failed: CoreError | None = None
        self.authorizing = False

    async def run(self) -> None:
        opening = self._opening
        try:
            async with opening.maker.session(self._spec, threaded=opening.threaded) as session:
                watched = opening.watch(self._spec, session)
                self._begun(watched)
                await self._open(watched)
        except StartFailed as failed:
            self.failed = failed

    async def _open(self, session: Session) -> None:
        spec = self._spec
        began = anyio.current_time()
        try:
            hello = await self._shake(session)
        except CoreError as error:
            known = HttpFailed | SessionClosed | DeadlinePassed | PeerError | StartFailed
            self.authorizing = bool(spec.url) and not isinstance(error, known)
            self.failed = handshake_failed(error, url=spec.url, limit=spec.start_timeout)
            return
        ms = (anyio.current_time() - began) * 1000
        self._greeted(hello)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._side.serve, session)
            try:
                tools = await self._list(session, hello)
                opened = Opened(session=session, hello=hello, tools=tools, ms=ms)
                self.values.append(await self._body(opened, tasks))
            except CoreError as error:
                self.failed = error
            tasks.cancel_scope.cancel()

    async def _shake(self, session: Session) -> ServerHello:
        deadline = self._spec.start_timeout
        if self._spec.url:
            async with self._opening.slots.taken():
                hello = await session.open(deadline=deadline)
        else:
            hello = await session.open(deadline=deadline)
        if not self._opening.policy.negotiate:
            try:
                shapes.server_info(hello.server_info)
                shapes.capabilities(hello.capabilities)
            except shapes.Malformed as fault:
                wire = twice("expect initialized result")
                raise StartFailed(wire, f"its answer to initialize: {fault.message}") from None
        return hello

    async def _list(self, session: Session, hello: ServerHello) -> Listing:
        """The first tools/list: always and strictly, or as the server's capabilities say."""
        able, spec = hello.capabilities, self._spec
        negotiate = self._opening.policy.negotiate
        if negotiate and "tools" not in able and able.keys() & {"resources", "prompts"}:
            return Listing()
        try:
            return await read_list(
                session.request,
                TOOLS,
                deadline=spec.start_timeout,
                tolerant=negotiate,
                refusable=negotiate and "tools" not in able,
            )
        except CoreError as error:
            raise listing_failed(error, hello) from None
