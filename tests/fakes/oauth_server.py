"""An MCP server with its authorization server, as an `HttpFactory`: no packet leaves the process.

It guards `URL`; `metadata` is what it says of itself and may be changed, `pages` wins over
everything. `person` plays the browser: it answers what the redirect would bring along.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx

HOST = "https://h.example"
URL = f"{HOST}/mcp"
_UNKNOWN = "<h1>oops</h1><pre><strong>error</strong>: invalid_client</pre>"


class _Body(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


class FakeOAuth:
    def __init__(self, host: str = HOST) -> None:
        self.host = host
        self.url = f"{host}/mcp"
        self.metadata: dict[str, Any] = {
            "issuer": host,
            "authorization_endpoint": f"{host}/authorize?tenant=1",
            "token_endpoint": f"{host}/token",
            "registration_endpoint": f"{host}/register",
            "code_challenge_methods_supported": ["S256"],
        }
        self.resource: dict[str, Any] | None = {
            "resource": self.url,
            "authorization_servers": [host],
        }
        self.pages: dict[str, httpx.Response] = {}
        self.requests: list[httpx.Request] = []
        self.clients: dict[str, dict[str, Any]] = {}
        self.lost: set[str] = set()
        """Clients that are not known any more."""
        self.blind = False
        """The authorization page says nothing about lost clients."""
        self.codes: dict[str, dict[str, str]] = {}
        self.refresh_tokens: set[str] = set()
        self.revoked: list[str] = []
        self.device_answers: list[str] = []
        self.grants: dict[str, Any] = {"expires_in": 3600}
        self._count = 0

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer), timeout=timeout)

    def asked(self, path: str) -> list[dict[str, str]]:
        """Forms that were sent to a path."""
        return [
            dict(parse_qsl(request.content.decode()))
            for request in self.requests
            if request.url.path == path
        ]

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.requests]

    def person(self, url: str, **over: str) -> str:
        """The query that an approving person's browser brings to the redirect."""
        asked = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
        code = self._next("code")
        self.codes[code] = asked
        return urlencode({"code": code, "state": asked["state"], **over})

    def _next(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}-{self._count}"

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.pages.get(request.url.path) or self._respond(request)
        headers = dict(answer.headers)
        return httpx.Response(answer.status_code, headers=headers, stream=_Body(answer.content))

    def _respond(self, request: httpx.Request) -> httpx.Response:
        match request.method, request.url.path:
            case "GET", "/mcp":
                place = f"{self.host}/.well-known/oauth-protected-resource/mcp"
                challenge = f'Bearer resource_metadata="{place}", scope="read"'
                return httpx.Response(401, headers={"www-authenticate": challenge})
            case "GET", "/.well-known/oauth-protected-resource/mcp" if self.resource:
                return httpx.Response(200, json=self.resource)
            case "GET", "/.well-known/oauth-authorization-server":
                return httpx.Response(200, json=self.metadata)
            case "GET", "/authorize":
                known = request.url.params["client_id"] not in self.lost or self.blind
                return httpx.Response(200 if known else 400, text="" if known else _UNKNOWN)
            case "POST", "/register":
                return self._register(request)
            case "POST", "/token":
                return self._token(dict(parse_qsl(request.content.decode())))
            case "POST", "/revoke":
                self.revoked.append(dict(parse_qsl(request.content.decode()))["token"])
                return httpx.Response(200)
            case "POST", "/device":
                return httpx.Response(200, json=self._device())
            case _:
                return httpx.Response(404)

    def _register(self, request: httpx.Request) -> httpx.Response:
        import json

        body = json.loads(request.content)
        client = self._next("client")
        self.clients[client] = body
        return httpx.Response(201, json={**body, "client_id": client})

    def _device(self) -> dict[str, Any]:
        return {
            "device_code": "device-1",
            "user_code": "WXYZ",
            "verification_uri": f"{self.host}/device",
            "interval": 5,
            "expires_in": 600,
        }

    def _token(self, form: dict[str, str]) -> httpx.Response:
        kind = form["grant_type"]
        if form["client_id"] in self.lost:
            return httpx.Response(401, json={"error": "invalid_client"})
        if kind.endswith("device_code") and self.device_answers:
            return httpx.Response(400, json={"error": self.device_answers.pop(0)})
        if kind == "authorization_code" and not self._proved(form):
            return httpx.Response(400, json={"error": "invalid_grant"})
        if kind == "refresh_token":
            if form["refresh_token"] not in self.refresh_tokens:
                return httpx.Response(400, json={"error": "invalid_grant"})
            self.refresh_tokens.discard(form["refresh_token"])
        refresh = self._next("refresh")
        self.refresh_tokens.add(refresh)
        tokens = {"access_token": self._next("access"), "token_type": "Bearer", **self.grants}
        return httpx.Response(200, json={**tokens, "refresh_token": refresh})

    def _proved(self, form: dict[str, str]) -> bool:
        asked = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        return (
            asked is not None
            and asked["code_challenge"] == challenge
            and asked["redirect_uri"] == form["redirect_uri"]
            and asked["client_id"] == form["client_id"]
        )
