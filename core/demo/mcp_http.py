"""MCP servers of the demo world over streamable HTTP (MCP 2025-06-18), JSON answers only."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.demo.gates import Gates
from core.demo.http import Answer, Asked, as_json
from core.demo.mcp_server import Server

Authorize = Callable[[Asked], Answer | None]


@dataclass
class McpEndpoint:
    """One endpoint.

    Attributes:
        gate: Passed before `initialize` is answered; "" for none.
        latency: Seconds before each answer.
        failing: How many `initialize` are answered with HTTP 503 first.
        authorize: The answer to a request that may not be served, or None when it may.
        wait: Sleeps; ends early when the world does.
        before_tools: Called before the first page of tools/list is made.
    """

    offer: dict[str, Any]
    gates: Gates
    wait: Callable[[float], None]
    gate: str = ""
    latency: float = 0.0
    failing: int = 0
    authorize: Authorize = lambda asked: None
    before_tools: Callable[[], None] = lambda: None
    _sessions: set[str] = field(default_factory=set[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def respond(self, asked: Asked) -> Answer:
        """Serve one request to the endpoint's path."""
        refused = self.authorize(asked)
        if refused is not None:
            return refused
        if asked.method == "DELETE":
            self._sessions.discard(asked.headers.get("mcp-session-id", ""))
            return Answer(status=200)
        if asked.method != "POST":
            return Answer(status=405, headers={"allow": "POST, DELETE"})
        message: dict[str, Any] = asked.json()
        if message.get("method") == "initialize":
            return self._initialize(message)
        if asked.headers.get("mcp-session-id", "") not in self._sessions:
            return as_json({"error": "session not found"}, status=404)
        if message.get("method") == "tools/list" and b'"cursor"' not in asked.body:
            self.before_tools()
        self.wait(self.latency)
        answer = Server(self.offer).answer(message)
        return Answer(status=202) if answer is None else as_json(answer)

    def _initialize(self, message: dict[str, Any]) -> Answer:
        with self._lock:
            self.failing -= 1
            failing = self.failing >= 0
        if failing:
            return Answer(status=503, body=b"try again later", headers={"retry-after": "2"})
        if self.gate:
            self.gates.pass_through(self.gate)
        self.wait(self.latency)
        session = uuid.uuid4().hex
        self._sessions.add(session)
        answer = Server(self.offer).answer(message)
        return as_json(answer, headers={"mcp-session-id": session})
