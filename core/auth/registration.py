"""Who we are at an authorization server: registered beforehand, by document, or just now.

Source: RFC 7591 (dynamic registration), client id metadata documents (MCP 2025-11-25,
Authorization); the order was observed in Codex 0.171.0.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from core.auth.client_store import ClientStore, Registration
from core.auth.discovery import AuthServer
from core.auth.grants import callback_id, store_key
from core.auth.outgoing import Answer, Outgoing, Unanswered
from core.auth.token_endpoint import Client
from core.errors import CoreError
from core.seams import SignInTarget
from core.threads.policy import Identity

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
Wish = Literal["auto", "cimd", "dcr"]
_NO_CIMD = "MCP authorization server does not advertise CIMD with token endpoint auth method `none`"


class NoRegistration(CoreError):
    """The server registers nobody by itself: somebody has to get a client id there.

    Attributes:
        redirect: The redirect URI to register with it.
    """

    def __init__(self, redirect: str) -> None:
        super().__init__(
            "Registration failed: Dynamic client registration not supported",
            hint=f"this server needs a client id: register {redirect} as its redirect, "
            "then set oauth.client_id",
        )
        self.redirect = redirect


@dataclass(kw_only=True)
class Registrar:
    """Finds a client for one attempt.

    Attributes:
        kept: Where clients are kept between attempts; None = a new one each time.
        reused: The client is one that was kept.
    """

    target: SignInTarget
    server: AuthServer
    identity: Identity
    kept: ClientStore | None = None
    reused: bool = False

    @property
    def _key(self) -> str:
        return store_key(self.target.server, self.target.url)

    async def client(
        self, out: Outgoing, redirect: str, scopes: Sequence[str] | None, wish: Wish
    ) -> Client:
        """The client to use. Raises CoreError in the wire's words."""
        if self.target.client_id:
            return Client(client_id=self.target.client_id, secret=self.target.client_secret)
        offered = self.server.client_documents and "none" in (self.server.auth_methods or ())
        document = self.identity.client_id_document
        if wish == "cimd" and not (offered and document):
            raise CoreError(_NO_CIMD)
        if wish != "dcr" and offered and document:
            middle = "" if self.server.answers_iss else f"/{callback_id(self.target.url)}"
            return Client(client_id=f"{document}{middle}/client.json")
        if (known := await self._known(redirect)) is not None:
            self.reused = True
            return known
        return await self._register(out, redirect, scopes)

    async def _known(self, redirect: str) -> Client | None:
        found = await self.kept.get(self._key) if self.kept is not None else None
        if found is None or self.server.issuer is None:
            return None
        if (found.issuer, found.redirect) != (self.server.issuer, redirect):
            return None
        return client_of(found)

    async def kept_port(self) -> int | None:
        """The port of the redirect that the kept client was registered with."""
        import httpx

        found = await self.kept.get(self._key) if self.kept is not None else None
        if found is None or found.issuer != self.server.issuer:
            return None
        url = httpx.URL(found.redirect)
        return url.port if url.host == "127.0.0.1" else None

    async def anew(self, out: Outgoing, redirect: str, scopes: Sequence[str] | None) -> Client:
        """Register another client: the server does not know the one that was kept any more."""
        self.reused = False
        if self.kept is not None:
            await self.kept.remove(self._key)
        return await self._register(out, redirect, scopes)

    @property
    def registers(self) -> bool:
        """The client is one that we register, and can register again."""
        return self.kept is not None and not self.target.client_id

    async def _register(self, out: Outgoing, redirect: str, scopes: Sequence[str] | None) -> Client:
        import httpx

        if self.server.registration_endpoint is None:
            raise NoRegistration(redirect)
        endpoint = httpx.URL(self.server.base).join(self.server.registration_endpoint)
        body = self._body(redirect, scopes)
        try:
            answer = await out.post(
                endpoint, json.dumps(body).encode(), {"content-type": "application/json"}
            )
        except Unanswered as error:
            raise _failed(f"HTTP request failed: {error.message}", error.hint) from None
        client_id = answer.value.get("client_id") if answer.value else None
        if not answer.ok:
            raise _failed(f"Registration failed: {_said(answer)}")
        if not isinstance(client_id, str) or not client_id:
            raise _failed("Registration failed: the answer names no client id")
        return await self._keep(answer.value or {}, client_id, redirect, body)

    def _body(self, redirect: str, scopes: Sequence[str] | None) -> dict[str, Any]:
        ours = self.kept is not None
        grants = ["authorization_code", "refresh_token"]
        if ours and self.server.device_endpoint:
            grants.append(DEVICE_GRANT)
        body: dict[str, Any] = {
            "client_name": self.identity.registration_name,
            "redirect_uris": [redirect],
            "grant_types": grants,
            "token_endpoint_auth_method": self._method() if ours else "none",
            "response_types": ["code"],
            "application_type": "native",
        }
        # A client that is used again would be held to the scopes that it began with.
        if scopes and not ours:
            body["scope"] = " ".join(scopes)
        return body

    def _method(self) -> str:
        offered = self.server.auth_methods
        if not offered or "none" in offered:
            return "none"
        known = [each for each in offered if each in ("client_secret_basic", "client_secret_post")]
        return known[0] if known else "none"

    async def _keep(
        self, told: dict[str, Any], client_id: str, redirect: str, body: dict[str, Any]
    ) -> Client:
        secret, ends = told.get("client_secret"), told.get("client_secret_expires_at")
        method = told.get("token_endpoint_auth_method", body["token_endpoint_auth_method"])
        confidential = isinstance(secret, str) and method in (
            "client_secret_basic",
            "client_secret_post",
        )
        registration = Registration(
            issuer=self.server.issuer or "",
            client_id=client_id,
            redirect=redirect,
            secret=secret if confidential else None,
            secret_ends=float(ends) if isinstance(ends, int | float) else 0.0,
            method=method if confidential else "none",
        )
        if self.kept is not None:
            await self.kept.put(self._key, registration)
        return client_of(registration)


def client_of(registration: Registration) -> Client:
    """As the token endpoint wants it."""
    return Client(
        client_id=registration.client_id,
        secret=registration.secret,
        post=registration.method == "client_secret_post",
    )


def _failed(cause: str, hint: str = "") -> CoreError:
    return CoreError(f"Registration failed: Dynamic registration failed: {cause}", hint=hint)


def _said(answer: Answer) -> str:
    return f"HTTP {answer.status} {answer.phrase}: {answer.text[:500]}"
