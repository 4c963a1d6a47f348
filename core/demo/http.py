"""Sites of the demo world: HTTP on loopback, on Python's standard library alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request; header names in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; {} when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def form(self) -> dict[str, str]:
        """The body as an HTML form."""
        return {key: value[0] for key, value in parse_qs(self.body.decode("utf-8")).items()}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent back."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def as_json(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer with a JSON body."""
    return Answer(
        status=status,
        body=json.dumps(value, ensure_ascii=False).encode(),
        headers={"content-type": "application/json", **(headers or {})},
    )


def as_page(title: str, text: str, *, status: int = 200) -> Answer:
    """A small HTML page; `text` may hold markup."""
    page = f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{text}"
    return Answer(
        status=status, body=page.encode(), headers={"content-type": "text/html; charset=utf-8"}
    )


Respond = Callable[[Asked], Answer]


class Site:
    """One port on 127.0.0.1, served by threads of its own until `close`.

    Args:
        respond: Called in a thread per connection; it may block.
    """

    def __init__(self, respond: Respond) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.respond = respond
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True, name="demo site"
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Take no more requests; those under way are left to their threads."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2.0)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    respond: Respond


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            pass  # whoever asked has gone

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        asked = Asked(
            method=self.command,
            path=parts.path,
            query={key: value[0] for key, value in parse_qs(parts.query).items()},
            headers={key.lower(): value for key, value in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("content-length") or 0)),
        )
        answer = self.server.respond(asked)
        self.send_response(answer.status)
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.send_header("content-length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = _serve

    def log_message(self, format: str, *args: object) -> None:
        """Nothing may write to the terminal."""
