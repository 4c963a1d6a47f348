"""Signing Codex's account in and out, and keeping its tokens fresh, as Codex 0.171.0 does it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from core.auth.account_attempt import (
    NOT_COMPLETED,
    REPLACED,
    TIMEOUTS,
    AccountAttempt,
    Run,
    Way,
    browser_attempt,
    device_attempt,
)
from core.auth.account_issuer import AccountIssuer, AccountRefused, AccountTokens
from core.auth.account_store import AccountStore, Document
from core.auth.auth_file import Login, decode_claims, parse_login
from core.errors import CoreError, InternalError, InvalidRequest
from core.ports import Clock

if TYPE_CHECKING:
    from core.config.model import Loaded

EXTERNAL = (
    "External auth is active. Use account/login/start (chatgptAuthTokens) to update it"
    " or account/logout to clear it."
)
NO_KEYS = "API key login is disabled. Use ChatGPT login instead."
NO_CHATGPT = "ChatGPT login is disabled. Use API key login instead."
EARLY = 300.0
"""Seconds before its end from which on an access token is refreshed."""
_CLAIMS = "https://api.openai.com/auth"
_KEPT = 8

Ended = Callable[[AccountAttempt], None]


class AccountLogins:
    """Attempts, the tokens that a client brought, and the refresh.

    Args:
        load: The configuration without any project's; cheap, called in threads.
        tasks: Where attempts wait.

    Attributes:
        external: A sign-in given by a client, in memory only; it goes before what is stored.
        attempts: Those of this core by id, the last ones.
    """

    def __init__(
        self,
        *,
        issuer: AccountIssuer,
        store: AccountStore,
        load: Callable[[], Loaded],
        clock: Clock,
        tasks: TaskGroup,
    ) -> None:
        self.issuer, self.store = issuer, store
        self.external: Login | None = None
        self.attempts: dict[str, AccountAttempt] = {}
        self._load, self._clock, self._tasks = load, clock, tasks
        self._refreshing = anyio.Lock()
        self._spent: set[str] = set()

    # -- signing in

    async def with_key(self, key: str) -> str:
        """Keep an API key; where, is returned. Raises CoreError."""
        await self._check("api")
        document: Document = {"auth_mode": "apikey", "OPENAI_API_KEY": key}
        async with self.store.locked():
            return await self.store.write(document)

    async def begin(self, way: Way, originator: str, ended: Ended) -> AccountAttempt:
        """Begin an attempt in place of the one that waits.

        Args:
            originator: Named to the issuer.
            ended: Called once, when the attempt has ended in whatever way.

        Raises:
            CoreError: It is not allowed, or could not be begun.
        """
        workspaces = await self._check("chatgpt")
        await self.stop(REPLACED)

        async def commit(tokens: AccountTokens, key: bool) -> str:
            return await self._commit(tokens, key, workspaces)

        attempt = AccountAttempt(way=way, ends_at=self._clock.now() + TIMEOUTS[way], commit=commit)
        if way == "device":
            run = await device_attempt(attempt, self.issuer, self._clock)
        else:

            def page(uri: str) -> str:
                return self.issuer.page(
                    attempt.proof, uri, originator=originator, workspaces=workspaces
                )

            run = await browser_attempt(attempt, self.issuer, page)
        self.attempts[attempt.id] = attempt
        while len(self.attempts) > _KEPT:
            del self.attempts[next(iter(self.attempts))]
        self._tasks.start_soon(self._wait, attempt, run, ended)
        return attempt

    @property
    def waiting(self) -> AccountAttempt | None:
        """The attempt that has not ended."""
        live = (each for each in self.attempts.values() if not each.over.is_set())
        return next(live, None)

    async def stop(self, words: str = NOT_COMPLETED) -> None:
        """End the attempt that waits; its port is free afterwards."""
        for attempt in list(self.attempts.values()):
            attempt.cancel(words)
            await attempt.closed.wait()

    async def _wait(self, attempt: AccountAttempt, run: Run, ended: Ended) -> None:
        try:
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(run)
                with anyio.move_on_after(TIMEOUTS[attempt.way]):
                    await attempt.over.wait()
                if attempt.stage == "exchanging":
                    await attempt.over.wait()
                attempt.late()
                if attempt.redirect is not None:
                    await attempt.redirect.settle()
                waiting.cancel_scope.cancel()
        finally:
            attempt.cancel()
            if attempt.redirect is not None:
                with anyio.CancelScope(shield=True):
                    await attempt.redirect.listener.aclose()
            attempt.closed.set()
        ended(attempt)

    async def _commit(self, tokens: AccountTokens, key: bool, workspaces: tuple[str, ...]) -> str:
        account = account_of(tokens.id_token)
        if workspaces and account not in workspaces:
            raise InternalError(
                f"Login is restricted to workspace id {', '.join(workspaces)}",
                hint="forced_chatgpt_workspace_id names it",
            )
        api_key = await self.issuer.api_key(tokens) if key else None
        members: Document = {
            "id_token": tokens.id_token,
            "access_token": tokens.access_token,
            "refresh_token": tokens.refresh_token,
            "oauth_provenance": {"issuer": self.issuer.url, "client_id": self.issuer.client_id},
            "login_owner_id": secrets.token_urlsafe(32),
            "account_id": account or None,
        }
        document: Document = {
            "auth_mode": "chatgpt",
            "OPENAI_API_KEY": api_key,
            "tokens": members,
            "last_refresh": self._now(),
        }
        async with self.store.locked():
            return await self.store.write(document)

    async def given(self, access_token: str, account_id: str, plan: str | None) -> None:
        """Take tokens that a client brought; kept in memory, and refreshed by nobody here.

        Raises:
            CoreError: They are no tokens, or not allowed.
        """
        workspaces = await self._check("chatgpt", external=True)
        if decode_claims(access_token) is None:
            raise InternalError("failed to set external auth: invalid ID token format")
        if workspaces and account_id not in workspaces:
            raise InternalError(
                f"failed to set external auth: Login is restricted to workspace id"
                f" {', '.join(workspaces)}"
            )
        tokens: Document = {
            "id_token": access_token,
            "access_token": access_token,
            "account_id": account_id,
        }
        login = parse_login(_encoded({"auth_mode": "chatgpt", "tokens": tokens}))
        if plan is not None:
            login = login.with_plan(plan)
        await self.stop()
        self.external = replace(login, store="memory")

    async def _check(self, method: str, *, external: bool = False) -> tuple[str, ...]:
        """The workspaces that are allowed; () = all. Raises what forbids the method."""
        loaded = await anyio.to_thread.run_sync(self._load)
        forced = loaded.get("forced_login_method")
        if self.external is not None and not external:
            raise InvalidRequest(EXTERNAL)
        methods = loaded.requirements.login_methods
        for each, words in (("api", NO_KEYS), ("chatgpt", NO_CHATGPT)):
            forbidden = forced not in (None, each) or bool(methods and each not in methods)
            if method == each and forbidden:
                raise InvalidRequest(words)
        if not external:
            self.store.check_writable()
        named: object = loaded.get("forced_chatgpt_workspace_id")
        listed = cast("list[object]", named) if isinstance(named, list) else [named]
        return tuple(each for each in listed if isinstance(each, str) and each)

    # -- signing out

    async def sign_out(self) -> tuple[bool, str]:
        """Revoke where something is to be revoked, and remove it in any case.

        Returns:
            Whether anything was there, and why it was not revoked, or "".

        Raises:
            CoreError: It could not be removed.
        """
        await self.stop()
        if self.external is not None:
            self.external = None
            return True, ""
        note = ""
        async with self.store.locked():
            try:
                login = _login(await self.store.read())
            except CoreError as error:
                login, note = Login(), error.message
            if login.refresh_token:
                note = await self.issuer.revoke(login.refresh_token, login.client_id)
            removed = await self.store.remove()
        return removed, note

    # -- fresh tokens

    async def fresh(self, login: Login, *, forced: bool = False) -> Login | None:
        """Refresh what is about to end; None when there was nothing to do.

        Under the locks that Codex takes: what another program has refreshed meanwhile is taken,
        and nobody is asked.

        Raises:
            CoreError: It was needed and failed; the old tokens stay where they are.
        """
        if login.kind != "chatgpt" or not login.refresh_token or self.external is not None:
            return None
        if not forced and not self._ends(login.access_token):
            return None
        if login.refresh_token in self._spent:
            raise AccountRefused("the sign-in has ended", spent=True)
        async with self._refreshing, self.store.locked():
            document = await self.store.read()
            stored = _login(document)
            if stored.refresh_token != login.refresh_token:
                return stored
            if not forced and not self._ends(stored.access_token):
                return stored
            if document is None:
                return stored
            return await self._refreshed(document, stored)

    async def _refreshed(self, document: Document, stored: Login) -> Login:
        after = document
        with anyio.CancelScope(shield=True):
            try:
                got = await self.issuer.refreshed(stored.refresh_token, stored.client_id)
            except AccountRefused as error:
                if error.spent:
                    self._spent.add(stored.refresh_token)
                raise
            told = {
                name: got[name]
                for name in ("id_token", "access_token", "refresh_token")
                if isinstance(got.get(name), str) and got[name]
            }
            if "id_token" in told and decode_claims(told["id_token"]) is None:
                del told["id_token"]
            tokens = {**cast("Document", document["tokens"]), **told}
            after = {**document, "tokens": tokens, "last_refresh": self._now()}
            await self.store.write(after)
        return _login(after)

    def _ends(self, token: str) -> bool:
        ends = (decode_claims(token) or {}).get("exp")
        if not isinstance(ends, int | float):
            return False
        return ends - EARLY <= self._clock.now()

    def _now(self) -> str:
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        return now.isoformat(timespec="microseconds").replace("+00:00", "Z")


def account_of(id_token: str) -> str:
    """The workspace that an ID token was given for; ""."""
    auth: object = (decode_claims(id_token) or {}).get(_CLAIMS)
    named = cast("Mapping[str, Any]", auth).get("chatgpt_account_id") if _is(auth) else None
    return named if isinstance(named, str) else ""


def _is(value: object) -> bool:
    return isinstance(value, dict)


def _encoded(document: Document) -> bytes:
    import msgspec

    return msgspec.json.encode(document)


def _login(document: Document | None) -> Login:
    return Login() if document is None else parse_login(_encoded(document))
