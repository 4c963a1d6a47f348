"""Stored tokens for requests to MCP servers: refreshed in time, in a way that logs nobody out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from core.auth.credentials import Credentials, Place
from core.auth.discovery import Discovered, DiscoveryFailed, discover
from core.auth.grants import Grant, store_key
from core.auth.outgoing import Outgoing
from core.auth.standing import Standings, digest
from core.auth.token_endpoint import FINAL, Client, Tokens, TokensRefused, ask_tokens
from core.errors import CoreError, SignInNeeded
from core.ports import Clock
from core.seams import SignInTarget

DISCOVERY_LIMIT = 10.0
TOKEN_LIMIT = 10.0
"""Seconds for the request that uses up a refresh token; it is not given up in between."""
_REQUIRED = "authorization required: OAuth authorization required"

Opens = Callable[[SignInTarget], "AsyncGenerator[Outgoing]"]
ClientOf = Callable[[SignInTarget, Grant], Awaitable[Client]]


class RefreshFailed(CoreError):
    """There is no new token now; there may be one later."""


@dataclass(frozen=True)
class _Unsaved:
    """A grant that could not be stored. `old`: digest of the one that it has replaced."""

    old: str
    new: Grant
    place: Place
    error: CoreError


class StoredBearer:
    """The `BearerSource` of a core.

    Args:
        opens: Makes what sends requests on behalf of a server; a generator of one.
        client_of: Who we are at the authorization server that granted something.
        resource_of: The resource indicator for a server (RFC 8707), or None where it wants none.
        lost: Told the store key of a client that its authorization server does not know any more.

    Attributes:
        standings: What has become known of grants while they were used.
    """

    def __init__(
        self,
        credentials: Credentials,
        clock: Clock,
        *,
        opens: Opens,
        client_of: ClientOf,
        resource_of: Callable[[SignInTarget], Awaitable[str | None]],
        lost: Callable[[str], Awaitable[None]],
    ) -> None:
        self._credentials, self._clock = credentials, clock
        self._opens = asynccontextmanager(opens)
        self._client_of, self._resource_of, self._client_lost = client_of, resource_of, lost
        self._turns: defaultdict[str, anyio.Lock] = defaultdict(anyio.Lock)
        self.standings = Standings(clock)
        self._unsaved: dict[str, _Unsaved] = {}

    async def bearer(self, target: SignInTarget) -> str | None:
        """See `core.seams.BearerSource`. A store that cannot be read authorises nothing."""
        grant, key = None, store_key(target.server, target.url)
        try:
            grant = await self._credentials.get(target.server, target.url)
        except CoreError:
            pass
        self.standings.used(key, grant)
        if grant is None:
            return None
        grant = await self._newest(grant)
        if not grant.expired(self._clock.now()):
            return grant.access_token
        return (await self._renewed(target, grant)).access_token

    async def rejected(self, target: SignInTarget, token: str) -> str | None:
        """See `core.seams.BearerSource`."""
        try:
            grant = await self._credentials.get(target.server, target.url, fresh=True)
        except CoreError:
            return None
        if grant is None:
            return None
        grant = self._current(grant)
        if grant.access_token != token and not grant.expired(self._clock.now()):
            return grant.access_token
        if grant.refresh_token is None:
            self.standings.reject(grant)
            return None
        return (await self._renewed(target, grant)).access_token

    async def status(self, target: SignInTarget) -> str:
        """See `core.seams.BearerSource`. A token that is due is refreshed to find out."""
        try:
            grant = await self._credentials.get(target.server, target.url)
        except CoreError:
            return "unknown"
        if grant is None:
            return "none"
        grant = self._current(grant)
        if self.standings.rejected(grant):
            return "notLoggedIn"
        if (verdict := self.standings.settled(grant)) is not None:
            return "notLoggedIn" if isinstance(verdict.error, SignInNeeded) else "oAuth"
        try:
            await self.bearer(target)
        except SignInNeeded:
            return "notLoggedIn"
        except CoreError:
            pass  # it may be refreshed later
        return "oAuth"

    async def why(self, target: SignInTarget) -> str:
        """See `core.seams.BearerSource`."""
        try:
            grant = await self._credentials.get(target.server, target.url)
        except CoreError as error:
            return error.message
        return "" if grant is None else self.standings.why(self._current(grant))

    async def ends(self, target: SignInTarget) -> tuple[float | None, bool]:
        """See `core.seams.BearerSource`."""
        try:
            grant = await self._credentials.get(target.server, target.url)
        except CoreError:
            return None, False
        if grant is None:
            return None, False
        grant = self._current(grant)
        until = None if grant.expires_at is None else grant.expires_at / 1000
        verdict = self.standings.verdict(grant)
        refused = verdict is not None and isinstance(verdict.error, SignInNeeded)
        return until, grant.renewable and not refused

    async def insufficient(self, target: SignInTarget, scopes: Sequence[str]) -> None:
        """See `core.seams.BearerSource`."""
        try:
            grant = await self._credentials.get(target.server, target.url)
        except CoreError:
            return
        if grant is not None:
            self.standings.want(self._current(grant), scopes)

    def forget(self, server: str, url: str) -> None:
        """Something else is stored now, by us or by others."""
        self.standings.forget(store_key(server, url))
        self._credentials.forget()

    async def _renewed(self, target: SignInTarget, seen: Grant) -> Grant:
        """A usable grant: somebody else's newer one, or a refreshed one.

        Raises:
            SignInNeeded, RefreshFailed: There is none; in the wire's words.
        """
        async with self._turns[seen.key]:
            known = self.standings.verdict(seen)
            if known is not None and isinstance(known.error, SignInNeeded):
                raise known.error
            if seen.refresh_token is None:
                raise self.standings.judged(seen, SignInNeeded("Token expired"))
            try:
                self._credentials.check_writable()
                async with self._credentials.locks.entry(seen.key):
                    return await self._under_lock(target, seen)
            except SignInNeeded as error:
                raise self.standings.judged(seen, error) from None
            except CoreError as error:
                failed = RefreshFailed(f"OAuth token refresh failed: {error.message}")
                raise self.standings.judged(seen, failed) from None

    async def _under_lock(self, target: SignInTarget, seen: Grant) -> Grant:
        find = self._credentials.find
        grant, place = await find(target.server, target.url, fresh=True)
        if grant is None:
            raise SignInNeeded("OAuth authorization required")
        grant = self._current(grant)
        if grant.access_token != seen.access_token and not grant.expired(self._clock.now()):
            return grant
        if grant.refresh_token is None:
            raise SignInNeeded("Token expired")
        if grant.issuer is None:
            raise SignInNeeded(
                f"OAuth refresh credentials for server {target.server} are missing an "
                f"authorization server issuer; {_REQUIRED}"
            )
        renewed: Grant | None = None
        async with self._opens(target) as out:
            found = await self._metadata(out, target, grant)
            client = await self._client_of(target, grant)
            renewed = await self._refresh(out, target, grant, place, found, client)
        assert renewed is not None
        return renewed

    async def _metadata(self, out: Outgoing, target: SignInTarget, grant: Grant) -> Discovered:
        import httpx

        changed = SignInNeeded(
            f"OAuth authorization server issuer changed for server {target.server}; {_REQUIRED}"
        )
        try:
            with anyio.fail_after(DISCOVERY_LIMIT):
                found = await discover(out, httpx.URL(target.url), assume=False)
        except DiscoveryFailed as error:
            raise changed if error.changed else error from None
        except TimeoutError:
            raise CoreError("no answer in time") from None
        if found.server.issuer != grant.issuer:
            raise changed
        return found

    async def _refresh(
        self,
        out: Outgoing,
        target: SignInTarget,
        grant: Grant,
        place: Place,
        found: Discovered,
        client: Client,
    ) -> Grant:
        import httpx

        members = [
            ("grant_type", "refresh_token"),
            ("refresh_token", grant.refresh_token or ""),
        ]
        if resource := await self._resource_of(target):
            members.append(("resource", resource))
        endpoint = httpx.URL(found.server.base).join(found.server.token_endpoint)
        renewed: Grant | None = None
        # Once it is sent the old token may be gone: the new one must not be lost with the caller.
        with anyio.CancelScope(shield=True):
            try:
                with anyio.fail_after(TOKEN_LIMIT):
                    tokens = await ask_tokens(out, endpoint, client, members)
                renewed = _with(grant, tokens, self._clock.now())
                self.standings.note(renewed.key, renewed)
                await self._keep(self._stored_before(grant), renewed, place)
            except TimeoutError:
                raise CoreError("no answer in time") from None
            except TokensRefused as error:
                if error.error not in FINAL:
                    raise
                if error.error != "invalid_grant":
                    await self._client_lost(grant.key)
                renewed = await self._lost(target, grant, place)
        assert renewed is not None
        self.standings.renewed(renewed)
        if (unsaved := self._unsaved.get(grant.key)) is not None:
            self.standings.judged(renewed, unsaved.error)
        return renewed

    def _stored_before(self, grant: Grant) -> str:
        """Digest of what the store has while `grant` is used."""
        unsaved = self._unsaved.get(grant.key)
        return unsaved.old if unsaved is not None and unsaved.new == grant else digest(grant)

    async def _keep(self, old: str, new: Grant, place: Place) -> None:
        """Store what was granted; what cannot be stored now is used all the same."""
        self._unsaved.pop(new.key, None)
        try:
            await self._credentials.replace(new, place)
        except CoreError as error:
            self._unsaved[new.key] = _Unsaved(old, new, place, error)

    def _current(self, stored: Grant) -> Grant:
        """The stored grant, or the one that has replaced it and could not be stored yet."""
        unsaved = self._unsaved.get(stored.key)
        return unsaved.new if unsaved is not None and unsaved.old == digest(stored) else stored

    async def _newest(self, stored: Grant) -> Grant:
        """As `_current`, after one more try to store it."""
        unsaved = self._unsaved.get(stored.key)
        if unsaved is None:
            return stored
        if unsaved.old != digest(stored):
            del self._unsaved[stored.key]  # somebody has signed in meanwhile
            return stored
        try:
            async with self._credentials.locks.entry(stored.key):
                await self._keep(unsaved.old, unsaved.new, unsaved.place)
        except CoreError:
            pass  # there is another time
        if stored.key not in self._unsaved:
            self.standings.forget(stored.key)
        return unsaved.new

    async def _lost(self, target: SignInTarget, grant: Grant, place: Place) -> Grant:
        """The refresh token is worth nothing, unless a program without locks was faster."""
        now, _ = await self._credentials.find(target.server, target.url, fresh=True)
        if now is not None and now.access_token != grant.access_token:
            if not now.expired(self._clock.now()):
                return now
        elif now is not None:
            await self._credentials.replace(replace(grant, refresh_token=None), place)
        raise SignInNeeded("OAuth authorization required")


def _with(grant: Grant, tokens: Tokens, now: float) -> Grant:
    """A server that sends no new refresh token or scope means the old ones (RFC 6749, 6)."""
    return replace(
        grant,
        access_token=tokens.access_token,
        refresh_token=tokens.refresh_token or grant.refresh_token,
        expires_at=tokens.ends_at(now),
        scopes=grant.scopes if tokens.scopes is None else tokens.scopes,
    )
