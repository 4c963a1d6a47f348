"""Sessions for entries: who we say we are, and what authorises us."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from core.mcp.client.session import Session
from core.mcp.faults import StartFailed
from core.mcp.headers_helper import HeadersHelper
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.net.challenge import missing_scopes
from core.ports import HttpFactory
from core.process import Processes
from core.seams import BearerSource
from core.threads.policy import ThreadPolicy

if TYPE_CHECKING:
    from core.mcp.client.eras import Era

_UI = "io.modelcontextprotocol/ui"
_FORM = "openai/form"


@dataclass(frozen=True, kw_only=True)
class Plumbing:
    """What all sessions of a core share.

    Attributes:
        bearer: None where there is no sign-in.
        overheard: Called with each line that a process writes beside the protocol.
    """

    processes: Processes
    http: HttpFactory
    helper: HeadersHelper
    version: str
    bearer: BearerSource | None = None
    overheard: Callable[[ServerSpec, bytes], None] | None = None


class Links:
    """The `SessionMaker` for one kind of client.

    Args:
        client: `capabilities` of the client on whose behalf we connect; what concerns servers is
            passed on to them.
    """

    def __init__(
        self, plumbing: Plumbing, policy: ThreadPolicy, client: Mapping[str, Any] | None = None
    ) -> None:
        self._plumbing, self._policy = plumbing, policy
        self._extensions = _passed_on(client or {})

    def session(self, spec: ServerSpec, *, threaded: bool) -> AbstractAsyncContextManager[Session]:
        match spec.target:
            case Program():
                return self._process(spec, spec.target, threaded)
            case Endpoint():
                return self._endpoint(spec, spec.target, threaded)
            case None:
                raise StartFailed(spec.reason)

    async def credentials(self, spec: ServerSpec) -> str:
        bearer, target = self._plumbing.bearer, spec.target
        if bearer is None or not isinstance(target, Endpoint) or not _signs_in(target):
            return "none"
        return await bearer.status(spec.sign_in_target(target))

    def capabilities(self, *, threaded: bool) -> dict[str, Any]:
        """What `initialize` declares."""
        able: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
        if threaded and not self._policy.negotiate:
            able["experimental"] = {"codex/auth-change": {}}
        if self._extensions:
            able["extensions"] = self._extensions
        return able

    @asynccontextmanager
    async def _process(
        self, spec: ServerSpec, program: Program, threaded: bool
    ) -> AsyncGenerator[Session]:
        from core.mcp.client.factory import open_stdio_session
        from core.mcp.client.stdio import StdioTarget

        tell = self._plumbing.overheard
        target = StdioTarget(
            command=program.argv[0],
            args=program.argv[1:],
            env=program.env,
            cwd=program.cwd,
            overheard=partial(tell, spec) if tell is not None else None,
        )
        async with open_stdio_session(
            target, self._introduction(threaded), processes=self._plumbing.processes
        ) as session:
            yield session

    @asynccontextmanager
    async def _endpoint(
        self, spec: ServerSpec, endpoint: Endpoint, threaded: bool
    ) -> AsyncGenerator[Session]:
        from core.mcp.client.factory import open_http_session
        from core.mcp.client.wire import HttpTarget

        target = HttpTarget(
            url=endpoint.url,
            headers=await self._headers(spec, endpoint),
            authorize=self._authorize(spec, endpoint) if _signs_in(endpoint) else None,
            refused=self._refused(spec, endpoint) if _signs_in(endpoint) else None,
            redirects=endpoint.redirects,
            legacy_sse=self._policy.negotiate and not (endpoint.hosted or endpoint.enterprise),
        )
        # Enterprise servers speak the newer protocol first, and the older one where they must.
        era = "auto" if endpoint.enterprise else "handshake"
        async with open_http_session(
            target, self._introduction(threaded, era), http=self._plumbing.http
        ) as session:
            yield session

    async def _headers(self, spec: ServerSpec, endpoint: Endpoint) -> dict[str, str]:
        headers = dict(endpoint.headers)
        if endpoint.helper:
            printed = await self._plumbing.helper.headers(endpoint.helper, endpoint.helper_cwd)
            spec.secrets.add(*printed.values())
            headers = _over(headers, printed)
        if endpoint.bearer:
            headers = _over(headers, {"Authorization": f"Bearer {endpoint.bearer}"})
        return headers

    def _authorize(self, spec: ServerSpec, endpoint: Endpoint) -> Any:
        bearer = self._plumbing.bearer
        if bearer is None:
            return None
        target = spec.sign_in_target(endpoint)

        async def authorize(rejected: str | None) -> str | None:
            if rejected is None:
                token = await bearer.bearer(target)
            else:
                token = await bearer.rejected(target, rejected)
            if token:
                spec.secrets.add(token)
            return token

        return authorize

    def _refused(self, spec: ServerSpec, endpoint: Endpoint) -> Any:
        bearer = self._plumbing.bearer
        if bearer is None:
            return None
        target = spec.sign_in_target(endpoint)

        async def refused(status: int, challenges: Sequence[str]) -> None:
            missing = missing_scopes(status, challenges)
            if missing is not None:
                await bearer.insufficient(target, missing)

        return refused

    def _introduction(self, threaded: bool, era: Era = "handshake") -> Any:
        from core.mcp.client.eras import Introduction

        identity = self._policy.identity
        return Introduction(
            name=identity.client_name,
            title=identity.client_title,
            version=self._plumbing.version,
            capabilities=self.capabilities(threaded=threaded),
            era=era,
        )


def _signs_in(endpoint: Endpoint) -> bool:
    """Stored OAuth tokens apply: nothing else authorises."""
    return endpoint.sign_in and not endpoint.authorized


def _over(under: Mapping[str, str], over: Mapping[str, str]) -> dict[str, str]:
    """Both together; names of headers know no case."""
    names = {name.lower() for name in over}
    return {**{k: v for k, v in under.items() if k.lower() not in names}, **over}


def _passed_on(client: Mapping[str, Any]) -> dict[str, Any]:
    """Of a client's capabilities what servers are told."""
    announced: Any = client.get("extensions")
    extensions = cast("dict[str, Any]", announced) if isinstance(announced, dict) else {}
    passed: dict[str, Any] = {}
    if client.get("mcpServerOpenaiFormElicitation") or _FORM in extensions:
        passed[_FORM] = {}
    if _UI in extensions:
        passed[_UI] = extensions[_UI]
    return passed
