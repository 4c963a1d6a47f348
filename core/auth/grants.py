"""What a sign-in to an MCP server leaves behind, in the two forms that Codex stores it in."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, cast

import msgspec

MARGIN = 30.0
"""Seconds before its end at which a token counts as expired (observed in Codex 0.171.0)."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """Tokens of one server.

    Attributes:
        issuer: Of the authorization server, or None where it did not say; without one the
            tokens are never refreshed.
        expires_at: Milliseconds since the epoch, None when nobody knows.
        scopes: As granted.
    """

    server_name: str
    server_url: str
    client_id: str
    access_token: str = field(repr=False)
    issuer: str | None = None
    refresh_token: str | None = field(default=None, repr=False)
    expires_at: int | None = None
    scopes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Under which both stores have it."""
        return store_key(self.server_name, self.server_url)

    @property
    def renewable(self) -> bool:
        """It can be refreshed, at the server that granted it."""
        return self.refresh_token is not None and self.issuer is not None

    def expired(self, now: float) -> bool:
        """Whether it is not to be used any more at `now`, seconds since the epoch."""
        return self.expires_at is not None and now + MARGIN >= self.expires_at / 1000


def store_key(server: str, url: str) -> str:
    """Name of the entry for a server at a URL (observed in Codex 0.171.0)."""
    text = msgspec.json.encode({"type": "http", "url": url, "headers": {}})
    return f"{server}|{sha256(text).hexdigest()[:16]}"


def callback_id(url: str) -> str:
    """Tells redirects of different servers apart; of the URL as it is configured."""
    return base64.urlsafe_b64encode(sha256(url.encode()).digest()).decode()[:12]


def file_entry(grant: Grant) -> dict[str, Any]:
    """As `.credentials.json` has it."""
    entry: dict[str, Any] = {"server_name": grant.server_name, "server_url": grant.server_url}
    if grant.issuer is not None:
        entry["issuer"] = grant.issuer
    return entry | {
        "client_id": grant.client_id,
        "access_token": grant.access_token,
        "expires_at": grant.expires_at,
        "refresh_token": grant.refresh_token,
        "scopes": list(grant.scopes),
    }


def of_file_entry(entry: Mapping[str, Any]) -> Grant | None:
    """None for an entry that lacks what every one has, or has it wrongly."""
    scopes: Any = entry.get("scopes")
    return _grant(
        entry,
        url=entry.get("server_url"),
        token=entry.get("access_token"),
        refresh=entry.get("refresh_token"),
        scopes=cast("list[Any]", scopes) if isinstance(scopes, list) else [],
    )


def secret_text(grant: Grant, now: float) -> str:
    """As the keyring has it; `now` in seconds since the epoch."""
    tokens: dict[str, Any] = {"access_token": grant.access_token, "token_type": "bearer"}
    if grant.expires_at is not None:
        tokens["expires_in"] = max(0, int(grant.expires_at / 1000 - now))
    if grant.refresh_token is not None:
        tokens["refresh_token"] = grant.refresh_token
    if grant.scopes:
        tokens["scope"] = " ".join(grant.scopes)
    entry: dict[str, Any] = {"server_name": grant.server_name, "url": grant.server_url}
    if grant.issuer is not None:
        entry["issuer"] = grant.issuer
    entry |= {
        "client_id": grant.client_id,
        "token_response": tokens,
        "expires_at": grant.expires_at,
    }
    return msgspec.json.encode(entry).decode()


def of_secret_text(text: str) -> Grant | None:
    """None for what is no entry of the keyring."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    entry = cast("dict[str, Any]", value)
    told: Any = entry.get("token_response")
    if not isinstance(told, dict):
        return None
    tokens = cast("dict[str, Any]", told)
    scope: Any = tokens.get("scope")
    return _grant(
        entry,
        url=entry.get("url"),
        token=tokens.get("access_token"),
        refresh=tokens.get("refresh_token"),
        scopes=scope.split() if isinstance(scope, str) else [],
    )


def _grant(
    entry: Mapping[str, Any], *, url: Any, token: Any, refresh: Any, scopes: list[Any]
) -> Grant | None:
    name, client = entry.get("server_name"), entry.get("client_id")
    issuer, expires = entry.get("issuer"), entry.get("expires_at")
    if not (isinstance(name, str) and isinstance(client, str)):
        return None
    if not (isinstance(url, str) and isinstance(token, str)):
        return None
    return Grant(
        server_name=name,
        server_url=url,
        client_id=client,
        access_token=token,
        issuer=issuer if isinstance(issuer, str) else None,
        refresh_token=refresh if isinstance(refresh, str) else None,
        expires_at=expires if type(expires) is int else None,
        scopes=tuple(each for each in scopes if isinstance(each, str)),
    )
