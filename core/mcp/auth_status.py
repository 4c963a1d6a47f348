"""How a server is authorised: the `authStatus` of the wire."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import CoreError
from core.mcp.rows import AuthState
from core.mcp.spec import Endpoint, ServerSpec
from core.seams import AuthProbe, BearerSource, SignInTarget

_PRESUMED = {
    "unknown": "the credentials cannot be read",
    "notLoggedIn": "what is stored is of no use any more",
}


@dataclass(frozen=True, kw_only=True)
class AuthJudge:
    """Decides by what is configured, then by what is stored, then by asking the server."""

    probe: AuthProbe
    bearer: BearerSource | None = None

    async def state(self, spec: ServerSpec) -> AuthState:
        """The state of one server; takes 5 s at most, never raises.

        Source: observed in Codex 0.171.0: servers that are not usable and processes are
        `unsupported`; a bearer variable counts even when it is not set; a headers helper, an
        unreadable store and an undecided probe make it `unknown`.
        """
        target = spec.target
        if not isinstance(target, Endpoint) or not spec.usable:
            return AuthState()
        if target.hosted:
            return AuthState(status="bearerToken" if target.bearer else "unsupported")
        if target.authorized:
            if target.bearer_variable and not target.bearer:
                return AuthState(
                    status="bearerToken", reason=f"{target.bearer_variable} is not set"
                )
            return AuthState(status="bearerToken")
        if not target.sign_in:
            return AuthState()
        stored = await self._stored(spec.sign_in_target(target))
        if stored != "none":
            return await self._held(spec.sign_in_target(target), stored)
        if target.helper:
            return AuthState(status="unknown", reason="the headers helper may authorise")
        return await self._asked(spec.sign_in_target(target))

    async def _stored(self, target: SignInTarget) -> str:
        if self.bearer is None:
            return "none"
        try:
            return await self.bearer.status(target)
        except CoreError:
            return "unknown"

    async def _held(self, target: SignInTarget, stored: str) -> AuthState:
        if self.bearer is None:
            return AuthState(status=stored)
        why = await self.bearer.why(target)
        until, renews = await self.bearer.ends(target)
        reason = why or _PRESUMED.get(stored, "")
        return AuthState(status=stored, reason=reason, until=until, renews=renews)

    async def _asked(self, target: SignInTarget) -> AuthState:
        offered = await self.probe.offers_oauth(target)
        if offered is None:
            return AuthState(status="unknown", reason="the server did not say whether it needs one")
        return AuthState(status="notLoggedIn" if offered else "unsupported")
