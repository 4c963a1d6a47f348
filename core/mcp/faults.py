"""Failures of servers: the exact words of the wire, and the short ones for people.

Both are made from the same error; the panel's words never reach the wire. The wire texts were
observed in Codex 0.171.0 and are quoted because its clients match on them.
"""

from __future__ import annotations

import errno as errors
import json
import os
import re
import signal
from collections.abc import Iterable
from html import unescape
from typing import Literal

from core.errors import CoreError, PeerError
from core.mcp.client.session import (
    CloseReason,
    DeadlinePassed,
    HttpFailed,
    ServerHello,
    SessionClosed,
)

REASON_CHARS = 200
_NOISE = re.compile(r"\s*$|Node\.js v\d|npm error A complete log of this run|\s*at \S+ \(")
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_USER_INFO = re.compile(r"^(\w+://)[^/?#]*@")
_TRANSPORT = "Transport [streamable_http]"
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_FINAL = frozenset({None, errors.EINVAL, errors.EPROTO})  # no answer, and none to be hoped for

Auth = Literal["", "login", "again"]


class StartFailed(CoreError):
    """A server could not be started.

    Attributes:
        wire: The text that clients see after `MCP startup failed: `.
        reason: For people, on the row.
        auth: `login`: it wants a sign-in and nothing is stored; `again`: what is stored is of
            no use.
        timed_out: The handshake took longer than the start may take.
        passing: It may well work at the next try: the other side is away or too busy.
        hello: What the server said of itself, when it came that far.
        ended: How the connection ended, when it did.
    """

    def __init__(
        self,
        wire: str,
        reason: str = "",
        *,
        auth: Auth = "",
        timed_out: bool = False,
        passing: bool = False,
        hello: ServerHello | None = None,
        ended: CloseReason | None = None,
    ) -> None:
        super().__init__(f"MCP startup failed: {wire}")
        self.wire, self.reason = wire, clipped(reason or wire)
        self.auth: Auth = auth
        self.timed_out, self.passing = timed_out, passing
        self.hello, self.ended = hello, ended


def clipped(text: str) -> str:
    """The first line of `text`, at most `REASON_CHARS` long."""
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= REASON_CHARS else line[: REASON_CHARS - 1] + "…"


def last_words(tail: Iterable[str]) -> str:
    """The last line that says something; runtimes like to end with lines that do not."""
    lines = [line for line in tail if line.strip()]
    for line in reversed(lines):
        if not _NOISE.match(line):
            return line.strip()
    return lines[-1].strip() if lines else ""


def ending(reason: CloseReason) -> str:
    """How a connection ended, for people: `exited 3 — boom: missing API key`."""
    if reason.exit_code is not None:
        words = last_words(reason.tail)
        return clipped(f"{_exit(reason.exit_code)} — {words}" if words else _exit(reason.exit_code))
    if reason.http_status is not None:
        return clipped(_http(reason))
    if reason.errno == errors.ECONNREFUSED and reason.host:
        return f"connection refused by {reason.host}"
    if reason.text:
        return clipped(reason.text)
    if reason.errno is not None:
        return os.strerror(reason.errno)
    return clipped(reason.broken or "connection closed")


def _exit(code: int) -> str:
    if code >= 0:
        return f"exited {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _http(reason: CloseReason) -> str:
    said = f"HTTP {reason.http_status}"
    if reason.host:
        said += f" from {reason.host}"
    if title := _TITLE.search(reason.body):
        said += f" (HTML page “{' '.join(unescape(title[1]).split())}”)"
    return said


def handshake_failed(error: CoreError, *, url: str, limit: float) -> StartFailed:
    """Why `Session.open` failed. `url` is "" for a process; `limit` in seconds."""
    match error:
        case StartFailed():
            return error
        case DeadlinePassed():
            span, tail = (
                (duration(limit), "") if url else (duration(limit - 5e-8), ": deadline has elapsed")
            )
            return StartFailed(
                f"timed out handshaking with MCP server after {span}{tail}",
                f"no answer to initialize in {limit:g} s",
                timed_out=True,
                passing=bool(url),
            )
        case PeerError():
            said = f"JSON-RPC error: {_peer(error)}"
            return StartFailed(twice(said), f"{error.message} (error {error.code})")
        case HttpFailed() | SessionClosed():
            return _unopened(error.reason, url)
        case _:
            return StartFailed(error.message)


def _unopened(reason: CloseReason, url: str) -> StartFailed:
    if not url:
        if reason.errno is not None:
            wire = f"{os.strerror(reason.errno)} (os error {reason.errno})"
        else:
            wire = twice("connection closed: initialize response")
        return StartFailed(wire, ending(reason), ended=reason)
    status = reason.http_status
    if status == 401 and reason.challenge:
        wire, auth = "Auth required", "login"
    elif status is not None:
        wire, auth = f"unexpected server response: HTTP {status}: {reason.body}", ""
    elif reason.errno is not None:
        wire, auth = f"Client error: HTTP request failed: {_unsent(url)}", ""
    else:
        wire, auth = f"Client error: {reason.broken or reason.text or 'connection closed'}", ""
    said = f"Send message error {_TRANSPORT} error: {wire}, when send initialize request"
    return StartFailed(
        twice(said),
        ending(reason),
        auth=auth,
        passing=status in _PASSING if status is not None else reason.errno not in _FINAL,
        ended=reason,
    )


def _unsent(url: str) -> str:
    scheme = _SCHEME.match(url)
    if scheme is None:
        return "relative URL without a base"
    if scheme[1].lower() not in ("http", "https"):
        return f"http/request only supports http and https URLs, got {scheme[1].lower()}"
    shown = _USER_INFO.sub(r"\1", url)  # it is sent as a header, so it is no part of the URL
    return f"http/request failed: error sending request for url ({shown})"


def listing_failed(error: CoreError, hello: ServerHello) -> StartFailed:
    """Why the first tools/list failed."""
    if isinstance(error, StartFailed):
        return error
    ended = error.reason if isinstance(error, HttpFailed | SessionClosed) else None
    passing = isinstance(error, DeadlinePassed) or (
        isinstance(error, HttpFailed) and error.reason.http_status in _PASSING
    )
    return StartFailed(
        request_failed(error),
        said_by(error, "tools/list"),
        passing=passing,
        hello=hello,
        ended=ended,
    )


def request_failed(error: CoreError) -> str:
    """The wire's words for a request that failed after the handshake."""
    match error:
        case DeadlinePassed():
            return f"timed out awaiting {error.method} after {millis(error.seconds)}"
        case PeerError():
            return f"Mcp error: {_peer(error)}"
        case HttpFailed():
            status, body = error.reason.http_status, error.reason.body
            if status is None:
                return f"Transport send error: {_TRANSPORT} error: {error.message}"
            return (
                f"Transport send error: {_TRANSPORT} error: "
                f"unexpected server response: HTTP {status}: {body}"
            )
        case SessionClosed():
            return "Transport closed"
        case _:
            return error.message


def said_by(error: CoreError, method: str) -> str:
    """A failed request for people."""
    match error:
        case DeadlinePassed():
            return f"no answer to {method} in {error.seconds:g} s"
        case PeerError():
            return f"{error.message} (error {error.code} to {method})"
        case HttpFailed() | SessionClosed():
            return ending(error.reason)
        case _:
            return clipped(error.message)


def startup_text(name: str, failed: StartFailed, limit: float) -> str:
    """The `error` member of a startup notification."""
    if failed.timed_out:
        return (
            f"MCP client for `{name}` timed out after {int(limit)} seconds. Add or adjust "
            f"`startup_timeout_sec` in your config.toml:\n[mcp_servers.{name}]\n"
            "startup_timeout_sec = XX"
        )
    if failed.auth == "again":
        return (
            f"The {name} MCP server requires OAuth reauthentication. Run `codex mcp login {name}`."
        )
    if failed.auth == "login":
        return f"The {name} MCP server is not logged in. Run `codex mcp login {name}`."
    return f"MCP client for `{name}` failed to start: {failed.message}"


def twice(said: str) -> str:
    """A failed handshake is told with its cause, and the cause once more."""
    return f"handshaking with MCP server failed: {said}: {said}"


def _peer(error: PeerError) -> str:
    data = "" if error.data is None else f"({json.dumps(error.data, separators=(',', ':'))})"
    return f"{error.code}: {error.message}{data}"


def millis(seconds: float) -> str:
    """A span as request timeouts print it: `250ms`, `1000ms`, and whole seconds above one."""
    return f"{int(seconds)}s" if seconds > 1 else f"{round(seconds * 1000)}ms"


def duration(seconds: float) -> str:
    """A span as handshake timeouts print it: `1s`, `1.5s`, `999.99995ms`."""
    nanos = round(seconds * 1e9)
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanos >= size:
            whole, rest = divmod(nanos, size)
            digits = str(size + rest)[1:].rstrip("0")
            return f"{whole}.{digits}{unit}" if digits else f"{whole}{unit}"
    return f"{nanos}ns"
