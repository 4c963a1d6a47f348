"""The issuer of ChatGPT accounts: what is asked of it, as observed in Codex 0.171.0.

Which one it is comes from the environment that Codex reads too, so that all of it runs against a
loopback issuer: `CODEX_APP_SERVER_LOGIN_ISSUER`, `CODEX_APP_SERVER_LOGIN_CLIENT_ID`,
`CODEX_REFRESH_TOKEN_URL_OVERRIDE`, `CODEX_REVOKE_TOKEN_URL_OVERRIDE`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import quote, urlencode

import anyio
import msgspec

from core.auth.attempt import Proof
from core.auth.auth_file import decode_claims
from core.errors import CoreError, InternalError
from core.net.backend import host_of
from core.net.body import BodyUnreadable, read_capped
from core.net.failures import net_failure
from core.ports import HttpFactory

ISSUER = "https://auth.openai.com"
CLIENT_ID = "app_EMoamEEZ73f0CkXaXp7hrann"
SCOPES = "openid profile email offline_access api.connectors.read api.connectors.invoke"
LIMIT = 20.0
"""Seconds for one request."""
KEY_LIMIT = 6.0
REVOKE_LIMIT = 8.0
_MOST_BYTES = 1 << 20
_FORM = "application/x-www-form-urlencoded"
_JSON = "application/json"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
_SPENT = frozenset(
    {"refresh_token_expired", "refresh_token_reused", "refresh_token_invalidated", "invalid_grant"}
)


class AccountRefused(InternalError):
    """The issuer said no. `spent`: the refresh token is of no use any more; `status`: of HTTP."""

    def __init__(self, message: str, *, status: int = 0, spent: bool = False) -> None:
        super().__init__(message, hint="sign in again" if spent else "")
        self.status, self.spent = status, spent


@dataclass(frozen=True, kw_only=True)
class AccountTokens:
    """What a sign-in brought; both are needed."""

    id_token: str = field(repr=False)
    access_token: str = field(repr=False)
    refresh_token: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class AccountCode:
    """To be typed in at `page`. `interval`: seconds between two questions."""

    user_code: str
    page: str
    interval: float
    device_id: str = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A code that was granted, and what proves that it is ours."""

    code: str = field(repr=False)
    verifier: str = field(repr=False)
    redirect_uri: str


class AccountIssuer:
    """One issuer over HTTP. Every request has a deadline; no redirect is followed."""

    def __init__(self, http: HttpFactory, environ: Mapping[str, str]) -> None:
        self._http = http
        named = environ.get("CODEX_APP_SERVER_LOGIN_ISSUER", "").rstrip("/")
        self.url = named or ISSUER
        self.client_id = environ.get("CODEX_APP_SERVER_LOGIN_CLIENT_ID", "") or CLIENT_ID
        self._refresh = environ.get("CODEX_REFRESH_TOKEN_URL_OVERRIDE") or f"{self.url}/oauth/token"
        self._revoke = environ.get("CODEX_REVOKE_TOKEN_URL_OVERRIDE") or f"{self.url}/oauth/revoke"

    def page(
        self, proof: Proof, redirect_uri: str, *, originator: str, workspaces: Sequence[str]
    ) -> str:
        """The page that the person is to open."""
        members = [
            ("response_type", "code"),
            ("client_id", self.client_id),
            ("redirect_uri", redirect_uri),
            ("code_challenge", proof.challenge),
            ("code_challenge_method", "S256"),
            ("state", proof.state),
            ("scope", SCOPES),
            ("id_token_add_organizations", "true"),
            ("codex_cli_simplified_flow", "true"),
            ("originator", originator),
        ]
        if workspaces:
            members.append(("allowed_workspace_id", ",".join(workspaces)))
        return f"{self.url}/oauth/authorize?{urlencode(members)}"

    async def tokens(self, grant: Grant) -> AccountTokens:
        """Redeem a code. Raises CoreError."""
        form = urlencode(
            [
                ("grant_type", "authorization_code"),
                ("code", grant.code),
                ("redirect_uri", grant.redirect_uri),
                ("client_id", self.client_id),
                ("code_verifier", grant.verifier),
            ]
        )
        value = await self._ask(f"{self.url}/oauth/token", _FORM, form, secrets=(grant.code,))
        got = [value.get(name) for name in ("id_token", "access_token", "refresh_token")]
        if not all(isinstance(each, str) and each for each in got):
            raise AccountRefused(f"{self._host} granted no tokens")
        id_token, access, refresh = cast("list[str]", got)
        if decode_claims(id_token) is None:
            raise AccountRefused("invalid ID token format")
        return AccountTokens(id_token=id_token, access_token=access, refresh_token=refresh)

    async def api_key(self, tokens: AccountTokens) -> str | None:
        """An API key for the same person, which not every account may have; None without one."""
        form = urlencode(
            [
                ("grant_type", _EXCHANGE),
                ("client_id", self.client_id),
                ("requested_token", "openai-api-key"),
                ("subject_token", tokens.id_token),
                ("subject_token_type", _ID_TOKEN),
            ]
        )
        try:
            value = await self._ask(f"{self.url}/oauth/token", _FORM, form, limit=KEY_LIMIT)
        except CoreError:
            return None
        key = value.get("access_token")
        return key if isinstance(key, str) and key else None

    async def device_code(self) -> AccountCode:
        """A code to type in elsewhere. Raises CoreError."""
        try:
            value = await self._post("deviceauth/usercode", {"client_id": self.client_id})
        except AccountRefused as error:
            if error.status != 404:
                raise
            raise AccountRefused(
                "device code login is not enabled for this Codex server."
                " Use the browser login or verify the server URL."
            ) from None
        device, code = value.get("device_auth_id"), value.get("user_code") or value.get("usercode")
        if not (isinstance(device, str) and isinstance(code, str) and device and code):
            raise AccountRefused(f"{self._host} gave no device code")
        return AccountCode(
            user_code=code,
            page=f"{self.url}/codex/device",
            interval=_seconds(value.get("interval")),
            device_id=device,
        )

    async def device_grant(self, code: AccountCode) -> Grant | None:
        """What the person has granted; None while they have not. Raises CoreError."""
        asked = {"device_auth_id": code.device_id, "user_code": code.user_code}
        try:
            value = await self._post("deviceauth/token", asked)
        except AccountRefused as error:
            if error.status in (403, 404):
                return None
            raise
        granted, verifier = value.get("authorization_code"), value.get("code_verifier")
        if not (isinstance(granted, str) and isinstance(verifier, str)):
            raise AccountRefused(f"{self._host} granted no code")
        return Grant(
            code=granted, verifier=verifier, redirect_uri=f"{self.url}/deviceauth/callback"
        )

    async def refreshed(self, refresh_token: str, client_id: str) -> dict[str, Any]:
        """New tokens: some of `id_token`, `access_token`, `refresh_token`. Raises CoreError."""
        body = {
            "client_id": client_id or self.client_id,
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
        }
        return await self._ask(self._refresh, _JSON, _text(body), secrets=(refresh_token,))

    async def revoke(self, refresh_token: str, client_id: str) -> str:
        """Tell that a token is not wanted any more; "" when done, else why not. Never raises."""
        body = {
            "token": refresh_token,
            "token_type_hint": "refresh_token",
            "client_id": client_id or self.client_id,
        }
        try:
            await self._ask(
                self._revoke, _JSON, _text(body), limit=REVOKE_LIMIT, secrets=(refresh_token,)
            )
        except CoreError as error:
            return error.message
        return ""

    @property
    def _host(self) -> str:
        return host_of(self.url)

    async def _post(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._ask(f"{self.url}/api/accounts/{path}", _JSON, _text(body))

    async def _ask(
        self,
        url: str,
        kind: str,
        body: str,
        *,
        limit: float = LIMIT,
        secrets: Sequence[str] = (),
    ) -> dict[str, Any]:
        import httpx

        host = host_of(url)
        try:
            with anyio.fail_after(limit):
                async with (
                    await self._http.client(timeout=limit) as client,
                    client.stream(
                        "POST", url, content=body, headers={"content-type": kind}
                    ) as answer,
                ):
                    content = await read_capped(answer, _MOST_BYTES)
                    status = answer.status_code
        except TimeoutError:
            raise AccountRefused(f"no answer from {host}") from None
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
            raise AccountRefused(f"{host}: {net_failure(error).text}") from None
        except BodyUnreadable as error:
            raise AccountRefused(f"{host}: {error.message}") from None
        value = _object(content)
        if not 200 <= status < 300:
            raise _refusal(host, status, value, secrets)
        if value is None:
            if not content.strip():
                return {}
            raise AccountRefused(f"{host} answered no JSON object")
        return value


def _refusal(
    host: str, status: int, value: Mapping[str, Any] | None, secrets: Sequence[str]
) -> AccountRefused:
    told: Any = value.get("error") if value else None
    words = value.get("error_description") if value else None
    if isinstance(told, dict):
        inner = cast("dict[str, Any]", told)
        told, words = inner.get("code"), inner.get("message")
    code = told if isinstance(told, str) and told.replace("_", "").isalnum() else ""
    message = f"HTTP {status} from {host}"
    if code:
        message += f": {code[:64]}"
    if code and isinstance(words, str):
        for secret in secrets:
            for spelled in (secret, quote(secret, safe="")):
                words = words.replace(spelled, "…")
        message += f" ({words[:160]})"
    return AccountRefused(message, status=status, spent=code in _SPENT)


def _text(body: Mapping[str, Any]) -> str:
    return msgspec.json.encode(body).decode()


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _seconds(value: object) -> float:
    """The issuer puts the number into quotes."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:4])
    good = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return min(float(value), 60.0) if good else 5.0  # type: ignore[arg-type]
