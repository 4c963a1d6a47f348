"""An MCP server of the demo world, on Python's standard library alone.

The world copies this file beside its programs as `mcp_demo.py`; a program is a few lines that
call `run`. Over HTTP the same `Server` is used in-process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

PAGE = 5
Json = dict[str, Any]
Handler = Callable[[Json], Any]


class Refused(Exception):
    """An answer that is a JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Server:
    """Answers messages; what to offer is a plain JSON object.

    Members of `offer`: `name`, `version`, `title`, `instructions`, `tools`, `resources`,
    `templates`, `prompts`. A tool's member `demo` is not sent; it says what a call does: `text`,
    `structured`, `error` (true), `seconds` (with progress), `ask` (a form for the person).

    Args:
        send: Sends a message of the server's own; None where it cannot.
    """

    def __init__(self, offer: Json, send: Callable[[Json], None] | None = None) -> None:
        self.offer = offer
        self._send = send
        self._asked: dict[str, tuple[threading.Event, list[Json]]] = {}
        self._cancelled: set[Any] = set()
        self._count = 0
        self._handlers: dict[str, Handler] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "logging/setLevel": lambda params: {},
            "tools/list": self._lists("tools", "tools"),
            "tools/call": self._call,
            "resources/list": self._lists("resources", "resources"),
            "resources/templates/list": self._lists("templates", "resourceTemplates"),
            "resources/read": self._read,
            "prompts/list": self._lists("prompts", "prompts"),
            "prompts/get": self._prompt,
        }

    def answer(self, message: Json) -> Json | None:
        """The answer to a request; None for notifications and answers to our own requests."""
        method = message.get("method")
        if method is None:
            self._answered(message)
            return None
        if "id" not in message:
            if method == "notifications/cancelled":
                self._cancelled.add(_members(message, "params").get("requestId"))
            return None
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        handler = self._handlers.get(method)
        try:
            if handler is None:
                raise Refused(-32601, f"Method not found: {method}")
            params = {**_members(message, "params"), "__id": message["id"]}
            answer["result"] = handler(params)
        except Refused as refused:
            answer["error"] = {"code": refused.code, "message": refused.message}
        return answer

    def _initialize(self, params: Json) -> Json:
        offer = self.offer
        able: Json = {"tools": {"listChanged": True}, "logging": {}}
        if offer.get("resources") or offer.get("templates"):
            able["resources"] = {}
        if offer.get("prompts"):
            able["prompts"] = {}
        info: Json = {"name": offer["name"], "version": offer.get("version", "1.0.0")}
        if "title" in offer:
            info["title"] = offer["title"]
        result: Json = {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": able,
            "serverInfo": info,
        }
        if "instructions" in offer:
            result["instructions"] = offer["instructions"]
        return result

    def _lists(self, kept: str, member: str) -> Handler:
        def one_page(params: Json) -> Json:
            items: list[Json] = self.offer.get(kept) or []
            start = int(params.get("cursor") or 0)
            page = items[start : start + PAGE]
            result: Json = {member: [_without_demo(item) for item in page]}
            if start + PAGE < len(items):
                result["nextCursor"] = str(start + PAGE)
            return result

        return one_page

    def _find(self, kept: str, key: str, value: Any) -> Json:
        items: list[Json] = self.offer.get(kept) or []
        for item in items:
            if item[key] == value:
                return item
        raise Refused(-32602, f"Unknown {key}: {value}")

    def _read(self, params: Json) -> Json:
        resource = self._find("resources", "uri", params.get("uri"))
        content: Json = {"uri": resource["uri"], "text": resource["demo"]["text"]}
        if "mimeType" in resource:
            content["mimeType"] = resource["mimeType"]
        return {"contents": [content]}

    def _prompt(self, params: Json) -> Json:
        prompt = self._find("prompts", "name", params.get("name"))
        given: Json = params.get("arguments") or {}
        text = str(prompt["demo"]["text"])
        for name, value in given.items():
            text = text.replace("{" + name + "}", str(value))
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}

    def _call(self, params: Json) -> Json:
        tool = self._find("tools", "name", params.get("name"))
        given: Json = params.get("arguments") or {}
        missing = [name for name in tool["inputSchema"].get("required", []) if name not in given]
        if missing:
            return _said(f"{missing[0]} is missing", failed=True)
        demo: Json = tool.get("demo") or {}
        if not self._wait(float(demo.get("seconds", 0)), params):
            return _said("cancelled", failed=True)
        if "ask" in demo:
            return self._ask(demo["ask"])
        text = str(demo.get("text", "done")).replace("{arguments}", json.dumps(given))
        result = _said(text, failed=bool(demo.get("error")))
        if "structured" in demo:
            result["structuredContent"] = demo["structured"]
        return result

    def _wait(self, seconds: float, params: Json) -> bool:
        """False when the call was cancelled meanwhile."""
        token = _members(params, "_meta").get("progressToken")
        steps = max(1, int(seconds * 5))
        for step in range(steps if seconds else 0):
            if params["__id"] in self._cancelled:
                return False
            time.sleep(seconds / steps)
            if token is not None and self._send is not None:
                progress: Json = {"progressToken": token, "progress": step + 1, "total": steps}
                self._send(
                    {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
                )
        return True

    def _ask(self, form: Json) -> Json:
        if self._send is None:
            return _said("there is nobody to ask", failed=True)
        self._count += 1
        number = f"ask-{self._count}"
        waiting = self._asked[number] = (threading.Event(), [])
        self._send({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": form})
        waiting[0].wait(300)
        result = _members(waiting[1][0], "result") if waiting[1] else {}
        action = result.get("action", "cancel")
        if action != "accept":
            return _said(f"nothing was changed ({action})", failed=True)
        return _said(f"thank you: {json.dumps(result.get('content'))}")

    def _answered(self, message: Json) -> None:
        waiting = self._asked.pop(str(message.get("id")), None)
        if waiting is not None:
            waiting[1].append(message)
            waiting[0].set()


def _members(message: Json, name: str) -> Json:
    value: Json | None = message.get(name)
    return value or {}


def _without_demo(item: Json) -> Json:
    return {key: value for key, value in item.items() if key != "demo"}


def _said(text: str, *, failed: bool = False) -> Json:
    result: Json = {"content": [{"type": "text", "text": text}]}
    if failed:
        result["isError"] = True
    return result


def run(offer: Json, *, gate: str = "", seconds: float = 0.0, noise: tuple[str, ...] = ()) -> None:
    """Serve on stdin and stdout until stdin ends.

    Args:
        gate: A file that must exist before the first answer, or "".
        seconds, noise: Lines for stderr, spread over so much time before the first answer.
    """
    lock = threading.Lock()

    def send(message: Json) -> None:
        with lock:
            sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def work(message: Json) -> None:
        answer = server.answer(message)
        if answer is not None:
            send(answer)

    server = Server(offer, send)
    for line in noise:
        sys.stderr.write(line + "\n")
        sys.stderr.flush()
        time.sleep(seconds / len(noise))
    while gate and not os.path.exists(gate):
        time.sleep(0.02)
    for line in sys.stdin:
        if not line.strip():
            continue
        message: Json = json.loads(line)
        if message.get("method") == "tools/call":
            # Calls may take long or ask something; everything else is answered in order.
            threading.Thread(target=work, args=(message,), daemon=True).start()
        else:
            work(message)
