from __future__ import annotations

import errno
from typing import Any

import pytest

from core.errors import PeerError
from core.mcp.client.session import CloseReason, DeadlinePassed, HttpFailed, SessionClosed
from core.mcp.faults import (
    StartFailed,
    duration,
    ending,
    handshake_failed,
    last_words,
    millis,
    request_failed,
    startup_text,
)

URL = "http://h.example:8080/mcp"
HOST = "h.example:8080"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.25, "250ms"), (1.0, "1000ms"), (1.5, "1s"), (2.0, "2s"), (300.0, "300s")],
)
def test_time_limits_of_requests_are_printed_as_the_real_one_does(
    seconds: float, text: str
) -> None:
    assert millis(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.0, "1s"),
        (1.25, "1.25s"),
        (0.99999995, "999.99995ms"),
        (0.5, "500ms"),
        (0.0000015, "1.5µs"),
        (1e-9, "1ns"),
    ],
)
def test_durations_are_printed_as_the_real_one_does(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            CloseReason(exit_code=3, tail=("boom: missing API key", "  ")),
            "exited 3 — boom: missing API key",
        ),
        (CloseReason(exit_code=0), "exited 0"),
        (CloseReason(exit_code=-9), "killed by SIGKILL"),
        (CloseReason(exit_code=-99), "killed by signal 99"),
        (CloseReason(http_status=503, host="h.example"), "HTTP 503 from h.example"),
        (
            CloseReason(
                http_status=403, host="h", body="<html><title> Just a\n moment&hellip; </title>"
            ),
            "HTTP 403 from h (HTML page “Just a moment…”)",
        ),
        (
            CloseReason(errno=errno.ENOENT, text="No such file or directory: nope-server"),
            "No such file or directory: nope-server",
        ),
        (
            CloseReason(errno=errno.ECONNREFUSED, host=HOST, text="x"),
            f"connection refused by {HOST}",
        ),
        (CloseReason(errno=errno.ETIMEDOUT), "Connection timed out"),
        (CloseReason(broken="sent half a line"), "sent half a line"),
        (CloseReason(), "connection closed"),
    ],
)
def test_the_end_of_a_connection_in_words(reason: CloseReason, words: str) -> None:
    assert ending(reason) == words


def test_the_last_words_are_not_what_the_runtime_adds_to_them() -> None:
    node = ("Error: no key", "    at main (/x.js:1:2)", "", "Node.js v20.1.0")
    assert last_words(node) == "Error: no key"
    npm = ("npm error 404 Not Found", "npm error A complete log of this run can be found in: /x")
    assert last_words(npm) == "npm error 404 Not Found"
    assert last_words(("", "Node.js v20.1.0")) == "Node.js v20.1.0"
    assert last_words(()) == ""


def refused(reason: CloseReason, url: str = URL) -> StartFailed:
    return handshake_failed(HttpFailed(reason), url=url, limit=30)


def sent(what: str) -> str:
    said = f"Send message error Transport [streamable_http] error: {what}, when send initialize request"
    return f"handshaking with MCP server failed: {said}: {said}"


@pytest.mark.parametrize(
    ("reason", "wire", "passing"),
    [
        (
            CloseReason(http_status=500, body="oops"),
            sent("unexpected server response: HTTP 500: oops"),
            True,
        ),
        (
            CloseReason(http_status=403, body="no"),
            sent("unexpected server response: HTTP 403: no"),
            False,
        ),
        (
            CloseReason(errno=errno.ECONNREFUSED),
            sent(
                "Client error: HTTP request failed: http/request failed: "
                f"error sending request for url ({URL})"
            ),
            True,
        ),
        (CloseReason(errno=errno.EPROTO, text="TLS: x"), None, False),
    ],
)
def test_refused_handshakes(reason: CloseReason, wire: str | None, passing: bool) -> None:
    failed = refused(reason)
    assert wire is None or failed.wire == wire
    assert (failed.passing, failed.auth) == (passing, "")


@pytest.mark.parametrize(
    ("url", "wire"),
    [
        ("not a url", "Client error: HTTP request failed: relative URL without a base"),
        (
            "file:///x",
            "Client error: HTTP request failed: "
            "http/request only supports http and https URLs, got file",
        ),
    ],
)
def test_urls_that_are_none(url: str, wire: str) -> None:
    assert refused(CloseReason(errno=errno.EINVAL), url).wire == sent(wire)


def test_the_password_of_a_url_is_never_told() -> None:
    failed = refused(CloseReason(errno=errno.ECONNREFUSED), "http://user:pw@h.example/mcp")
    assert "url (http://h.example/mcp)" in failed.wire


def test_a_challenge_asks_for_a_sign_in() -> None:
    failed = refused(CloseReason(http_status=401, challenge=("Bearer",)))
    assert (failed.wire, failed.auth, failed.passing) == (sent("Auth required"), "login", False)


def test_time_outs_differ_by_transport() -> None:
    late = DeadlinePassed("initialize", 1)
    assert handshake_failed(late, url="", limit=1).wire == (
        "timed out handshaking with MCP server after 999.99995ms: deadline has elapsed"
    )
    assert handshake_failed(late, url=URL, limit=1).wire == (
        "timed out handshaking with MCP server after 1s"
    )


def test_errors_of_the_server_are_told_twice() -> None:
    failed = handshake_failed(PeerError(-32603, "init failed", {"a": 1}), url="", limit=1)
    said = 'JSON-RPC error: -32603: init failed({"a":1})'
    assert failed.wire == f"handshaking with MCP server failed: {said}: {said}"
    assert failed.reason == "init failed (error -32603)"


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (
            {"timed_out": True},
            "MCP client for `n` timed out after 1 seconds. Add or adjust `startup_timeout_sec` "
            "in your config.toml:\n[mcp_servers.n]\nstartup_timeout_sec = XX",
        ),
        ({"auth": "login"}, "The n MCP server is not logged in. Run `codex mcp login n`."),
        (
            {"auth": "again"},
            "The n MCP server requires OAuth reauthentication. Run `codex mcp login n`.",
        ),
        ({}, "MCP client for `n` failed to start: MCP startup failed: X"),
    ],
)
def test_startup_texts(more: dict[str, Any], text: str) -> None:
    assert startup_text("n", StartFailed("X", **more), 1.5) == text


def test_lost_connections_are_told_alike() -> None:
    assert request_failed(SessionClosed(CloseReason(exit_code=1))) == "Transport closed"
    assert request_failed(HttpFailed(CloseReason(text="h: x"))) == (
        "Transport send error: Transport [streamable_http] error: h: x"
    )
