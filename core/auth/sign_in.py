"""Signing in to MCP servers: attempts that live beside everything else.

Source: MCP 2025-11-25, Authorization; OAuth 2.1 with PKCE; RFC 8707, RFC 9207.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup

from core.auth.attempt import TIMED_OUT, Attempt, authorization_url
from core.auth.bearer import ClientOf, StoredBearer
from core.auth.callback import Arrival, listen
from core.auth.client_store import ClientStore, Registration
from core.auth.credentials import Credentials
from core.auth.device import DevicePoll, ask_device_code
from core.auth.discovery import Discovered, discover
from core.auth.grants import Grant
from core.auth.guard import Guard
from core.auth.outgoing import Outgoing, Step, origin
from core.auth.registration import Registrar, Wish
from core.auth.revocation import revoke
from core.auth.scopes import OFFLINE, chosen_scopes
from core.auth.sender import Sender, server_url
from core.auth.token_endpoint import Client, Tokens, TokensRefused, ask_tokens
from core.errors import CoreError
from core.ports import Clock
from core.seams import SignInTarget
from core.threads.policy import ThreadPolicy

BEGIN_LIMIT = 40.0
FINISH_LIMIT = 30.0
TIMEOUT = 300.0
_KEPT = 32


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


Ended = Callable[[Attempt], None]


@dataclass(kw_only=True)
class SignIns:
    """All attempts of a core.

    Attributes:
        client_of: Who we are at the authorization server that granted something.
        tasks: Where attempts wait.
    """

    sender: Sender
    credentials: Credentials
    bearer: StoredBearer
    clients: ClientStore
    client_of: ClientOf
    clock: Clock
    tasks: TaskGroup
    attempts: dict[str, Attempt] = field(default_factory=dict[str, Attempt])

    async def begin(
        self, target: SignInTarget, wishes: Wishes, policy: ThreadPolicy, ended: Ended
    ) -> Attempt:
        """Find out everything, listen, and have a URL for the person.

        Args:
            ended: Called once, when the attempt has ended in whatever way.

        Raises:
            CoreError: It cannot be begun; in the wire's words. `data` has the trail, and the host
                that would have to be allowed.
        """
        beginning = _Beginning(self, target, wishes, policy)
        try:
            with anyio.fail_after(BEGIN_LIMIT):
                attempt = await beginning.attempt()
        except TimeoutError:
            message = "the server did not answer in time"
            raise CoreError(message, data=beginning.so_far()) from None
        except CoreError as error:
            error.data = beginning.so_far()
            raise
        self._keep(attempt)
        self.tasks.start_soon(self._wait, attempt, wishes.timeout, ended)
        return attempt

    def cancel(self, attempt_id: str) -> bool:
        """End an attempt; False when there is none that waits."""
        attempt = self.attempts.get(attempt_id)
        if attempt is None or attempt.stage != "waiting":
            return False
        attempt.cancel()
        return True

    def _keep(self, attempt: Attempt) -> None:
        self.attempts[attempt.id] = attempt
        ended = [key for key, each in self.attempts.items() if each.over.is_set()]
        for key in ended[: max(0, len(self.attempts) - _KEPT)]:
            del self.attempts[key]

    async def _wait(self, attempt: Attempt, timeout: float, ended: Ended) -> None:
        redirect = attempt.redirect
        assert redirect is not None
        try:
            async with anyio.create_task_group() as waiting:
                attempt.spawn = waiting.start_soon
                waiting.start_soon(redirect.serve, attempt.arrived)
                if attempt.poll is not None:
                    waiting.start_soon(_poll, attempt, attempt.poll)
                with anyio.move_on_after(max(1.0, timeout)):
                    await attempt.over.wait()
                if attempt.stage == "exchanging":
                    await attempt.over.wait()
                if attempt.stage == "waiting":
                    attempt.fail(TIMED_OUT, TIMED_OUT)
                await redirect.settle()
                waiting.cancel_scope.cancel()
        finally:
            attempt.cancel()
            with anyio.CancelScope(shield=True):
                await redirect.listener.aclose()
        ended(attempt)

    async def sign_out(self, target: SignInTarget) -> tuple[bool, str]:
        """Revoke where that is offered, and remove everything in any case.

        Returns:
            Whether anything was stored, and why it was not revoked, or "".

        Raises:
            InternalError: A store could not be asked; in the wire's words.
        """
        note = ""
        try:
            grant = await self.credentials.get(target.server, target.url, fresh=True)
        except CoreError as error:
            grant, note = None, error.message
        if grant is not None:
            client = await self.client_of(target, grant)
            async with asynccontextmanager(self.sender.open)(target) as out:
                note = await revoke(out, target, grant, client)
        removed = await self.credentials.remove(target.server, target.url)
        self.bearer.forget(target.server, target.url)
        return removed, note


async def _poll(attempt: Attempt, poll: Callable[[], Awaitable[Tokens]]) -> None:
    try:
        tokens = await poll()
    except CoreError as error:
        if attempt.stage == "waiting":
            attempt.fail(error.message, error.message)
        return
    await attempt.granted(tokens)


class _Beginning:
    def __init__(
        self, owner: SignIns, target: SignInTarget, wishes: Wishes, policy: ThreadPolicy
    ) -> None:
        self._owner, self._target, self._wishes, self._policy = owner, target, wishes, policy
        self._trail: list[Step] = []
        self._out: Outgoing | None = None
        opens = asynccontextmanager(owner.sender.open)
        self._opened = partial(opens, target, trail=self._trail, allowed=wishes.allowed)

    async def attempt(self) -> Attempt:
        target, wishes, ours = self._target, self._wishes, self._policy.negotiate
        url = server_url(target)
        made: Attempt | None = None
        async with self._opened() as out:
            self._out = out
            found = await discover(out, url, assume=not ours)
            self._check(found)
            registrar = Registrar(
                target=target,
                server=found.server,
                identity=self._policy.identity,
                kept=self._owner.clients if ours else None,
            )
            redirect = await listen(
                target.url,
                url=target.callback_url or wishes.callback_url,
                port=_first(target.callback_port, wishes.callback_port),
                plain_path=found.server.answers_iss,
                wanted=await registrar.kept_port(),
            )
            try:
                scopes = chosen_scopes(wishes.scopes, target.scopes, found, modest=ours)
                client = await registrar.client(out, redirect.uri, scopes, wishes.registration)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await redirect.listener.aclose()
                raise
            made = Attempt(
                id=str(uuid4()),
                server=target.server,
                server_url=target.url,
                thread_id=wishes.thread_id,
                found=found,
                client=client,
                exchange=self._exchange,
                commit=self._commit,
                scopes=scopes,
                trail=self._trail,
                ends_at=self._owner.clock.now() + wishes.timeout,
                patient=ours,
                redirect=redirect,
            )
            made.url = authorization_url(
                made,
                redirect.uri,
                self._resources(),
                consent=ours and OFFLINE in (scopes or ()),
            )
            self._made, self._registrar = made, registrar
            try:
                await self._prepare(out, made)
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await redirect.listener.aclose()
                raise
        assert made is not None
        return made

    async def _prepare(self, out: Outgoing, made: Attempt) -> None:
        import httpx

        server, owner = made.found.server, self._owner
        try:
            before = await owner.credentials.get(made.server, made.server_url)
            made.scopes_before = before.scopes if before is not None else ()
        except CoreError:
            pass  # only the comparison is missing then
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
            clock=owner.clock,
        ).tokens

    def so_far(self) -> dict[str, Any]:
        """What was asked, for people who want to know why it failed."""
        steps = [asdict(step) for step in self._trail]
        return {"trail": steps, "blockedHost": self._out.blocked if self._out is not None else ""}

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
        guard = Guard(server_url(self._target), allowed=self._wishes.allowed)
        own = server_url(self._target)
        if origin(page) != origin(own) or page.userinfo:
            guard.check_form(page)

    async def _exchange(self, arrival: Arrival) -> Tokens:
        """Turn the code into tokens; a client that is not known any more is forgotten."""
        made = self._made
        members = [
            ("grant_type", "authorization_code"),
            ("code", arrival.code),
            ("code_verifier", made.proof.verifier),
            ("redirect_uri", made.redirect.uri if made.redirect else ""),
        ]
        if self._wishes.resource:
            members.append(("resource", self._target.url))
        try:
            return await self._ask(made.client, members)
        except TokensRefused as error:
            if error.error in ("invalid_client", "unauthorized_client"):
                await self._registrar.forget()
                error.hint = "the registration was forgotten: sign in again"
            raise

    async def _ask(self, client: Client, members: list[tuple[str, str]]) -> Tokens:
        import httpx

        server = self._made.found.server
        tokens: Tokens | None = None
        try:
            with anyio.fail_after(FINISH_LIMIT):
                async with self._opened() as out:
                    endpoint = httpx.URL(server.base).join(server.token_endpoint)
                    tokens = await ask_tokens(out, endpoint, client, members)
        except TimeoutError:
            raise CoreError("the token endpoint did not answer in time") from None
        assert tokens is not None
        return tokens

    async def _commit(self, tokens: Tokens) -> str:
        """Store them; where they are."""
        made, owner = self._made, self._owner
        grant = Grant(
            server_name=self._target.server,
            server_url=self._target.url,
            client_id=made.client.client_id,
            access_token=tokens.access_token,
            issuer=made.found.server.issuer,
            refresh_token=tokens.refresh_token,
            expires_at=tokens.ends_at(owner.clock.now()),
            scopes=tokens.scopes if tokens.scopes is not None else made.scopes or (),
        )
        async with owner.credentials.locks.entry(grant.key):
            place = await owner.credentials.put(grant)
        if made.patient:
            await self._remember(grant)
        owner.bearer.forget(grant.server_name, grant.server_url)
        return place

    async def _remember(self, grant: Grant) -> None:
        """What the person has chosen for this server counts when tokens are refreshed too."""
        wishes, clients = self._wishes, self._owner.clients
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
