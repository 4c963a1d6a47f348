"""A scriptable MCP server over HTTP on loopback, which misbehaves when told to.

    with FakeMcpHttp(plan={"tools/call": "reset"}) as server:
        ... server.url ... server.requests ...

It runs in threads of its own. `spec` is that of `tests.fakes.mcp_stdio`. `plan` says what goes
wrong with which request: {JSON-RPC method, "GET", "DELETE" or "*": mode}; it may be changed while
the server runs. A mode may be a list, of which each request takes one; the last stays.

Modes of POSTs:
 a number            that status, with `headers` of the server's `extra`
 sse                 the answer as an event        sse-open     the same, the stream stays open
 sse-parts           in pieces of one byte         sse-reset    reset in the middle of the event
 sse-cut             ends without an answer        sse-cut-id   the same after an id; the GET with
 sse-mute            nothing after the headers                  Last-Event-ID then answers
 ask                 `spec.first` on the stream, then the answer once the client has answered
 html, no-type, bad-json, accepted, wrong-id, null-id, gzip, bomb, huge (`size` bytes)
 close, reset, truncated, slow-headers, slow-body (for ever)
 redirect            307 to `location`             redirect-302 the same with 302
 elsewhere           202; the answer comes on the GET stream

Modes of GET: 405 (the default is a stream, held open), cut (ends at once), hold-headers.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import queue
import socket
import struct
import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.mcp_stdio import answer, discovered, too_old

Mode = str | int | list[str | int]


@dataclass
class Seen:
    """One request as it arrived."""

    verb: str
    path: str
    headers: dict[str, str]
    message: dict[str, Any]

    @property
    def method(self) -> str:
        return self.message.get("method", "")


@dataclass
class FakeMcpHttp:
    spec: dict[str, Any] = field(default_factory=dict[str, Any])
    plan: dict[str, Mode] = field(default_factory=dict[str, Mode])
    extra: dict[str, str] = field(default_factory=dict[str, str])
    location: str = "http://localhost:1/mcp"
    size: int = 1 << 20
    tokens: set[str] | None = None
    """Bearer tokens that are let in; None = everybody."""
    challenge: str = 'Bearer error="invalid_token"'
    era: str = "handshake"
    """Or `modern` (2026-07-28 only), `modern-too`."""
    stateless: bool = False
    session: str = ""
    """The session id that it gives out; "" = a new one each time."""
    legacy: bool = False
    """HTTP+SSE of 2024-11-05: GET of `/mcp` names `/post`."""
    endpoint: str = "/post"

    def __post_init__(self) -> None:
        self.requests: list[Seen] = []
        self.sessions: set[str] = set()
        self._streams: list[queue.Queue[bytes | None]] = []
        self._sockets: list[socket.socket] = []
        self._answers: dict[str, threading.Event] = {}
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self._alive = True
        self.changed = threading.Condition()

    def __enter__(self) -> FakeMcpHttp:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    # --- what a test does ---

    def stop(self) -> None:
        """As if the server were killed: all connections end, new ones are refused."""
        self._alive = False
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_streams()
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def push(self, message: dict[str, Any]) -> None:
        """Send a message on each of the server's own streams."""
        for stream in self._streams:
            stream.put(_event(message))

    def push_raw(self, data: bytes) -> None:
        for stream in self._streams:
            stream.put(data)

    def drop_streams(self) -> None:
        """End the server's own streams cleanly."""
        streams, self._streams = self._streams, []
        for stream in streams:
            stream.put(None)

    def forget_sessions(self) -> None:
        self.sessions.clear()

    def of(self, what: str) -> list[Seen]:
        """Requests with this verb or JSON-RPC method."""
        return [seen for seen in self.requests if what in (seen.verb, seen.method)]

    @property
    def listeners(self) -> int:
        return len(self._streams)

    # --- the server ---

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            reader = connection.makefile("rb")
            while self._alive and (head := _read_head(reader)):
                verb, path, headers = head
                body = reader.read(int(headers.get("content-length", 0)))
                message = json.loads(body) if body else {}
                seen = Seen(verb, path, headers, message)
                with self.changed:
                    self.requests.append(seen)
                    self.changed.notify_all()
                _Exchange(self, connection, seen).run()

    def mode(self, seen: Seen) -> str:
        """The mode of this request; a list gives up its first."""
        for key in (seen.method or seen.verb, "*"):
            if key in self.plan:
                mode = self.plan[key]
                if isinstance(mode, list):
                    mode = mode.pop(0) if len(mode) > 1 else mode[0]
                return str(mode)
        return "ok"

    def answered(self, number: Any) -> threading.Event:
        """Set once the client has answered this request of ours."""
        return self._answers.setdefault(str(number), threading.Event())

    def stream(self) -> queue.Queue[bytes | None]:
        stream: queue.Queue[bytes | None] = queue.Queue()
        with self.changed:
            self._streams.append(stream)
            self.changed.notify_all()
        return stream


class _Exchange:
    """One request and its answer."""

    def __init__(self, server: FakeMcpHttp, connection: socket.socket, seen: Seen) -> None:
        self.server, self.socket, self.seen = server, connection, seen
        self.number = seen.message.get("id")

    def run(self) -> None:
        server, seen = self.server, self.seen
        mode = server.mode(seen)
        if self._refused():
            return
        if seen.verb == "DELETE":
            self.reply(int(mode) if mode.isdigit() else 204)
        elif seen.verb == "GET":
            self._get(mode)
        elif "method" not in seen.message:
            server.answered(self.number).set()
            self.reply(202)
        elif self.number is None:
            self._misbehave(mode) or self.reply(202)
        elif server.legacy and seen.path == "/mcp":
            self.reply(405)
        elif server.legacy:
            self.reply(202)
            server.push(self.message())
        else:
            self._misbehave(mode) or self._json(self.message())

    def _refused(self) -> bool:
        server, seen = self.server, self.seen
        token = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if server.tokens is not None and token not in server.tokens:
            self.reply(401, www_authenticate=server.challenge)
            return True
        session = seen.headers.get("mcp-session-id")
        if session is not None and session not in server.sessions:
            self.reply(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"gone"}}')
            return True
        return False

    def message(self) -> dict[str, Any]:
        method, era = self.seen.method, self.server.era
        if method == "server/discover" and era != "handshake":
            outcome: dict[str, Any] = {"result": discovered(self.server.spec)}
        elif method == "initialize" and era == "modern":
            outcome = too_old()
        else:
            outcome = answer(self.server.spec, self.seen.message)
        return {"jsonrpc": "2.0", "id": self.number, **outcome}

    # --- writing ---

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        sent = {"content_length": str(len(body)), **headers}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in sent.items()]
        lines += [f"{name}: {value}" for name, value in self.server.extra.items()]
        head = f"HTTP/1.1 {status} Status\r\n" + "".join(f"{line}\r\n" for line in lines) + "\r\n"
        self.socket.sendall(head.encode() + body)

    def _session(self) -> dict[str, str]:
        if self.seen.method != "initialize" or self.server.stateless:
            return {}
        session = self.server.session or uuid.uuid4().hex
        self.server.sessions.add(session)
        return {"mcp_session_id": session}

    def _json(self, message: dict[str, Any]) -> None:
        status = 400 if message.get("error", {}).get("code") == -32022 else 200
        body = json.dumps(message).encode()
        self.reply(status, body, content_type="application/json", **self._session())

    def _stream(self, *events: bytes) -> None:
        lines = "".join(f"{k.replace('_', '-')}: {v}\r\n" for k, v in self._session().items())
        head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n{lines}"
        self.socket.sendall(head.encode() + b"\r\n" + b"".join(events))

    def _end(self) -> None:
        self.socket.shutdown(socket.SHUT_RDWR)

    def _get(self, mode: str) -> None:
        if "last-event-id" in self.seen.headers and mode == "ok":
            result = {"content": [{"type": "text", "text": "resumed"}]}
            self._stream(_event({"jsonrpc": "2.0", "id": 99_999, "result": result}, "id: 2\n"))
            return self._end()
        if mode.isdigit():
            return self.reply(int(mode))
        if mode == "hold-headers":
            return self._hold()
        named = f"event: endpoint\ndata: {self.server.endpoint}\n\n" if self.server.legacy else ""
        self._stream(b": hello\n\n", named.encode())
        if mode == "cut":
            return self._end()
        stream = self.server.stream()
        while (data := stream.get()) is not None:
            self.socket.sendall(data)
        return self._end()

    def _hold(self) -> None:
        """Until the client goes or the server stops."""
        with contextlib.suppress(OSError):
            while self.socket.recv(1024):
                pass

    # --- misbehaviour: True when nothing more is to be sent ---

    def _misbehave(self, mode: str) -> bool:
        if mode == "ok":
            return False
        if mode.isdigit():
            self.reply(int(mode), b"<html>sorry</html>", content_type="text/html")
            return True
        getattr(self, "do_" + mode.replace("-", "_"))()
        return True

    def do_sse(self) -> None:
        self._stream(_event(self.message()))
        self._end()

    def do_sse_open(self) -> None:
        self._stream(_event(self.message()))
        self._hold()

    def do_sse_parts(self) -> None:
        self._stream()
        for byte in _event(self.message(), ": comment\r\nid: 1\r\n").replace(b"\n\n", b"\r\n\r\n"):
            self.socket.sendall(bytes([byte]))
        self._hold()

    def do_sse_reset(self) -> None:
        self._stream(_event(self.message())[:30])
        self._reset()

    def do_sse_cut(self) -> None:
        self._stream(b": working\n\n")
        self._end()

    def do_sse_cut_id(self) -> None:
        self._stream(b"id: 1\nretry: 10\ndata:\n\n")
        self._end()

    def do_sse_mute(self) -> None:
        self._stream()
        self._hold()

    def do_ask(self) -> None:
        self._stream()
        for message in self.server.spec.get("first", {}).get(self.seen.method, ()):
            self.socket.sendall(_event(message))
            if "id" in message:
                self.server.answered(message["id"]).wait(5)
        self.socket.sendall(_event(self.message()))
        self._end()

    def do_html(self) -> None:
        self.reply(200, b"<html><title>Sign in</title></html>", content_type="text/html")

    def do_no_type(self) -> None:
        self.reply(200, json.dumps(self.message()).encode())

    def do_bad_json(self) -> None:
        self.reply(200, b"{not json", content_type="application/json")

    def do_accepted(self) -> None:
        self.reply(202)

    def do_wrong_id(self) -> None:
        self._json({**self.message(), "id": 987654})

    def do_null_id(self) -> None:
        error = {"code": -32600, "message": "not like this"}
        self._json({"jsonrpc": "2.0", "id": None, "error": error})

    def do_gzip(self) -> None:
        body = gzip.compress(json.dumps(self.message()).encode())
        self.reply(200, body, content_type="application/json", content_encoding="gzip")

    def do_bomb(self) -> None:
        body = gzip.compress(b" " * self.server.size)
        self.reply(200, body, content_type="application/json", content_encoding="gzip")

    def do_huge(self) -> None:
        result = {"content": [{"type": "text", "text": "x" * self.server.size}]}
        self._json({"jsonrpc": "2.0", "id": self.number, "result": result})

    def do_close(self) -> None:
        self._end()

    def do_reset(self) -> None:
        self._reset()

    def do_truncated(self) -> None:
        body = json.dumps(self.message()).encode()
        self.reply(200, body, content_type="application/json", content_length=str(len(body) + 100))
        self._end()

    def do_slow_headers(self) -> None:
        self._hold()

    def do_slow_body(self) -> None:
        self.reply(200, b"{", content_type="application/json", content_length="100")
        self._hold()

    def do_redirect(self) -> None:
        self.reply(307, location=self.server.location)

    def do_redirect_302(self) -> None:
        self.reply(302, location=self.server.location)

    def do_elsewhere(self) -> None:
        self.reply(202)
        self.server.push(self.message())

    def _reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.socket.detach())  # `close` would wait for the reader


def _event(message: dict[str, Any], prefix: str = "") -> bytes:
    return f"{prefix}event: message\ndata: {json.dumps(message)}\n\n".encode()


def _read_head(reader: Any) -> tuple[str, str, dict[str, str]] | None:
    if reader.peek(1)[:1] == b"\x16":
        raise ValueError("this is TLS")
    lines: list[str] = []
    while (line := reader.readline()) not in (b"\r\n", b""):
        lines.append(line.decode("latin-1").strip())
    if not lines:
        return None
    verb, path, _ = lines[0].split(" ")
    pairs = (line.partition(":") for line in lines[1:])
    return verb, path, {name.lower(): value.strip() for name, _, value in pairs}
