"""The ChatGPT backend of the demo world: app directory, metadata, hosted tools, on one port."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from core.demo import apps
from core.demo.gates import Gates
from core.demo.http import Answer, Asked, as_json
from core.demo.mcp_http import McpEndpoint

TOKEN = "demo-token-that-opens-nothing"
ACCOUNT = "demo-workspace"
HOSTED = "/api/codex/ps/mcp"
PAGE_SECONDS, TOOLS_SECONDS, OTHER_SECONDS = 0.45, 1.6, 0.2


class DemoBackend:
    """Each whole reading of the directory differs a little from the one before.

    Args:
        wait: Sleeps; ends early when the world does.
    """

    def __init__(self, gates: Gates, wait: Callable[[float], None]) -> None:
        self._gates, self._wait = gates, wait
        self._lock = threading.Lock()
        self._readings = 0
        self._pages: list[list[dict[str, Any]]] = [[]]
        offer = {"name": "codex-apps", "version": "1.0.0", "tools": apps.hosted_tools()}
        self._hosted = McpEndpoint(
            offer=offer,
            gates=gates,
            wait=wait,
            latency=0.03,
            before_tools=self._before_tools,
        )

    def respond(self, asked: Asked) -> Answer:
        """Serve one request."""
        if asked.path == HOSTED:
            return self._hosted.respond(asked)
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return Answer(status=401, body=b"sign in first")
        match asked.path:
            case "/connectors/directory/list":
                return self._directory(asked)
            case "/connectors/directory/list_workspace":
                self._gates.pass_through("workspace/1")
                self._wait(OTHER_SECONDS)
                return as_json({"apps": apps.workspace(), "next_token": None})
            case "/ps/apps/batch":
                return self._batch(asked)
            case "/api/codex/accounts/check":
                return as_json({"accounts": [_workspace()]})
            case "/api/codex/config/bundle":
                return as_json({})
            case _:
                return Answer(status=404, body=b"not found")

    def _directory(self, asked: Asked) -> Answer:
        number = int(asked.query.get("token") or 0)
        self._gates.pass_through(f"directory/{number + 1}")
        self._wait(PAGE_SECONDS)
        with self._lock:
            if number == 0:
                self._pages = apps.directory(self._readings)
                self._readings += 1
            pages = self._pages
        following = str(number + 1) if number + 1 < len(pages) else None
        page = pages[number] if number < len(pages) else []
        return as_json({"apps": page, "next_token": following})

    def _before_tools(self) -> None:
        self._gates.pass_through("tools")
        self._wait(TOOLS_SECONDS)

    def _batch(self, asked: Asked) -> Answer:
        self._wait(OTHER_SECONDS)
        given: dict[str, Any] = asked.json()
        found = [found for key in given.get("app_ids", []) if (found := apps.metadata(key))]
        if not given.get("include_tools"):
            for app in found:
                app.pop("tools")
        return as_json({"apps": found})


def _workspace() -> dict[str, Any]:
    return {
        "id": ACCOUNT,
        "name": "Northwind Team",
        "workspace_backend_origin": "https://backend.example",
        "account_routing_override": "NO_CONSTRAINT",
    }
