"""Signing in to MCP servers: mcpServer/oauth/login, and what the panel does with attempts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from core.auth.attempt import Attempt
from core.auth.sign_in import TIMEOUT, SignIns, Wishes
from core.config.model import Loaded
from core.errors import CoreError, InternalError, InvalidRequest
from core.mcp.effective import Reading
from core.mcp.spec import Endpoint, ServerSpec, labelled
from core.ports import Clock
from core.protocol.events import Event, LoginCompleted
from core.scope import RequestScope
from core.seams import AuthProbe
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

    Emits: `LoginCompleted`.
    """

    def __init__(
        self,
        sign_ins: SignIns,
        threads: ThreadManager,
        panel: Panel,
        probe: AuthProbe,
        clock: Clock,
        emit: Callable[[Event], None],
    ) -> None:
        self._sign_ins, self._threads, self._panel = sign_ins, threads, panel
        self._probe, self._clock, self._emit = probe, clock, emit

    def handlers(self) -> dict[str, Handler]:
        return {"mcpServer/oauth/login": self.login}

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
        thread_id: str | None,
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
        )

    # -- which server

    async def _reading(self, thread_id: str | None, scope: RequestScope) -> Reading:
        if thread_id is not None:
            return await self._threads.reading_of(self._threads.get(thread_id))
        own = self._panel.thread
        if scope.caller.policy.keep_connections and own is not None:
            return await self._threads.reading_of(own)
        return await self._threads.source.read()

    def _server(
        self, reading: Reading, name: str, environment: str | None, *, threaded: bool
    ) -> tuple[ServerSpec, Endpoint]:
        """The server to sign in to; refusals come before anything is asked of it."""
        spec = next((each for each in reading.specs if each.name == name), None)
        if spec is None or spec.standing in ("untrusted", "invalid"):
            raise InvalidRequest(f"No MCP server named '{labelled(name, environment)}' found.")
        if environment is not None and environment != (spec.environment_id or "local"):
            raise InvalidRequest(f"No MCP server named '{labelled(name, environment)}' found.")
        if spec.standing == "blocked":
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
            self._stored(attempt.server, attempt.server_url, attempt.thread_id)

    def _stored(self, server: str, url: str, thread_id: str | None) -> None:
        self._probe.forget(url)
        own = self._panel.thread
        if thread_id is not None and (own is None or thread_id != own.id):
            try:
                self._threads.signed_in(thread_id, server)
            except InvalidRequest:
                pass  # the thread has gone meanwhile
        if own is not None:
            self._panel.signed_in(server)
