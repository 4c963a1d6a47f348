"""The token endpoint: forms out, tokens or a known refusal back (RFC 6749 section 5)."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus, urlencode

from core.auth.outgoing import Answer, Outgoing
from core.errors import CoreError

if TYPE_CHECKING:
    import httpx

CLIENT_LOST = frozenset({"invalid_client", "unauthorized_client"})
FINAL = frozenset({"invalid_grant"}) | CLIENT_LOST
_SAYABLE = frozenset({"grant_type", "client_id", "redirect_uri", "resource", "scope"})
FORM = {"content-type": "application/x-www-form-urlencoded"}


class TokensRefused(CoreError):
    """The endpoint said no, or nothing that makes sense.

    Attributes:
        error: The OAuth error code, or "" where it gave none.
        status: Of the HTTP answer.
    """

    def __init__(self, error: str, description: str, status: int) -> None:
        said = error or f"HTTP {status}"
        super().__init__(f"Server returned error response: {said}{_tail(description)}")
        self.error, self.status = error, status


def _tail(description: str) -> str:
    return f": {description[:200]}" if description else ""


@dataclass(frozen=True, kw_only=True)
class Tokens:
    """What was granted. `expires_in` in seconds; None where the answer does not say."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_in: float | None = None
    scopes: tuple[str, ...] | None = None

    def ends_at(self, now: float) -> int | None:
        """Milliseconds since the epoch."""
        return None if self.expires_in is None else int((now + self.expires_in) * 1000)


@dataclass(frozen=True, kw_only=True)
class Client:
    """Who asks. `secret` is sent as HTTP Basic unless `post`: then in the form."""

    client_id: str
    secret: str | None = field(default=None, repr=False)
    post: bool = False

    def headers(self) -> dict[str, str]:
        """That authenticate it."""
        if self.secret is None or self.post:
            return {}
        pair = f"{quote_plus(self.client_id)}:{quote_plus(self.secret)}"
        return {"authorization": "Basic " + base64.b64encode(pair.encode()).decode()}

    def members(self) -> list[tuple[str, str]]:
        """Of the form."""
        secret = [("client_secret", self.secret)] if self.secret is not None and self.post else []
        return [("client_id", self.client_id), *secret]


async def ask_tokens(
    out: Outgoing, url: httpx.URL, client: Client, members: Sequence[tuple[str, str]]
) -> Tokens:
    """Ask for tokens once.

    Raises:
        TokensRefused: Any other answer.
        Unanswered: None at all.
    """
    answer = await post_form(out, url, client, members)
    value = answer.value
    if not answer.ok or value is None:
        error, description = _told(value, [*members, *client.members()])
        raise TokensRefused(error, description, answer.status)
    token, kind = value.get("access_token"), value.get("token_type", "bearer")
    if not isinstance(token, str) or not token or not token.isascii() or not token.isprintable():
        raise TokensRefused("", "it grants no access token", answer.status)
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise TokensRefused("", "its tokens are no bearer tokens", answer.status)
    refresh, scope = value.get("refresh_token"), value.get("scope")
    return Tokens(
        access_token=token,
        refresh_token=refresh if isinstance(refresh, str) and refresh else None,
        expires_in=_seconds(value.get("expires_in")),
        scopes=tuple(scope.split()) if isinstance(scope, str) else None,
    )


async def post_form(
    out: Outgoing, url: httpx.URL, client: Client, members: Sequence[tuple[str, str]]
) -> Answer:
    """A form of an authenticated client. Raises Unanswered."""
    form = urlencode([*members, *client.members()])
    return await out.post(url, form.encode(), {**FORM, **client.headers()})


def _told(value: dict[str, Any] | None, sent: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """The error code, and its description without what it repeats of our secrets."""
    error = value.get("error") if value else None
    description = value.get("error_description") if value else None
    code = error if isinstance(error, str) and error.replace("_", "").isalnum() else ""
    if not code or not isinstance(description, str):
        return code[:64], ""
    for name, secret in sent:
        if name not in _SAYABLE and secret:
            for spelled in (secret, quote(secret, safe=""), quote_plus(secret)):
                description = description.replace(spelled, "…")
    return code[:64], description


def _seconds(value: Any) -> float | None:
    """Some servers put the number into quotes."""
    if isinstance(value, str) and value.isdecimal():
        value = int(value[:12])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 10**10 else None
