"""One attempt to sign the account in: with a browser on this machine, or with a code elsewhere."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from uuid import uuid4

import anyio
import anyio.to_thread
from anyio.abc import SocketAttribute, SocketListener

from core.auth.account_issuer import AccountCode, AccountIssuer, AccountTokens, Grant
from core.auth.attempt import Proof, Stage
from core.auth.callback import DONE, INVALID, Arrival, Redirect
from core.auth.port_holder import port_holder
from core.errors import CoreError, InternalError
from core.ports import Clock

Way = Literal["browser", "device"]
PORTS = (1455, 1457)
"""Those that the issuer has registered for the redirect."""
TIMEOUTS: dict[Way, float] = {"browser": 600.0, "device": 900.0}
NOT_COMPLETED = "Login was not completed"
REPLACED = "Login cancelled"
_FAILED_PAGE = "The sign-in failed. You may close this window."
_PATH = "/auth/callback"

Run = Callable[[], Coroutine[Any, Any, None]]
"""What an attempt does beside waiting, until it is cancelled."""
Commit = Callable[[AccountTokens, bool], Awaitable[str]]
"""Stores tokens, with an API key where wanted; tells where."""


@dataclass(kw_only=True)
class AccountAttempt:
    """Lives until somebody came, it was cancelled, or time was up.

    Attributes:
        url: What the browser is to open, or the page where the code is typed in; the former holds
            `state`, so it is shown only when asked for.
        ends_at: Seconds since the epoch.
        store: Where the sign-in is kept, once it is done.
        error: The wire's words for its failure; `reason`: those for people.
        rejected: Why what came so far was not it.
        over: It has ended; `closed`: and its port is free.
    """

    way: Way
    ends_at: float
    commit: Commit = field(repr=False)
    id: str = field(default_factory=lambda: str(uuid4()))
    url: str = field(default="", repr=False)
    redirect: Redirect | None = None
    code: AccountCode | None = None
    proof: Proof = field(default_factory=Proof, repr=False)
    stage: Stage = "waiting"
    store: str = ""
    error: str = ""
    reason: str = ""
    rejected: str = ""
    over: anyio.Event = field(default_factory=anyio.Event, repr=False)
    closed: anyio.Event = field(default_factory=anyio.Event, repr=False)

    @property
    def succeeded(self) -> bool:
        return self.stage == "done"

    def cancel(self, words: str = NOT_COMPLETED) -> bool:
        """Nobody wants it any more; False when it has ended, or is just ending."""
        if self.stage != "waiting":
            return False
        self._end("cancelled", words, "the sign-in was cancelled")
        return True

    def late(self) -> None:
        """Time is up."""
        if self.stage == "waiting":
            device = self.way == "device"
            words = "device auth timed out after 15 minutes" if device else NOT_COMPLETED
            self._end("failed", words, "nobody signed in in time")

    async def finish(self, get: Callable[[], Awaitable[AccountTokens]]) -> None:
        """Get the tokens and store them; the code is used up, so it is done to the end."""
        self.stage = "exchanging"
        try:
            with anyio.CancelScope(shield=True):
                self.store = await self.commit(await get(), self.way == "browser")
        except CoreError as error:
            self._end("failed", error.message, error.message)
        else:
            self.stage = "done"
            self.over.set()

    def refuse(self, words: str) -> None:
        """It did not work out."""
        self._end("failed", words, words)

    def _end(self, stage: Stage, words: str, reason: str) -> None:
        server = self.way == "browser"
        self.error = f"Login server error: {words}" if server else words
        self.stage, self.reason = stage, reason
        self.over.set()


async def browser_attempt(
    attempt: AccountAttempt, issuer: AccountIssuer, page: Callable[[str], str]
) -> Run:
    """Listen, and give it its page; what serves the redirect until it is cancelled is returned.

    Raises:
        CoreError: Both ports are taken; its hint names who has the first.
    """
    listener = await _listener()
    port = listener.extra(SocketAttribute.local_port)
    uri = f"http://127.0.0.1:{port}{_PATH}"
    attempt.url = page(uri)
    redirect = Redirect(
        uri=uri, listener=listener, everywhere=False, bound=port, page=lambda: attempt.url
    )
    attempt.redirect = redirect

    async def arrived(arrival: Arrival) -> tuple[int, str]:
        if attempt.stage != "waiting" or not (arrival.code or arrival.error):
            return 400, INVALID
        if not hmac.compare_digest(arrival.state.encode(), attempt.proof.state.encode()):
            attempt.rejected = "it belongs to another sign-in (state)"
            return 400, INVALID
        if arrival.error:
            said = arrival.description[:200] or arrival.error[:64]
            attempt.refuse(f"Sign-in failed: {said}")
            return 400, _FAILED_PAGE
        grant = Grant(code=arrival.code, verifier=attempt.proof.verifier, redirect_uri=uri)
        await attempt.finish(lambda: issuer.tokens(grant))
        return (200, DONE) if attempt.succeeded else (400, _FAILED_PAGE)

    async def serve() -> None:
        await redirect.serve(arrived)

    return serve


async def device_attempt(attempt: AccountAttempt, issuer: AccountIssuer, clock: Clock) -> Run:
    """Get a code; what asks until the person has answered is returned. Raises CoreError."""
    code = attempt.code = await issuer.device_code()
    attempt.url = code.page

    async def ask() -> None:
        while attempt.stage == "waiting":
            await clock.sleep(code.interval)
            try:
                grant = await issuer.device_grant(code)
            except CoreError as error:
                attempt.refuse(error.message)
                return
            if grant is not None and attempt.stage == "waiting":
                await attempt.finish(partial(issuer.tokens, grant))

    return ask


async def _listener() -> SocketListener:
    for port in PORTS:
        try:
            made = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
        except OSError:
            continue
        return made.listeners[0]  # type: ignore[return-value]
    holder = await anyio.to_thread.run_sync(port_holder, PORTS[0])
    raise InternalError(
        f"failed to start login server: ports {PORTS[0]} and {PORTS[1]} are in use",
        hint=f"port {PORTS[0]} is used by {holder or 'another program'}; a device code needs none",
    )
