"""An issuer of accounts on a loopback port, which answers as observed in Codex 0.171.0's dealings."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from tests.fakes.chatgpt_backend import jwt

FAR = 4_000_000_000


@dataclass
class Told:
    """A request that came."""

    path: str
    body: dict[str, Any]


@dataclass
class AccountIssuerSite:
    """State that a test may change at any time.

    Attributes:
        account, plan: Of the tokens.
        answers: By path: status and body sent instead.
        pending: How often the device code is still waited for.
        before: Called with every request, before its answer.
    """

    account: str = "account-1"
    plan: str = "plus"
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict[str, tuple[int, Any]])
    pending: int = 1
    before: Callable[[Told], None] = lambda told: None
    requests: list[Told] = field(default_factory=list[Told])
    url: str = ""
    refreshes: int = 0

    @contextmanager
    def running(self) -> Generator[AccountIssuerSite]:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.site = self
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()
            thread.join(5)

    @property
    def environ(self) -> dict[str, str]:
        return {"CODEX_APP_SERVER_LOGIN_ISSUER": self.url}

    def asked(self, path: str) -> list[dict[str, Any]]:
        return [told.body for told in self.requests if told.path == path]

    def tokens(self, *, access_ends: int = FAR, refresh: str = "refresh-1") -> dict[str, Any]:
        auth = {
            "chatgpt_plan_type": self.plan,
            "chatgpt_user_id": "user-1",
            "chatgpt_account_id": self.account,
        }
        claims = {"email": "dev@example.com", "https://api.openai.com/auth": auth}
        return {
            "id_token": jwt(claims),
            "access_token": jwt({"exp": access_ends, "n": self.refreshes}),
            "refresh_token": refresh,
        }

    def respond(self, told: Told) -> tuple[int, Any]:
        self.requests.append(told)
        self.before(told)
        if told.path in self.answers:
            return self.answers[told.path]
        match told.path:
            case "/oauth/token" if "token-exchange" in told.body.get("grant_type", ""):
                return 200, {"access_token": "sk-exchanged"}
            case "/oauth/token" if told.body.get("grant_type") == "refresh_token":
                self.refreshes += 1
                return 200, self.tokens(refresh=f"refresh-{self.refreshes + 1}")
            case "/oauth/token":
                return 200, self.tokens()
            case "/api/accounts/deviceauth/usercode":
                return 200, {"device_auth_id": "d-1", "user_code": "ABCD-1234", "interval": "1"}
            case "/api/accounts/deviceauth/token":
                self.pending -= 1
                if self.pending >= 0:
                    return 403, {}
                return 200, {"authorization_code": "code-d", "code_verifier": "ver"}
            case "/oauth/revoke":
                return 200, {}
            case _:
                return 404, {}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: AccountIssuerSite


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        form = "urlencoded" in self.headers.get("content-type", "")
        value = dict(parse_qsl(body)) if form else json.loads(body)
        status, answer = self.server.site.respond(Told(self.path, value))
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""
