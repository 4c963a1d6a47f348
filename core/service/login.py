"""Signing in to MCP servers: mcpServer/oauth/login, and what the panel does with attempts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from core.auth.attempt import Attempt
from core.auth.beginning import TIMEOUT, Wishes
from core.auth.grants import store_key
from core.auth.sign_in import SignIns
from core.config.model import Loaded
from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp.effective import Reading
from core.mcp.spec import Endpoint, ServerSpec, labelled
from core.ports import Browser, Clock
from core.protocol.events import Event, LoginCompleted
from core.protocol.jackfield import Done, NameParams, NoParams
from core.protocol.login import (
    CredentialState,
    LoginDevice,
    LoginIdParams,
    LoginList,
    LoginOpenResult,
    LoginPasteParams,
    LoginPasteResult,
    LoginStartParams,
    LoginState,
    LoginStep,
    SignOutResult,
)
from core.scope import RequestScope
from core.seams import SignInTarget
from core.service.credentials import CredentialFollower
from core.service.dispatch import Handler
from core.threads.manager import ThreadManager
from core.threads.panel import Panel

if TYPE_CHECKING:
    from core.protocol.oauth import McpServerOauthLoginParams, McpServerOauthLoginResult

COMPLETED = "mcpServer/oauthLogin/completed"
_BLOCKED = (
    "failed to resolve MCP server runtime: the MCP server is disabled by managed requirements"
)


class LoginService:
    """The methods of every face.

    Args:
        direct: Browsers get the page's own address, as they may run on another machine.

    Emits: `LoginCompleted`.
    """

    def __init__(
        self,
        sign_ins: SignIns,
        threads: ThreadManager,
        panel: Panel,
        follower: CredentialFollower,
        clock: Clock,
        browser: Browser,
        emit: Callable[[Event], None],
        *,
        direct: bool = False,
    ) -> None:
        self._sign_ins, self._threads, self._panel = sign_ins, threads, panel
        self._follower, self._clock, self._emit = follower, clock, emit
        self._browser, self._direct = browser, direct

    def handlers(self) -> dict[str, Handler]:
        return {
            "mcpServer/oauth/login": self.login,
            "jackfield/login/start": self.start,
            "jackfield/login/state": self.state,
            "jackfield/login/list": self.list,
            "jackfield/login/paste": self.paste,
            "jackfield/login/open": self.open,
            "jackfield/login/cancel": self.cancel,
            "jackfield/login/signOut": self.sign_out,
            "jackfield/login/forget": self.forget,
            "jackfield/login/credentials": self.credentials,
        }

    async def login(
        self, params: McpServerOauthLoginParams, scope: RequestScope
    ) -> McpServerOauthLoginResult:
        """Begin an attempt; how it ends is told by a notification.

        Raises:
            InvalidRequest: There is no such server, or none that can be signed in to.
            InternalError: Managed requirements forbid it, or it could not be begun.
        """
        from core.protocol.oauth import McpServerOauthLoginCompleted, McpServerOauthLoginResult

        reading = await self._reading(params.thread_id, scope)
        spec, endpoint = self._server(
            reading, params.name, params.environment_id, threaded=params.thread_id is not None
        )
        wishes = self._wishes(
            reading.loaded,
            scopes=None if params.scopes is None else tuple(params.scopes),
            timeout=TIMEOUT if params.timeout_secs is None else float(params.timeout_secs),
            registration=params.client_registration or "auto",
            thread_id=params.thread_id,
        )

        def ended(attempt: Attempt) -> None:
            self._ended(attempt)
            done = McpServerOauthLoginCompleted(
                name=attempt.server,
                thread_id=attempt.thread_id,
                login_id=attempt.id,
                success=attempt.succeeded,
                error=None if attempt.succeeded else attempt.error,
            )
            scope.notify(COMPLETED, done)
            self._follow(attempt)

        attempt = await self._begin(spec, endpoint, wishes, scope, ended)
        return McpServerOauthLoginResult(authorization_url=attempt.url, login_id=attempt.id)

    async def _begin(
        self,
        spec: ServerSpec,
        endpoint: Endpoint,
        wishes: Wishes,
        scope: RequestScope,
        ended: Callable[[Attempt], None],
    ) -> Attempt:
        try:
            return await self._sign_ins.begin(
                spec.sign_in_target(endpoint), wishes, scope.caller.policy, ended
            )
        except CoreError as error:
            raise InternalError(
                f"failed to login to MCP server '{spec.name}': {error.message}",
                data=error.data if scope.caller.policy.negotiate else None,
                hint=error.hint,
                evidence=error.evidence,
            ) from None

    def _wishes(
        self,
        loaded: Loaded,
        *,
        scopes: tuple[str, ...] | None,
        timeout: float,
        registration: Literal["auto", "cimd", "dcr"],
        thread_id: str | None = None,
        **more: Any,
    ) -> Wishes:
        url = loaded.get("mcp_oauth_callback_url")
        port = loaded.get("mcp_oauth_callback_port")
        return Wishes(
            scopes=scopes,
            timeout=max(1.0, timeout),
            registration=registration,
            callback_url=url if isinstance(url, str) else None,
            callback_port=port if type(port) is int else None,
            thread_id=thread_id,
            **more,
        )

    # -- ours

    async def start(self, params: LoginStartParams, scope: RequestScope) -> LoginState:
        """Begin an attempt for the panel; `LoginCompleted` tells its end.

        Raises:
            InvalidRequest, InternalError: As `login`; `data` has the trail of what was asked.
        """
        reading = await self._reading(None, scope)
        spec, endpoint = self._server(reading, params.name, None, threaded=False)
        if (waiting := self._waiting(spec.name, endpoint.url)) is not None:
            if not params.anew:
                return login_state(waiting)
            waiting.cancel()
        wishes = self._wishes(
            reading.loaded,
            scopes=params.scopes,
            timeout=params.timeout_secs,
            registration="auto",
            resource=params.resource,
            allowed=params.allow_hosts,
            device=params.device,
        )

        def ended(attempt: Attempt) -> None:
            self._ended(attempt)
            self._follow(attempt)

        return login_state(await self._begin(spec, endpoint, wishes, scope, ended))

    async def state(self, params: LoginIdParams, scope: RequestScope) -> LoginState:
        """An attempt as it stands, until long after its end."""
        return login_state(self._attempt(params.login_id))

    async def list(self, params: NoParams, scope: RequestScope) -> LoginList:
        """All attempts."""
        attempts = reversed(self._sign_ins.attempts.values())
        return LoginList(attempts=tuple(map(login_state, attempts)))

    async def paste(self, params: LoginPasteParams, scope: RequestScope) -> LoginPasteResult:
        """Take a redirect that could not come by itself."""
        reason = await self._attempt(params.login_id).pasted(params.text)
        return LoginPasteResult(accepted=not reason, reason=reason)

    async def open(self, params: LoginIdParams, scope: RequestScope) -> LoginOpenResult:
        """Open the page in a browser of this machine.

        The browser is given an address of ours that leads there once: an argument of a program
        is no secret, and the page's own address ties the answer to this attempt.
        """
        attempt = self._attempt(params.login_id)
        redirect = attempt.redirect
        if redirect is None or attempt.stage != "waiting":
            raise InvalidRequest("this sign-in does not wait for anybody any more")
        url = attempt.url if self._direct or redirect.everywhere else redirect.link()
        return LoginOpenResult(opened=await self._browser.open(url))

    async def cancel(self, params: LoginIdParams, scope: RequestScope) -> Done:
        """End an attempt that waits; its port is free at once."""
        if not self._sign_ins.cancel(params.login_id):
            raise InvalidRequest("this sign-in does not wait for anybody any more")
        return Done()

    async def sign_out(self, params: NameParams, scope: RequestScope) -> SignOutResult:
        """Revoke the tokens where that is offered, and remove them from every store."""
        target = await self._target(params.name, scope)
        removed, note = await self._sign_ins.sign_out(target)
        self._follower.stored(target.server, target.url, None)
        return SignOutResult(removed=removed, revoked=removed and not note, note=note)

    async def forget(self, params: NameParams, scope: RequestScope) -> Done:
        """Forget the client that was registered for a server; the next sign-in makes a new one."""
        target = await self._target(params.name, scope)
        await self._sign_ins.clients.remove(store_key(target.server, target.url))
        return Done()

    async def credentials(self, params: NameParams, scope: RequestScope) -> CredentialState:
        """What is stored for a server. Asks the store, and nobody else."""
        return await self._follower.state(await self._target(params.name, scope))

    def _waiting(self, name: str, url: str) -> Attempt | None:
        """One flow per server: whoever else wants to sign in joins it."""
        for attempt in self._sign_ins.attempts.values():
            if (attempt.server, attempt.server_url) == (name, url) and not attempt.over.is_set():
                return attempt
        return None

    def _attempt(self, login_id: str) -> Attempt:
        attempt = self._sign_ins.attempts.get(login_id)
        if attempt is None:
            raise InvalidRequest("there is no such sign-in")
        return attempt

    async def _target(self, name: str, scope: RequestScope) -> SignInTarget:
        reading = await self._reading(None, scope)
        spec, endpoint = self._server(reading, name, None, threaded=False, allowed=False)
        return spec.sign_in_target(endpoint)

    # -- which server

    async def _reading(self, thread_id: str | None, scope: RequestScope) -> Reading:
        if thread_id is not None:
            return await self._threads.reading_of(self._threads.get(thread_id))
        own = self._panel.thread
        if scope.caller.policy.keep_connections and own is not None:
            return await self._threads.reading_of(own)
        return await self._threads.source.read()

    def _server(
        self,
        reading: Reading,
        name: str,
        environment: str | None,
        *,
        threaded: bool,
        allowed: bool = True,
    ) -> tuple[ServerSpec, Endpoint]:
        """The server to sign in to; refusals come before anything is asked of it."""
        spec = next((each for each in reading.specs if each.name == name), None)
        if spec is None or spec.standing in ("untrusted", "invalid"):
            raise InvalidRequest(f"No MCP server named '{labelled(name, environment)}' found.")
        if environment is not None and environment != (spec.environment_id or "local"):
            raise InvalidRequest(f"No MCP server named '{labelled(name, environment)}' found.")
        if allowed and spec.standing == "blocked":
            raise InternalError(_BLOCKED, evidence=spec.enabled_at, hint=spec.reason)
        endpoint = spec.target
        if not isinstance(endpoint, Endpoint):
            raise InvalidRequest("OAuth login is only supported for streamable HTTP servers.")
        if endpoint.enterprise:
            if not threaded:
                raise InvalidRequest("enterprise MCP login requires a connected thread")
            if not spec.enabled:
                raise InvalidRequest(f"MCP server '{name}' is disabled")
            raise InvalidRequest("enterprise MCP login is not offered here")
        if endpoint.hosted:
            raise InvalidRequest(f"No MCP server named '{labelled(name, environment)}' found.")
        return spec, endpoint

    # -- afterwards

    def _ended(self, attempt: Attempt) -> None:
        self._emit(
            LoginCompleted(
                at=self._clock.now(),
                name=attempt.server,
                login_id=attempt.id,
                success=attempt.succeeded,
                error=attempt.reason,
            )
        )

    def _follow(self, attempt: Attempt) -> None:
        """What runs gets the new tokens."""
        if attempt.succeeded:
            self._follower.stored(attempt.server, attempt.server_url, attempt.thread_id)


def login_state(attempt: Attempt) -> LoginState:
    """An attempt for the screen."""
    redirect, device, server = attempt.redirect, attempt.device, attempt.found.server
    forward = ""
    if redirect is not None and not redirect.everywhere and attempt.stage == "waiting":
        forward = f"ssh -N -L {redirect.bound}:127.0.0.1:{redirect.bound} HOST"
    return LoginState(
        login_id=attempt.id,
        name=attempt.server,
        stage=attempt.stage,
        host=_host(attempt.server_url),
        authorizer=_host(server.authorization_endpoint) or _host(server.base),
        url=attempt.url,
        redirect_uri=redirect.uri if redirect is not None else "",
        forward=forward,
        open_to_network=redirect is not None and redirect.everywhere,
        offers_device=server.device_endpoint is not None,
        device=None
        if device is None
        else LoginDevice(
            user_code=device.user_code,
            page=device.page,
            page_with_code=device.page_with_code,
            interval=device.interval,
        ),
        ends_at=attempt.ends_at,
        scopes=attempt.scopes or (),
        scopes_before=attempt.scopes_before,
        missing=attempt.missing,
        trail=tuple(
            LoginStep(verb=step.verb, url=step.url, status=step.status, note=step.note)
            for step in attempt.trail
        ),
        warnings=attempt.found.warnings,
        store=attempt.store,
        store_note=attempt.store_note,
        reason=attempt.reason,
        rejected=attempt.rejected,
    )


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).netloc.rpartition("@")[2]
