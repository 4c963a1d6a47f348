"""An authorization server and a protected MCP server's side of it, for the demo's sign-in.

RFC 6749 with PKCE (RFC 7636), metadata (RFC 8414, RFC 9728) and dynamic registration (RFC 7591);
a person opens a page that approves by itself. No secrets: everything is forgotten at the end.
"""

from __future__ import annotations

import base64
import hashlib
import html
import secrets
import threading
import time
from urllib.parse import quote, urlencode

from core.demo.http import Answer, Asked, as_json, as_page

LIFETIME = 3600
PAUSE = 2
"""Seconds for which a person can read the page before it approves."""


class AuthorizationServer:
    """Answers below its site's root, for one resource."""

    def __init__(self, *, scopes: tuple[str, ...]) -> None:
        self.url = ""
        self._scopes = scopes
        self._lock = threading.Lock()
        self._codes: dict[str, dict[str, str]] = {}
        self._tokens: dict[str, float] = {}
        self._refresh: set[str] = set()

    def respond(self, asked: Asked) -> Answer:
        """Serve one request."""
        match (asked.method, asked.path):
            case ("GET", "/.well-known/oauth-authorization-server"):
                return as_json(self._metadata())
            case ("POST", "/register"):
                return self._register(asked)
            case ("GET", "/authorize"):
                return self._page(asked)
            case ("GET", "/approve"):
                return self._approve(asked)
            case ("POST", "/token"):
                return self._token(asked)
            case ("POST", "/revoke"):
                return self._revoke(asked)
            case _:
                return Answer(status=404)

    def knows(self, token: str) -> bool:
        """The access token was given out and has not expired."""
        with self._lock:
            return self._tokens.get(token, 0.0) > time.time()

    def _metadata(self) -> dict[str, object]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": list(self._scopes),
        }

    def _register(self, asked: Asked) -> Answer:
        given = asked.json()
        return as_json({**given, "client_id": f"demo-{secrets.token_hex(4)}"}, status=201)

    def _page(self, asked: Asked) -> Answer:
        who = html.escape(asked.query.get("client_id", "somebody"))
        what = html.escape(asked.query.get("scope", " ".join(self._scopes)))
        link = html.escape("/approve?" + urlencode(dict(asked.query)))
        text = (
            f"<meta http-equiv=refresh content='{PAUSE};url={link}'>"
            f"<p>{who} asks for {what}.</p>"
            f"<p>This is the demo: it approves by itself in {PAUSE} s. "
            f"<a href='{link}'>Approve now</a></p>"
        )
        return as_page("Sign in to the demo", text)

    def _approve(self, asked: Asked) -> Answer:
        target = asked.query.get("redirect_uri", "")
        if not target.startswith(("http://127.0.0.1:", "http://localhost:", "http://[::1]:")):
            return as_page("Not here", "<p>The demo only returns to this machine.</p>", status=400)
        code = secrets.token_urlsafe(16)
        with self._lock:
            self._codes[code] = dict(asked.query)
        state = quote(asked.query.get("state", ""), safe="")
        issuer = quote(self.url, safe="")
        return Answer(
            status=302, headers={"location": f"{target}?code={code}&state={state}&iss={issuer}"}
        )

    def _token(self, asked: Asked) -> Answer:
        given = asked.form()
        with self._lock:
            if not self._granted(given):
                return as_json({"error": "invalid_grant"}, status=400)
            access, renewal = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
            self._tokens[access] = time.time() + LIFETIME
            self._refresh.add(renewal)
        return as_json(
            {
                "access_token": access,
                "refresh_token": renewal,
                "token_type": "Bearer",
                "expires_in": LIFETIME,
                "scope": given.get("scope") or " ".join(self._scopes),
            }
        )

    def _revoke(self, asked: Asked) -> Answer:
        """RFC 7009: an unknown token is no error; a refresh token ends all that came of it."""
        token = asked.form().get("token", "")
        with self._lock:
            self._tokens.pop(token, None)
            if token in self._refresh:
                self._refresh.discard(token)
                self._tokens.clear()
        return Answer()

    def _granted(self, given: dict[str, str]) -> bool:
        if given.get("grant_type") == "refresh_token":
            known = given.get("refresh_token", "") in self._refresh
            self._refresh.discard(given.get("refresh_token", ""))
            return known
        kept = self._codes.pop(given.get("code", ""), None)
        if kept is None or kept.get("redirect_uri") != given.get("redirect_uri"):
            return False
        proof = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(proof).rstrip(b"=").decode()
        return kept.get("code_challenge") == challenge


class ProtectedResource:
    """Guards an MCP endpoint at `/mcp` of its site."""

    def __init__(self, server: AuthorizationServer, *, scopes: tuple[str, ...]) -> None:
        self.url = ""
        self._server, self._scopes = server, scopes

    def metadata(self, asked: Asked) -> Answer | None:
        """The resource's metadata, where it is asked for."""
        if asked.path not in (
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
        ):
            return None
        return as_json(
            {
                "resource": f"{self.url}/mcp",
                "authorization_servers": [self._server.url],
                "scopes_supported": list(self._scopes),
            }
        )

    def authorize(self, asked: Asked) -> Answer | None:
        """401 with a challenge, unless a token of the server's is shown."""
        scheme, _, token = asked.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._server.knows(token):
            return None
        place = f"{self.url}/.well-known/oauth-protected-resource/mcp"
        scopes = " ".join(self._scopes)
        challenge = f'Bearer resource_metadata="{place}", scope="{scopes}"'
        return as_json(
            {"error": "invalid_token"}, status=401, headers={"www-authenticate": challenge}
        )
