"""Signing in from another machine: the device authorization grant (RFC 8628)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from core.auth.attempt import DeviceCode
from core.auth.outgoing import Outgoing, Unanswered
from core.auth.registration import DEVICE_GRANT
from core.auth.token_endpoint import Client, Tokens, TokensRefused, ask_tokens, post_form
from core.errors import CoreError
from core.ports import Clock

if TYPE_CHECKING:
    import httpx

_INTERVAL, _SLOWER, _LIFETIME = 5.0, 5.0, 900.0
_MOST_INTERVAL = 60.0


class Opened(Protocol):
    """Makes what sends requests."""

    def __call__(self) -> AbstractAsyncContextManager[Outgoing]: ...


async def ask_device_code(
    out: Outgoing,
    url: httpx.URL,
    client: Client,
    scopes: Sequence[str] | None,
    resources: Sequence[str],
) -> DeviceCode:
    """Ask for a code that the person types in. Raises CoreError."""
    members = [("scope", " ".join(scopes))] if scopes else []
    members += [("resource", each) for each in resources]
    answer = await post_form(out, url, client, members)
    value = answer.value or {}
    code, user, page = (
        value.get(name) for name in ("device_code", "user_code", "verification_uri")
    )
    if not answer.ok or not (code and user and page):
        raise CoreError(f"the authorization server gives no device code: HTTP {answer.status}")
    return DeviceCode(
        device_code=str(code),
        user_code=str(user),
        page=str(page),
        page_with_code=str(value.get("verification_uri_complete") or ""),
        interval=_number(value.get("interval"), _INTERVAL),
        lifetime=_number(value.get("expires_in"), _LIFETIME),
    )


@dataclass(frozen=True, kw_only=True)
class DevicePoll:
    """Asks until the person has answered."""

    opened: Opened
    url: httpx.URL
    client: Client
    code: DeviceCode
    clock: Clock

    async def tokens(self) -> Tokens:
        """Wait for tokens. Raises CoreError: refused, or too late."""
        interval = self.code.interval
        ends = self.clock.monotonic() + self.code.lifetime
        members = [("grant_type", DEVICE_GRANT), ("device_code", self.code.device_code)]
        while self.clock.monotonic() + interval < ends:
            await self.clock.sleep(interval)
            try:
                async with self.opened() as out:
                    return await ask_tokens(out, self.url, self.client, members)
            except Unanswered:
                interval = min(2 * interval, _MOST_INTERVAL)
            except TokensRefused as error:
                if error.error == "slow_down":
                    interval += _SLOWER
                elif error.error != "authorization_pending" and error.status < 500:
                    raise
        raise CoreError("the device code has expired")


def _number(value: Any, default: float) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return float(value) if good else default
