"""An MCP server behind OAuth: tokens of one issuer, meant for this server, and nobody else's.

guarded_server.py PORT ISSUER     prints {"url": …} once it listens. `whoami` needs a token, `admin`
the scope mcp:write: without it the answer is 403 insufficient_scope.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

import anyio
import anyio.to_thread
import jwt
import uvicorn
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer

HOST = "127.0.0.1"


class Verifier:
    """Takes JWTs (RFC 9068) that the issuer signed for this server."""

    def __init__(self, issuer: str, audience: str) -> None:
        self._issuer, self._audience = issuer, audience
        self._keys = jwt.PyJWKClient(f"{issuer}/jwks", cache_jwk_set=False)

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            claims = await anyio.to_thread.run_sync(self._claims, token)
        except jwt.PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=claims["client_id"],
            scopes=claims.get("scope", "").split(),
            expires_at=claims["exp"],
            resource=self._audience,
            subject=claims["sub"],
        )

    def _claims(self, token: str) -> dict[str, Any]:
        key = self._keys.get_signing_key_from_jwt(token)
        return jwt.decode(
            token, key.key, algorithms=["RS256"], audience=self._audience, issuer=self._issuer
        )


class Wider:
    """ASGI: `admin` takes more than what lets people in."""

    def __init__(self, app: Any, metadata: str) -> None:
        self._app, self._metadata = app, metadata

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        if b'"admin"' in body and "mcp:write" not in _granted(scope):
            challenge = (
                'Bearer error="insufficient_scope", scope="mcp:write", '
                f'resource_metadata="{self._metadata}"'
            )
            headers = [(b"www-authenticate", challenge.encode())]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            return await send({"type": "http.response.body", "body": b""})
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Any:
            return whole.pop() if whole else await receive()

        return await self._app(scope, again, send)


def _granted(scope: Any) -> list[str]:
    sent = dict(scope["headers"]).get(b"authorization", b"").decode().removeprefix("Bearer ")
    try:
        return jwt.decode(sent, options={"verify_signature": False}).get("scope", "").split()
    except jwt.PyJWTError:
        return []


async def main(port: int, issuer: str) -> None:
    listener = socket.create_server((HOST, port))
    origin = f"http://{HOST}:{listener.getsockname()[1]}"
    url = f"{origin}/mcp"
    settings = AuthSettings(
        issuer_url=issuer,  # type: ignore[arg-type]
        resource_server_url=url,  # type: ignore[arg-type]
        required_scopes=["mcp:read"],
        validate_token_resource=True,
    )
    server = MCPServer("guarded", auth=settings, token_verifier=Verifier(issuer, url))

    @server.tool()
    def whoami() -> str:
        """Whose token it is."""
        token = get_access_token()
        return f"{token.subject} {' '.join(token.scopes)}" if token is not None else "nobody"

    @server.tool()
    def admin() -> str:
        """For those who may write."""
        return "done"

    app = Wider(
        server.streamable_http_app(streamable_http_path="/mcp"),
        f"{origin}/.well-known/oauth-protected-resource/mcp",
    )
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
    print(json.dumps({"url": url}), flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    anyio.run(main, int(sys.argv[1]), sys.argv[2])
