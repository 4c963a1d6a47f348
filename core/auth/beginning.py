"""How an attempt comes to be: who guards the server, who we are there, where the person is sent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any
from uuid import uuid4

import anyio

from core.auth.attempt import Attempt, Proof, authorization_url
from core.auth.bearer import StoredBearer
from core.auth.callback import Arrival, Redirect, listen
from core.auth.client_store import ClientStore, Registration
from core.auth.credentials import Credentials, Stored
from core.auth.device import DevicePoll, ask_device_code
from core.auth.discovery import Discovered, DiscoveryFailed, discover
from core.auth.grants import Grant
from core.auth.guard import Guard
from core.auth.outgoing import Outgoing, Step, Unanswered, origin
from core.auth.registration import NoRegistration, Registrar, Wish
from core.auth.scopes import OFFLINE, chosen_scopes
from core.auth.sender import Sender, server_url
from core.auth.token_endpoint import CLIENT_LOST, Tokens, ask_tokens
from core.errors import CoreError
from core.ports import Clock
from core.seams import SignInTarget
from core.threads.policy import ThreadPolicy

FINISH_LIMIT = 30.0
TIMEOUT = 300.0


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """How an attempt is to be.

    Attributes:
        scopes: None = as configured or offered.
        timeout: Seconds to wait for the person.
        callback_url, callback_port: Where the entry of the server does not say.
        resource: Send the resource indicator (RFC 8707).
        allowed: Hosts on private networks that may be contacted for it.
        device: Get a device code too, where they are offered.
    """

    scopes: tuple[str, ...] | None = None
    timeout: float = TIMEOUT
    registration: Wish = "auto"
    callback_url: str | None = None
    callback_port: int | None = None
    resource: bool = True
    allowed: Collection[str] = ()
    thread_id: str | None = None
    device: bool = False


@dataclass(frozen=True, kw_only=True)
class Means:
    """What every attempt of a core uses."""

    sender: Sender
    credentials: Credentials
    bearer: StoredBearer
    clients: ClientStore
    clock: Clock


class Beginning:
    """One attempt, until it waits for the person, and the ways in which it ends."""

    def __init__(
        self, means: Means, target: SignInTarget, wishes: Wishes, policy: ThreadPolicy
    ) -> None:
        self._means, self._target, self._wishes, self._policy = means, target, wishes, policy
        self._trail: list[Step] = []
        self._out: Outgoing | None = None
        opens = asynccontextmanager(means.sender.open)
        self._opened = partial(opens, target, trail=self._trail, allowed=wishes.allowed)

    async def attempt(self) -> Attempt:
        """Find out everything and listen. Raises CoreError in the wire's words."""
        target, wishes, ours = self._target, self._wishes, self._policy.negotiate
        url = server_url(target)
        made: Attempt | None = None
        async with self._opened() as out:
            self._out = out
            found = await discover(out, url, assume=not ours)
            self._check(found)
            registrar = self._registrar = Registrar(
                target=target,
                server=found.server,
                identity=self._policy.identity,
                kept=self._means.clients if ours else None,
            )
            redirect = await listen(
                target.url,
                url=target.callback_url or wishes.callback_url,
                port=_first(target.callback_port, wishes.callback_port),
                plain_path=found.server.answers_iss,
                wanted=await registrar.kept_port(),
            )
            try:
                made = self._made = await self._known_to(out, found, redirect)
                await self._look_whether_known(out)
                await self._ask_device(out)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await redirect.listener.aclose()
                raise
        assert made is not None
        self._means.bearer.standings.asked(self._key, made.scopes or ())
        return made

    @property
    def _key(self) -> str:
        return self._means.credentials.key_of(self._target)

    async def _known_to(self, out: Outgoing, found: Discovered, redirect: Redirect) -> Attempt:
        ours, wishes, means = self._policy.negotiate, self._wishes, self._means
        before = await self._before()
        missing = means.bearer.standings.missing(before) if ours and before is not None else ()
        scopes = chosen_scopes(wishes.scopes, self._target.scopes, found, modest=ours)
        if before is not None and missing and wishes.scopes is None and not self._target.scopes:
            scopes = tuple(dict.fromkeys((*before.scopes, *(scopes or ()), *missing)))
        client = await self._registrar.client(out, redirect.uri, scopes, wishes.registration)
        made = Attempt(
            id=str(uuid4()),
            server=self._target.server,
            server_url=self._target.url,
            thread_id=wishes.thread_id,
            found=found,
            client=client,
            exchange=self._exchange,
            commit=self._commit,
            scopes=scopes,
            scopes_before=before.scopes if before is not None else (),
            missing=missing,
            renew=self._renew if self._registrar.registers else None,
            trail=self._trail,
            ends_at=means.clock.now() + wishes.timeout,
            patient=ours,
            redirect=redirect,
        )
        redirect.page = lambda: made.url
        self._address(made)
        return made

    async def _before(self) -> Grant | None:
        try:
            return await self._means.credentials.get(self._target.server, self._target.url)
        except CoreError:
            return None  # only the comparison is missing then

    def _address(self, made: Attempt) -> None:
        """What is different in each authorization request."""
        made.proof = Proof()
        consent = self._policy.negotiate and OFFLINE in (made.scopes or ())
        redirect = made.redirect.uri if made.redirect is not None else ""
        made.url = authorization_url(made, redirect, self._resources(), consent=consent)

    async def _look_whether_known(self, out: Outgoing) -> None:
        """A client that was kept may be forgotten over there.

        Then the page shows an error and nobody ever comes back (RFC 6749 section 4.1.2.1), so it
        is looked at once before the person is sent there.
        """
        import httpx

        if not self._registrar.reused:
            return
        try:
            page = await out.peek(httpx.URL(self._made.url))
        except Unanswered:
            return  # the person will see
        lost = any(word in page.text for word in CLIENT_LOST)
        if page.status in (400, 401) and lost:
            await self._register_anew(out)

    async def _renew(self) -> None:
        async with self._opened() as out:
            await self._register_anew(out)

    async def _register_anew(self, out: Outgoing) -> None:
        made = self._made
        made.renew = None
        redirect = made.redirect.uri if made.redirect is not None else ""
        made.client = await self._registrar.anew(out, redirect, made.scopes)
        self._address(made)

    async def _ask_device(self, out: Outgoing) -> None:
        import httpx

        made, server = self._made, self._made.found.server
        if not self._wishes.device or server.device_endpoint is None:
            return
        base = httpx.URL(server.base)
        made.device = await ask_device_code(
            out,
            base.join(server.device_endpoint),
            made.client,
            made.scopes,
            self._resources()[:1],
        )
        made.poll = DevicePoll(
            opened=self._opened,
            url=base.join(server.token_endpoint),
            client=made.client,
            code=made.device,
            clock=self._means.clock,
        ).tokens

    def so_far(self, error: CoreError | None = None) -> dict[str, Any]:
        """What was asked, and what is needed, for people who want to know why it failed."""
        told: dict[str, Any] = {
            "trail": [asdict(step) for step in self._trail],
            "blockedHost": self._out.blocked if self._out is not None else "",
        }
        if isinstance(error, NoRegistration):
            told |= {"needs": "clientId", "redirect": error.redirect}
        elif isinstance(error, DiscoveryFailed) and error.nobody:
            told["needs"] = "token"
        return told

    def _resources(self) -> Sequence[str]:
        if not self._wishes.resource:
            return ()
        second = self._target.resource
        return (self._target.url, second) if second else (self._target.url,)

    def _check(self, found: Discovered) -> None:
        """What must be right before a browser is sent anywhere."""
        import httpx

        server = found.server
        pkce = server.pkce if self._policy.negotiate or server.pkce is not None else ("S256",)
        if "S256" not in (pkce or ()):
            raise CoreError("the authorization server does not support PKCE with S256")
        try:
            page = httpx.URL(server.authorization_endpoint)
        except httpx.InvalidURL:
            raise CoreError("the authorization endpoint is no URL") from None
        if any(ord(each) < 33 or ord(each) == 127 for each in server.authorization_endpoint):
            raise CoreError("the authorization endpoint is no URL")
        own = server_url(self._target)
        guard = Guard(own, allowed=self._wishes.allowed)
        if origin(page) != origin(own) or page.userinfo:
            guard.check_form(page)

    # -- afterwards

    async def _exchange(self, arrival: Arrival) -> Tokens:
        """Turn the code into tokens. Raises CoreError."""
        import httpx

        made = self._made
        members = [
            ("grant_type", "authorization_code"),
            ("code", arrival.code),
            ("code_verifier", made.proof.verifier),
            ("redirect_uri", made.redirect.uri if made.redirect else ""),
        ]
        if self._wishes.resource:
            members.append(("resource", self._target.url))
        server = made.found.server
        tokens: Tokens | None = None
        try:
            with anyio.fail_after(FINISH_LIMIT):
                async with self._opened() as out:
                    endpoint = httpx.URL(server.base).join(server.token_endpoint)
                    tokens = await ask_tokens(out, endpoint, made.client, members)
        except TimeoutError:
            raise CoreError("the token endpoint did not answer in time") from None
        assert tokens is not None
        return tokens

    async def _commit(self, tokens: Tokens) -> Stored:
        """Store them; where they are."""
        made, means = self._made, self._means
        grant = Grant(
            server_name=self._target.server,
            server_url=self._target.url,
            client_id=made.client.client_id,
            access_token=tokens.access_token,
            issuer=made.found.server.issuer,
            refresh_token=tokens.refresh_token,
            expires_at=tokens.ends_at(means.clock.now()),
            scopes=tokens.scopes if tokens.scopes is not None else made.scopes or (),
        )
        means.bearer.standings.note(grant.key, grant)
        async with means.credentials.locks.entry(grant.key):
            stored = await means.credentials.put(grant)
        if made.patient:
            await self._remember(grant)
        means.bearer.forget(grant.server_name, grant.server_url)
        return stored

    async def _remember(self, grant: Grant) -> None:
        """What the person has chosen for this server counts when tokens are refreshed too."""
        wishes, clients = self._wishes, self._means.clients
        kept = await clients.get(grant.key)
        if kept is None or kept.client_id != grant.client_id:
            redirect = self._made.redirect.uri if self._made.redirect else ""
            kept = Registration(
                issuer=grant.issuer or "", client_id=grant.client_id, redirect=redirect
            )
        chosen = replace(
            kept, sends_resource=wishes.resource, allowed=tuple(sorted(wishes.allowed))
        )
        if chosen != Registration(
            issuer=chosen.issuer, client_id=chosen.client_id, redirect=chosen.redirect
        ):
            await clients.put(grant.key, chosen)


def _first(*ports: int | None) -> int | None:
    return next((port for port in ports if port is not None), None)
