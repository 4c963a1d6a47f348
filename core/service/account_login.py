"""Signing the account in and out: account/login/*, account/logout, and what the panel asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

from core.auth.account import Account
from core.auth.account_attempt import AccountAttempt, Way
from core.auth.account_login import AccountLogins
from core.auth.auth_file import Login, decode_claims
from core.errors import InvalidRequest
from core.ports import Browser, Clock
from core.protocol.events import Event, LoginCompleted
from core.protocol.jackfield import Done, NoParams
from core.protocol.jackfield_account import (
    AccountAttemptState,
    AccountFacts,
    AccountLoginParams,
    AccountSignOutResult,
)
from core.protocol.login import LoginOpenResult
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.protocol.account import (
        AccountLoginCancelParams,
        AccountLoginCancelResult,
        AccountLoginStartParams,
        AccountLoginStartResult,
    )
    from core.protocol.base import Empty
    from core.protocol.base import NoParams as NoWireParams

COMPLETED, UPDATED = "account/login/completed", "account/updated"
ABOUT = "account"
_MODES = {"apiKey": "apikey", "chatgpt": "chatgpt"}
_BEDROCK = "Amazon Bedrock sign-ins are made with Codex: codex login"
_WAYS: tuple[tuple[str, str], ...] = (("browser", "chatgpt"), ("device", "chatgpt"), ("key", "api"))


class AccountLoginService:
    """The methods of every face.

    Args:
        changed: Told of another sign-in; True where no file that is watched tells of it.
        direct: Browsers get the page's own address, as they may run on another machine.

    Emits: `LoginCompleted` about `account`, `AccountChanged`.
    """

    def __init__(
        self,
        account: Account,
        logins: AccountLogins,
        changed: Callable[[bool], Awaitable[None]],
        spawn: Callable[..., Any],
        clock: Clock,
        browser: Browser,
        emit: Callable[[Event], None],
        *,
        direct: bool = False,
    ) -> None:
        self._account, self._logins, self._changed = account, logins, changed
        self._spawn, self._clock, self._browser, self._emit = spawn, clock, browser, emit
        self._direct = direct

    def handlers(self) -> dict[str, Handler]:
        return {
            "account/login/start": self.start,
            "account/login/cancel": self.cancel,
            "account/logout": self.logout,
            "jackfield/account/facts": self.facts,
            "jackfield/account/login": self.login,
            "jackfield/account/state": self.state,
            "jackfield/account/open": self.open,
            "jackfield/account/cancel": self.stop,
            "jackfield/account/logout": self.sign_out,
        }

    # -- the wire

    async def start(
        self, params: AccountLoginStartParams, scope: RequestScope
    ) -> AccountLoginStartResult:
        """Sign in; how it ends is told by notifications.

        Raises:
            InvalidRequest: A parameter is missing, or the configuration forbids it.
            InternalError: It could not be begun or stored.
        """
        from core.protocol.account import AccountLoginStartResult

        match params.type:
            case "apiKey":
                key = _needed(params.api_key, "apiKey")
                await self._logins.stop()
                await self._logins.with_key(key)
                await self._completed_at_once(scope)
                return AccountLoginStartResult(type=params.type)
            case "chatgptAuthTokens":
                await self._logins.given(
                    _needed(params.access_token, "accessToken"),
                    _needed(params.chatgpt_account_id, "chatgptAccountId"),
                    params.chatgpt_plan_type,
                )
                await self._completed_at_once(scope)
                return AccountLoginStartResult(type=params.type)
            case "chatgpt":
                attempt = await self._begin("browser", scope)
                return AccountLoginStartResult(
                    type=params.type, login_id=attempt.id, auth_url=attempt.url
                )
            case "chatgptDeviceCode":
                attempt = await self._begin("device", scope)
                return AccountLoginStartResult(
                    type=params.type,
                    login_id=attempt.id,
                    verification_url=attempt.url,
                    user_code=attempt.code.user_code if attempt.code else None,
                )
            case _:
                raise InvalidRequest(_BEDROCK)

    async def cancel(
        self, params: AccountLoginCancelParams, scope: RequestScope
    ) -> AccountLoginCancelResult:
        """End an attempt that waits."""
        from core.protocol.account import AccountLoginCancelResult

        try:
            login_id = str(UUID(params.login_id))
        except ValueError:
            raise InvalidRequest(f"invalid login id: {params.login_id}") from None
        attempt = self._logins.attempts.get(login_id)
        found = attempt is not None and attempt.cancel()
        return AccountLoginCancelResult(status="canceled" if found else "notFound")

    async def logout(self, params: NoWireParams, scope: RequestScope) -> Empty:
        """Sign out: revoked where that works, removed in any case."""
        from core.protocol.base import Empty

        await self._sign_out(scope)
        return Empty()

    # -- the panel

    async def facts(self, params: NoParams, scope: RequestScope) -> AccountFacts:
        """Who is signed in. Asks the store, and nobody else."""
        login, place = await self._account.login(), await self._account.place()
        row = self._account.owner.current.rows.get("account")
        ends: object = (decode_claims(login.access_token) or {}).get("exp")
        return AccountFacts(
            kind=login.kind,
            email=login.email,
            plan=login.plan,
            workspace=row.workspace if row is not None else "",
            workspace_id=login.account_id,
            store=login.store,
            keeps=place.keeps,
            file=place.file if login.store != "keyring" else "",
            backend=_host(place.backend),
            issuer=_host(login.issuer) or _host(self._logins.issuer.url),
            ends_at=float(ends) if isinstance(ends, int | float) else None,
            renewable=bool(login.refresh_token),
            owner=bool(login.login_id and login.issuer and login.user_id),
            reason=login.reason or (row.reason if row is not None else ""),
            apps=_no_apps(login, place.apps),
            ways=tuple(way for way, method in _WAYS if method in place.methods),
        )

    async def login(self, params: AccountLoginParams, scope: RequestScope) -> AccountAttemptState:
        """Begin to sign in, or find the attempt that waits in that way."""
        if params.way == "key":
            if not params.key.strip():
                raise InvalidRequest("an API key is needed")
            store = await self._logins.with_key(params.key.strip())
            await self._completed_at_once(scope)
            return AccountAttemptState(way="key", stage="done", store=store)
        way: Way = "device" if params.way == "device" else "browser"
        waiting = self._logins.waiting
        if waiting is not None and waiting.way == way:
            return attempt_state(waiting)
        return attempt_state(await self._begin(way, scope))

    async def state(self, params: NoParams, scope: RequestScope) -> AccountAttemptState:
        """The last attempt as it stands."""
        attempts = list(self._logins.attempts.values())
        return attempt_state(attempts[-1]) if attempts else AccountAttemptState()

    async def open(self, params: NoParams, scope: RequestScope) -> LoginOpenResult:
        """Open the page in a browser of this machine, which is given an address of ours.

        What a program is started with can be seen by every user of the machine; the page's own
        address ties the answer to this attempt.
        """
        attempt = self._logins.waiting
        if attempt is None:
            raise InvalidRequest("this sign-in does not wait for anybody any more")
        redirect = attempt.redirect
        url = attempt.url if redirect is None or self._direct else redirect.link()
        return LoginOpenResult(opened=await self._browser.open(url))

    async def stop(self, params: NoParams, scope: RequestScope) -> Done:
        """End the attempt that waits; its port is free afterwards."""
        await self._logins.stop()
        return Done()

    async def sign_out(self, params: NoParams, scope: RequestScope) -> AccountSignOutResult:
        """Revoke the tokens and remove them from every store."""
        removed, note = await self._sign_out(scope)
        return AccountSignOutResult(removed=removed, note=note)

    # -- what follows

    async def _begin(self, way: Way, scope: RequestScope) -> AccountAttempt:
        def ended(attempt: AccountAttempt) -> None:
            if attempt.succeeded:
                self._spawn(self._succeeded, attempt, scope)
            else:
                self._tell(attempt.id, attempt.error, attempt.reason, scope)

        return await self._logins.begin(way, scope.caller.name, ended)

    async def _succeeded(self, attempt: AccountAttempt, scope: RequestScope) -> None:
        await self._account.refresh()
        self._tell(attempt.id, "", "", scope)
        await self._follow(scope)

    async def _completed_at_once(self, scope: RequestScope) -> None:
        await self._account.refresh()

        def tell() -> None:
            self._tell("", "", "", scope)
            self._spawn(self._follow, scope)

        scope.after_answer(tell)

    async def _sign_out(self, scope: RequestScope) -> tuple[bool, str]:
        before = await self._account.login()
        removed, note = await self._logins.sign_out()
        await self._account.refresh()
        after = await self._account.login()
        unwatched = _unwatched(before) or _unwatched(after)

        def tell() -> None:
            self._spawn(self._follow, scope, unwatched)

        scope.after_answer(tell)
        return removed, note

    def _tell(self, login_id: str, error: str, reason: str, scope: RequestScope) -> None:
        from core.protocol.account import AccountLoginCompleted

        done = AccountLoginCompleted(
            login_id=login_id or None, success=not error, error=error or None
        )
        scope.notify(COMPLETED, done)
        at = self._clock.now()
        self._emit(
            LoginCompleted(
                at=at,
                of="account",
                name=ABOUT,
                login_id=login_id,
                success=not error,
                error=reason,
            )
        )

    async def _follow(self, scope: RequestScope, unwatched: bool = False) -> None:
        from core.protocol.account import AccountUpdated

        login = await self._account.login()
        mode = _MODES.get(login.kind)
        if mode == "chatgpt" and self._logins.external is not None:
            mode = "chatgptAuthTokens"
        plan = login.plan if login.kind == "chatgpt" else None
        scope.notify(UPDATED, AccountUpdated(auth_mode=mode, plan_type=plan))
        await self._changed(unwatched or _unwatched(login))


def attempt_state(attempt: AccountAttempt) -> AccountAttemptState:
    """An attempt for the screen."""
    redirect, forward = attempt.redirect, ""
    if redirect is not None and attempt.stage == "waiting":
        forward = f"ssh -N -L {redirect.bound}:127.0.0.1:{redirect.bound} HOST"
    return AccountAttemptState(
        login_id=attempt.id,
        way=attempt.way,
        stage=attempt.stage,
        url=attempt.url,
        user_code=attempt.code.user_code if attempt.code is not None else "",
        forward=forward,
        ends_at=attempt.ends_at,
        store=attempt.store,
        reason=attempt.reason,
        rejected=attempt.rejected,
    )


def _needed(value: str | None, name: str) -> str:
    if value is None:
        raise InvalidRequest(f"Invalid request: missing field `{name}`")
    return value


def _unwatched(login: Login) -> bool:
    return login.store in ("keyring", "memory")


def _no_apps(login: Login, why: str) -> str:
    if login.kind == "none":
        return "nobody is signed in"
    if login.kind == "apiKey":
        return "an API key has none"
    return login.reason or why


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2]
