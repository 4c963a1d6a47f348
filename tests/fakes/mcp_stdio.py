"""A scriptable MCP server on stdio, which misbehaves when told to. Standard library only.

    python -S tests/fakes/mcp_stdio.py [--mode MODE] [--spec JSON] [--seconds S] [--mb N] [--log FILE]

In tests: `argv("kill", spec={...})` is a command line for it.

Spec, all optional: `server_info`, `capabilities`, `instructions`, `protocol`; `tools`,
`resources`, `templates`, `prompts` (lists; `pages` cuts them into pages of so many);
`results` {method: result}, `errors` {method: error}, `calls` {tool: result}, `hang` [method …],
`delay` {method: seconds}, `first` {method: [messages sent before the answer]},
`after_init` [messages]. A tool without an entry in `calls` answers with what it was asked.

Modes:
 at the start   exit, mute, banner, bad-utf8, modern (2026-07-28 only), modern-too (both eras),
                die-discover, mute-discover
 in tools/call  kill, stop, exit-call, answer-exit, never, close-stdout, close-stdin, half,
                garbage, huge, wrong-id, twice, stderr, slow, crlf, batch, deep
 at the end     stubborn, orphan
 when idle      idle-exit (after --seconds), idle-close (stdout, after --seconds),
                idle-stop (SIGSTOP), idle-half (half a line, then the end), idle-garbage,
                idle-flood (every --seconds 200 log messages, and as many lines on stderr),
                idle-changes (every --seconds another list of tools)
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "templates",
    "prompts/list": "prompts",
}
MODERN = "2026-07-28"


def argv(mode: str = "ok", *, spec: dict[str, Any] | None = None, **options: Any) -> list[str]:
    """The command line that runs this server."""
    command = [sys.executable, "-S", os.path.abspath(__file__), "--mode", mode]
    if spec is not None:
        command += ["--spec", json.dumps(spec)]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return command


def tool(name: str, **members: Any) -> dict[str, Any]:
    """A tool without parameters."""
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def answer(spec: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    """What a well-behaved server answers: a `result` or an `error` member."""
    method, params = message["method"], message.get("params") or {}
    if method in spec.get("errors", {}):
        return {"error": spec["errors"][method]}
    if method in spec.get("results", {}):
        return {"result": spec["results"][method]}
    if method == "initialize":
        return {"result": _initialize(spec, params)}
    if method == "ping":
        return {"result": {}}
    if method in LISTS and (LISTS[method] in spec or method == "tools/list"):
        return {"result": _page(spec, method, params)}
    if method == "tools/call":
        said = [{"type": "text", "text": json.dumps(params, sort_keys=True)}]
        return {"result": spec.get("calls", {}).get(params.get("name"), {"content": said})}
    return {"error": {"code": -32601, "message": "Method not found"}}


def discovered(spec: dict[str, Any]) -> dict[str, Any]:
    """The result of `server/discover`."""
    return {
        "supportedVersions": [MODERN],
        "capabilities": spec.get("capabilities", {"tools": {}}),
        "_meta": {"io.modelcontextprotocol/serverInfo": spec.get("server_info", {"name": "fake"})},
    }


def too_old() -> dict[str, Any]:
    """What a server of 2026-07-28 says to `initialize`."""
    data = {"supported": [MODERN], "requested": "2025-06-18"}
    return {"error": {"code": -32022, "message": "Unsupported protocol version", "data": data}}


def _initialize(spec: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    result = {
        "protocolVersion": spec.get("protocol", params.get("protocolVersion")),
        "capabilities": spec.get("capabilities", {"tools": {}}),
        "serverInfo": spec.get("server_info", {"name": "fake", "version": "1"}),
    }
    if "instructions" in spec:
        result["instructions"] = spec["instructions"]
    return result


def _page(spec: dict[str, Any], method: str, params: dict[str, Any]) -> dict[str, Any]:
    rows = spec.get(LISTS[method], [tool("go")])
    size, start = spec.get("pages", len(rows) or 1), int(params.get("cursor") or 0)
    key = "resourceTemplates" if LISTS[method] == "templates" else LISTS[method]
    page: dict[str, Any] = {key: rows[start : start + size]}
    if start + size < len(rows):
        page["nextCursor"] = str(start + size)
    return page


class Server:
    def __init__(self, args: argparse.Namespace) -> None:
        self.mode, self.args = args.mode, args
        self.spec: dict[str, Any] = json.loads(args.spec)
        self.out = sys.stdout.buffer
        self.lock = threading.Lock()

    def send(self, message: dict[str, Any]) -> None:
        end = b"\r\n\r\n" if self.mode == "crlf" else b"\n"
        text = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=self.mode != "crlf")
        self.raw(text.encode() + end)

    def raw(self, data: bytes) -> None:
        with self.lock:
            self.out.write(data)
            self.out.flush()

    def run(self) -> None:
        self.begin()
        first = True
        for line in sys.stdin.buffer:
            if self.args.log:
                with open(self.args.log, "ab") as log:
                    log.write(line)
            message = json.loads(line)
            if self.mode == "mute":
                continue
            if message.get("method") == "notifications/initialized":
                self.initialized()
            elif "id" in message and "method" in message:
                self.serve(message, first)
                first = False
        while self.mode == "stubborn":
            time.sleep(1)

    def begin(self) -> None:
        if self.mode == "exit":
            print("error: no API key configured", file=sys.stderr, flush=True)
            os._exit(3)
        if self.mode == "banner":
            self.raw(b"Welcome to my server v1.0\n\n42\n")
        elif self.mode == "bad-utf8":
            self.raw(b"\xff\xfe garbage\n")
        elif self.mode == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        elif self.mode == "orphan":
            source = "import signal,time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"
            subprocess.Popen([sys.executable, "-S", "-c", source], stdin=subprocess.DEVNULL)

    def initialized(self) -> None:
        for message in self.spec.get("after_init", ()):
            self.send(message)
        if self.mode.startswith("idle-"):
            timer = threading.Timer(self.args.seconds, self.idle)
            timer.daemon = True
            timer.start()

    def idle(self) -> None:
        if self.mode == "idle-exit":
            os._exit(6)
        elif self.mode == "idle-close":
            os.close(1)
        elif self.mode == "idle-stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif self.mode == "idle-half":
            self.do_half(None)
        elif self.mode == "idle-garbage":
            self.do_garbage(None)
        else:
            self.on_and_on()

    def on_and_on(self) -> None:
        for turn in itertools.count():
            if self.mode == "idle-flood":
                said = {"level": "info", "data": f"turn {turn}: " + "x" * 200}
                for _ in range(200):
                    self.send({"method": "notifications/message", "params": said})
                    print(f"turn {turn}: " + "e" * 200, file=sys.stderr)
                sys.stderr.flush()
            else:
                count = turn % 20 + 1
                self.spec["tools"] = [tool(f"t{turn}-{number}") for number in range(count)]
                self.send({"method": "notifications/tools/list_changed"})
            time.sleep(self.args.seconds)

    def serve(self, message: dict[str, Any], first: bool) -> None:
        method = message["method"]
        if method == "server/discover":
            if self.mode in ("modern", "modern-too"):
                return self.send({"id": message["id"], "result": discovered(self.spec)})
            if self.mode == "mute-discover":
                return None
            if self.mode == "die-discover" and first:
                os._exit(5)
        if self.mode == "modern" and method == "initialize":
            return self.send({"id": message["id"], **too_old()})
        time.sleep(self.spec.get("delay", {}).get(method, 0))
        if method in self.spec.get("hang", ()):
            return None
        for each in self.spec.get("first", {}).get(method, ()):
            self.send(each)
        if method == "tools/call" and self.misbehave(message["id"]):
            return None
        self.send({"id": message["id"], **answer(self.spec, message)})
        if method == "tools/call" and self.mode == "answer-exit":
            os._exit(0)
        if method == "tools/call" and self.mode == "close-stdin":
            time.sleep(600)
        return None

    def misbehave(self, number: Any) -> bool:
        """True when there will be no further answer."""
        done = getattr(self, "do_" + self.mode.replace("-", "_"), None)
        return bool(done and done(number))

    def do_kill(self, number: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def do_stop(self, number: Any) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def do_exit_call(self, number: Any) -> None:
        print("fatal: giving up", file=sys.stderr, flush=True)
        os._exit(4)

    def do_never(self, number: Any) -> bool:
        return True

    def do_close_stdout(self, number: Any) -> None:
        os.close(1)
        time.sleep(600)

    def do_close_stdin(self, number: Any) -> None:
        os.close(0)

    def do_half(self, number: Any) -> None:
        self.raw(b'{"jsonrpc":"2.0","id":')
        os._exit(0)

    def do_garbage(self, number: Any) -> None:
        self.raw(b"Traceback: something that belongs on stderr\n")

    def do_huge(self, number: Any) -> bool:
        text = {"content": [{"type": "text", "text": "x" * (self.args.mb << 20)}]}
        self.send({"id": number, "result": text})
        return True

    def do_wrong_id(self, number: Any) -> bool:
        self.send({"id": 987654, "result": {}})
        return True

    def do_twice(self, number: Any) -> None:
        self.send({"id": number, "result": {"content": []}})

    def do_stderr(self, number: Any) -> None:
        for _ in range(self.args.mb * 16):
            sys.stderr.write("e" * 65535 + "\n")
        sys.stderr.flush()

    def do_slow(self, number: Any) -> None:
        time.sleep(self.args.seconds)

    def do_batch(self, number: Any) -> bool:
        notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": 1}}
        batch = [notice, {"jsonrpc": "2.0", "id": number, "result": {"content": []}}]
        self.raw(json.dumps(batch).encode() + b"\n")
        return True

    def do_deep(self, number: Any) -> None:
        self.raw(b'{"a":' * 200_000 + b"1" + b"}" * 200_000 + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="ok")
    parser.add_argument("--spec", default="{}")
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--mb", type=int, default=1)
    parser.add_argument("--log")
    Server(parser.parse_args()).run()


if __name__ == "__main__":
    main()
