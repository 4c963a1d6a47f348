"""One attempt to sign in: from its authorization URL to stored tokens, or to a reason why not."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal
from urllib.parse import urlencode, urlsplit

import anyio

from core.auth.callback import DONE, INVALID, Arrival, Redirect
from core.auth.credentials import Stored
from core.auth.discovery import Discovered
from core.auth.outgoing import Step
from core.auth.token_endpoint import CLIENT_LOST, Client, Tokens, TokensRefused
from core.errors import CoreError

Stage = Literal["waiting", "exchanging", "done", "failed", "cancelled"]
NOT_HANDLED = "failed to handle OAuth callback"
TIMED_OUT = "timed out waiting for OAuth callback"
CANCELLED = "the sign-in was cancelled"
_REFUSED_PAGE = "The authorization server refused. You may close this window."
_ANEW = "the server had forgotten our registration; a new one was made: open the page again"
_FAILED_PAGE = "The sign-in failed. You may close this window."


class Proof:
    """`state` and the PKCE verifier (RFC 7636) of one attempt; never shown."""

    def __init__(self) -> None:
        self.state = secrets.token_urlsafe(32)
        self.verifier = secrets.token_urlsafe(64)

    @property
    def challenge(self) -> str:
        """S256 of the verifier."""
        digest = sha256(self.verifier.encode()).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True, kw_only=True)
class DeviceCode:
    """What the person types in elsewhere (RFC 8628). `interval`, `lifetime` in seconds."""

    user_code: str
    page: str
    page_with_code: str
    interval: float
    lifetime: float
    device_code: str = field(repr=False)


Exchange = Callable[[Arrival], Awaitable[Tokens]]
Commit = Callable[[Tokens], Awaitable[Stored]]


@dataclass(kw_only=True)
class Attempt:
    """Lives until somebody came, it was cancelled, or time was up.

    Attributes:
        url: What the browser is to open; holds `state`, so it is shown only when asked for.
        ends_at: Seconds since the epoch.
        patient: A redirect with a wrong `state` or `iss` does not end it, and the browser is told
            how it ended. Otherwise as observed in Codex 0.171.0: it is told before the exchange.
        scopes_before: Granted to the sign-in that this one replaces.
        missing: What the server has said is lacking in that one.
        renew: Registers anew and makes another `url`, where the client is not known any more.
        poll: Waits for the person's answer to the device code.
        spawn: Starts what goes on after the browser has been answered.
        store: Where the tokens are, once it is done; `store_note`: what to know about that.
        error: The wire's words for its failure; `reason`: those for people.
        rejected: Why what came so far was not it.
    """

    id: str
    server: str
    server_url: str = field(repr=False)
    thread_id: str | None
    found: Discovered
    client: Client
    exchange: Exchange = field(repr=False)
    commit: Commit = field(repr=False)
    scopes: tuple[str, ...] | None
    trail: list[Step]
    ends_at: float
    patient: bool
    scopes_before: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    renew: Callable[[], Awaitable[None]] | None = field(default=None, repr=False)
    poll: Callable[[], Awaitable[Tokens]] | None = field(default=None, repr=False)
    spawn: Callable[..., object] | None = field(default=None, repr=False)
    url: str = field(default="", repr=False)
    redirect: Redirect | None = None
    device: DeviceCode | None = None
    proof: Proof = field(default_factory=Proof, repr=False)
    stage: Stage = "waiting"
    store: str = ""
    store_note: str = ""
    error: str = ""
    reason: str = ""
    rejected: str = ""
    over: anyio.Event = field(default_factory=anyio.Event, repr=False)

    @property
    def succeeded(self) -> bool:
        return self.stage == "done"

    async def arrived(self, arrival: Arrival) -> tuple[int, str]:
        """Somebody came to the redirect; what their browser is told, after the commit."""
        if self.stage != "waiting" or not (arrival.code or arrival.error):
            return 400, INVALID
        if why := self._why_not(arrival):
            self.rejected = why
            if self.patient:
                return 400, INVALID
            self.fail(NOT_HANDLED, why)
            return 400, _FAILED_PAGE
        if arrival.error:
            said = f"OAuth provider returned `{arrival.error[:64]}`"
            tail = f": {arrival.description[:200]}" if arrival.description else ""
            self.fail(said + tail, said)
            return 400, _REFUSED_PAGE
        if not self.patient and self.spawn is not None:
            self.stage = "exchanging"
            self.spawn(self.finish, arrival)
            return 200, DONE
        await self.finish(arrival)
        if self.stage == "waiting":
            return 302, self.url  # registered anew: the same browser asks once more
        return (200, DONE) if self.succeeded else (400, _FAILED_PAGE)

    async def pasted(self, text: str) -> str:
        """A redirect's URL, its query or the bare code; "" when it was right, else why not."""
        if self.stage != "waiting" or self.redirect is None:
            return "nothing waits for it any more"
        arrival = _pasted(text.strip(), self.proof.state)
        if arrival is None:
            return "it holds no code"
        if why := self._why_not(arrival):
            return why
        if arrival.error:
            return f"the authorization server answered {arrival.error[:64]}"
        await self.finish(arrival)
        return "" if self.succeeded else self.reason or self.rejected

    async def finish(self, arrival: Arrival) -> None:
        """Get the tokens and store them."""
        await self._finish(lambda: self.exchange(arrival))

    async def granted(self, tokens: Tokens) -> None:
        """Store tokens that came another way."""

        async def given() -> Tokens:
            return tokens

        if self.stage == "waiting":
            await self._finish(given)

    async def _finish(self, get: Callable[[], Awaitable[Tokens]]) -> None:
        self.stage = "exchanging"
        try:
            # The code is used up by this: what comes back must not be lost with the caller.
            with anyio.CancelScope(shield=True):
                stored = await self.commit(await get())
                self.store, self.store_note = stored.place, stored.note
        except CoreError as error:
            if await self._renewed(error):
                return
            unstored = error.message.startswith("failed to write")
            said = error.message
            self.fail(
                said if unstored else NOT_HANDLED, f"{said}: {error.hint}" if unstored else said
            )
        else:
            self._end("done")

    async def _renewed(self, error: CoreError) -> bool:
        """The client was not known any more: once, another is made and the person asked again."""
        if not isinstance(error, TokensRefused) or error.error not in CLIENT_LOST:
            return False
        renew, self.renew = self.renew, None
        if renew is None:
            return False
        try:
            with anyio.CancelScope(shield=True):
                await renew()
        except CoreError:
            return False
        self.rejected, self.stage = _ANEW, "waiting"
        return True

    def fail(self, error: str, reason: str) -> None:
        """It did not work out."""
        self.error, self.reason = error, reason
        self._end("failed")

    def cancel(self) -> None:
        """Nobody wants it any more; nothing happens when it has ended, or is just ending."""
        if self.stage == "waiting":
            self.error = self.reason = CANCELLED
            self._end("cancelled")

    def _end(self, stage: Stage) -> None:
        self.stage = stage
        self.over.set()

    def _why_not(self, arrival: Arrival) -> str:
        state_counts = self.patient or not arrival.error
        if state_counts and not hmac.compare_digest(
            arrival.state.encode(), self.proof.state.encode()
        ):
            return "it belongs to another sign-in (state)"
        server = self.found.server
        if arrival.issuer and server.issuer and arrival.issuer != server.issuer:
            return "it comes from another authorization server (iss)"
        if server.answers_iss and not arrival.issuer and not arrival.error:
            return "it does not name its authorization server (iss)"
        return ""


def authorization_url(
    attempt: Attempt, redirect: str, resources: Sequence[str], *, consent: bool
) -> str:
    """The page that the person is to open; what its address already asks for is kept."""
    members = [
        ("response_type", "code"),
        ("client_id", attempt.client.client_id),
        ("state", attempt.proof.state),
        ("code_challenge", attempt.proof.challenge),
        ("code_challenge_method", "S256"),
        ("redirect_uri", redirect),
    ]
    if attempt.scopes:
        members.append(("scope", " ".join(attempt.scopes)))
    if consent:
        members.append(("prompt", "consent"))
    members += [("resource", each) for each in resources]
    endpoint = urlsplit(attempt.found.server.authorization_endpoint)
    query = "&".join(part for part in (endpoint.query, urlencode(members)) if part)
    return endpoint._replace(query=query, fragment="").geturl()


def _pasted(text: str, state: str) -> Arrival | None:
    """A bare code is taken on trust: PKCE binds it to this attempt anyway."""
    query = ""
    if "://" in text:
        query = urlsplit(text).query or urlsplit(text).fragment
    elif "=" in text:
        query = text.lstrip("?#&")
    if query:
        arrival = Arrival.of_query(query)
        if arrival.code or arrival.error:
            return arrival
    if "://" in text or not text or any(each.isspace() or each in "?&" for each in text):
        return None
    return Arrival(code=text, state=state)
