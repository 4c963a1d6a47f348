"""The ChatGPT backend on a loopback port: as good or as bad as a test wants it."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread

PATIENCE = 10.0


def jwt(claims: dict[str, Any]) -> str:
    """A token that nobody has signed: only its claims are read."""

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part({'alg': 'none'})}.{part(claims)}.c2ln"


def auth_json(
    *,
    account: str = "account-1",
    user: str = "user-1",
    plan: str = "plus",
    email: str = "dev@example.com",
    token: str = "token-1",
) -> dict[str, Any]:
    """The content of an `auth.json` after a sign-in with ChatGPT."""
    claims = {
        "email": email,
        "https://api.openai.com/auth": {
            "chatgpt_plan_type": plan,
            "chatgpt_user_id": user,
            "chatgpt_account_id": account,
        },
    }
    return {
        "OPENAI_API_KEY": None,
        "tokens": {
            "id_token": jwt(claims),
            "access_token": token,
            "refresh_token": "refresh-1",
            "account_id": account,
        },
        "last_refresh": "2026-11-30T00:00:00Z",
    }


def tool(app: str, name: str = "", tool_name: str = "", **meta: Any) -> dict[str, Any]:
    """A hosted tool of an app."""
    return {
        "name": tool_name or f"{app}_tool",
        "description": f"{name or app} tool",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "_meta": {"connector_id": app, "connector_name": name or app.title(), **meta},
    }


@dataclass
class Asked:
    """A request that came."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


@dataclass
class Answer:
    """What is sent instead of the usual; `raw` goes out as it is, after the head."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cut: int | None = None
    """Send the head, this many bytes, and hang up."""


class ChatGptBackend:
    """State that a test may change at any time.

    Attributes:
        pages, workspace, apps: What the directory lists and the metadata method tell.
        accounts: The answer of accounts/check.
        token, account: What the headers must carry, or the answer is 401.
        answers: By source (`directory`, `workspace`, `batch`, `check`): sent instead.
        before: By source: called in the server's thread with the request, before its answer.
    """

    def __init__(self) -> None:
        self.pages: list[list[dict[str, Any]]] = [[]]
        self.workspace: list[dict[str, Any]] = []
        self.apps: dict[str, dict[str, Any]] = {}
        self.accounts: Any = {"accounts": []}
        self.token, self.account = "token-1", "account-1"
        self.answers: dict[str, Answer] = {}
        self.before: dict[str, Callable[[Asked], None]] = {}
        self.requests: list[Asked] = []
        self.url = ""
        self._came = threading.Condition()
        self._gates: list[threading.Event] = []

    @contextmanager
    def running(self) -> Iterator[ChatGptBackend]:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.backend = self
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield self
        finally:
            for gate in self._gates:
                gate.set()
            server.shutdown()
            server.server_close()
            thread.join(PATIENCE)

    def hold(self, source: str, page: int | None = None) -> threading.Event:
        """Let requests of a source (of one directory page, counted from 1) wait for the event."""
        gate = threading.Event()
        self._gates.append(gate)

        def wait(asked: Asked) -> None:
            if page is None or int(asked.query.get("token", ["0"])[0]) + 1 == page:
                gate.wait(PATIENCE)

        self.before[source] = wait
        return gate

    async def asked(self, path: str, count: int = 1) -> None:
        """Wait until a path has been asked for `count` times."""

        def wait() -> bool:
            with self._came:
                return self._came.wait_for(lambda: self.count(path) >= count, PATIENCE)

        with anyio.fail_after(PATIENCE):
            if not await anyio.to_thread.run_sync(wait):
                raise AssertionError(f"{path} was asked {self.count(path)} times")

    def count(self, path: str) -> int:
        return sum(1 for asked in self.requests if path in asked.path)

    def note(self, asked: Asked) -> None:
        with self._came:
            self.requests.append(asked)
            self._came.notify_all()

    # What is answered

    def respond(self, asked: Asked) -> Answer:
        source = _SOURCES.get(asked.path, "")
        if before := self.before.get(source):
            before(asked)
        if source in self.answers:
            return self.answers[source]
        if (
            asked.headers.get("authorization") != f"Bearer {self.token}"
            or asked.headers.get("chatgpt-account-id") != self.account
        ):
            return Answer(401, b"who are you?")
        match source:
            case "directory":
                return self._page(asked)
            case "workspace":
                return _json({"apps": self.workspace, "next_token": None})
            case "batch":
                return self._batch(asked.body)
            case "check":
                return _json(self.accounts)
            case _:
                return Answer(404, b"not found")

    def _page(self, asked: Asked) -> Answer:
        number = int(asked.query.get("token", ["0"])[0])
        following = str(number + 1) if number + 1 < len(self.pages) else None
        return _json({"apps": self.pages[number], "next_token": following})

    def _batch(self, body: dict[str, Any]) -> Answer:
        found = [dict(self.apps[key]) for key in body["app_ids"] if key in self.apps]
        if not body["include_tools"]:
            for app in found:
                app.pop("tools", None)
        return _json({"apps": found})


_SOURCES = {
    "/connectors/directory/list": "directory",
    "/connectors/directory/list_workspace": "workspace",
    "/ps/apps/batch": "batch",
    "/api/codex/accounts/check": "check",
}


def _json(value: Any) -> Answer:
    return Answer(body=json.dumps(value).encode(), headers={"content-type": "application/json"})


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    backend: ChatGptBackend


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("content-length", 0))
        raw = self.rfile.read(length)
        asked = Asked(
            method=self.command,
            path=parts.path,
            query=parse_qs(parts.query),
            headers={key.lower(): value for key, value in self.headers.items()},
            body=json.loads(raw) if raw else None,
        )
        self.server.backend.note(asked)
        answer = self.server.backend.respond(asked)
        self.send_response(answer.status)
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        if answer.cut is not None:
            self.wfile.write(answer.body[: answer.cut])
            self.close_connection = True
            return
        self.wfile.write(answer.body)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            pass  # whoever asked has gone

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def write_auth(codex_home: Path, content: dict[str, Any]) -> None:
    """Put a sign-in where Codex keeps it."""
    codex_home.mkdir(parents=True, exist_ok=True)
    (codex_home / "auth.json").write_text(json.dumps(content), encoding="utf-8")
