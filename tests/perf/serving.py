"""MCP servers: from nothing to the status of all, again, and between good and bad ones."""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.perf.given import Given, SideBySide, without_codex
from tests.perf.homes import add_servers
from tests.perf.peers import Kind, Peer, ran
from tests.perf.report import Measure, Section, say
from tests.perf.terminal import Terminal, settle
from tests.perf.worlds import PANEL, codex_home, world

ECHO = ["sh", str(Path(__file__).with_name("echo_server.sh"))]
SIZES = (5, 50)
LARGE = 200
STATUS = "mcpServerStatus/list"
ISSUE = {
    "cold, ": 1.1,
    "repeated with threadId, ": 0.05,
}
BAD = {
    "sleeper": ["sleep", "600"],
    "exits": ["sh", "-c", "echo boom >&2; exit 3"],
    "missing": ["no-such-program-here"],
    "banner": ["sh", "-c", "echo not json; sleep 600"],
}


def status(given: Given) -> Section:
    """mcpServerStatus/list of servers on stdio, without the process's start."""
    section = Section("status", f"{STATUS} of stdio servers, process start excluded")
    both = SideBySide()
    for size in (*SIZES, LARGE):
        say(f"status of {size} servers")
        for _ in range(given.runs if size < LARGE else max(2, given.runs // 2)):
            both.add(f"cold, {size}", "raw spawn and round trip", [_floor(size)])
            for kind in given.kinds:
                with world() as (root, environ):
                    add_servers(codex_home(root), {f"s{at:03}": ECHO for at in range(size)})
                    with Peer(kind, environ, root) as peer:
                        settle(peer.pid)
                        _statuses(peer, kind, size, both)
    both.put(section, ISSUE)
    without_codex(given, section)
    return section


def _statuses(peer: Peer, kind: Kind, size: int, both: SideBySide) -> None:
    cold = peer.timed(STATUS, {"limit": 1000})
    both.add(f"cold, {size}", kind.name, [cold])
    thread = peer.ask("thread/start", {})["thread"]["id"]
    asked = {"limit": 1000, "threadId": thread}
    peer.timed(STATUS, asked)  # the thread's own servers start
    again = [peer.timed(STATUS, asked) for _ in range(3)]
    both.add(f"repeated with threadId, {size}", kind.name, again)


def _floor(size: int) -> float:
    """Spawn them all, greet each and have its tools, with nothing around it."""
    hello: dict[str, Any] = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    asked: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    ]
    text = b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in asked)
    began = time.perf_counter()
    running: list[subprocess.Popen[bytes]] = []
    waiting = selectors.DefaultSelector()
    for _ in range(size):
        one = subprocess.Popen(ECHO, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        running.append(one)
        assert one.stdin is not None and one.stdout is not None
        one.stdin.write(text)
        one.stdin.flush()
        waiting.register(one.stdout.fileno(), selectors.EVENT_READ, [one.stdout.fileno(), 0])
    open_ones = size
    while open_ones:
        for key, _ in waiting.select():
            fd, lines = key.data
            lines += os.read(fd, 65536).count(b"\n")
            key.data[1] = lines
            if lines >= 2:
                waiting.unregister(fd)
                open_ones -= 1
    took = (time.perf_counter() - began) * 1000
    for one in running:
        one.kill()
        one.communicate()
    return took


def rows(given: Given) -> Section:
    """From the process's start until the servers' rows say connected, in the panel."""
    section = Section("servers", "Servers in the panel, from process start to the row")
    measured: dict[str, list[float]] = {}
    for _ in range(given.runs):
        for what, good, bad in (("one good server alone", 1, {}), ("5 good + 4 bad", 5, BAD)):
            with world() as (root, environ):
                commands = {f"good-{number}": ECHO for number in range(good)}
                add_servers(codex_home(root), {**commands, **bad})
                with Terminal(PANEL, environ=environ, cwd=root) as terminal:
                    terminal.press(b"4")
                    first = terminal.wait_for(re.compile(rb"[1-9] up"), timeout=60)
                    last = terminal.wait_for(f"{good} up".encode(), timeout=60)
                measured.setdefault(f"{what}, first good row", []).append(
                    (first - terminal.started) * 1000
                )
                if good > 1:
                    measured.setdefault(f"{what}, last good row", []).append(
                        (last - terminal.started) * 1000
                    )
    section.measures += [Measure(what=what, samples=samples) for what, samples in measured.items()]
    _status_with_bad(given, section)
    return section


def _status_with_bad(given: Given, section: Section) -> None:
    """What the same servers are on the command line, where there are no bad ones to wait for."""
    both = SideBySide()
    with world() as (root, environ):
        add_servers(codex_home(root), {f"good-{number}": ECHO for number in range(5)})
        for _ in range(given.runs):
            for kind in given.kinds:
                both.add(
                    "mcp list, 5 good", kind.name, [ran(kind.words("mcp", "list"), environ, root)]
                )
    both.put(section)
