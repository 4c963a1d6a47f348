"""How long the panel's event loop stands still while servers start."""

from __future__ import annotations

import json
import sys
import time

from tests.perf.given import Given
from tests.perf.homes import add_servers
from tests.perf.report import Measure, Section
from tests.perf.serving import ECHO
from tests.perf.terminal import Terminal
from tests.perf.worlds import codex_home, world

SERVERS = 50


def stall(given: Given) -> Section:
    """In the running panel, by a probe that only the bench puts in."""
    section = Section("stall", f"Event loop of the panel while {SERVERS} servers start")
    longest: list[float] = []
    late: list[float] = []
    until: list[float] = []
    for _ in range(given.runs):
        with world() as (root, environ):
            add_servers(codex_home(root), {f"s{at:02}": ECHO for at in range(SERVERS)})
            file = root / "gaps.json"
            command = [sys.executable, "-m", "tests.perf.probed_panel", str(file)]
            with Terminal(command, environ=environ, cwd=root) as terminal:
                terminal.wait_for(b"Marketplaces", timeout=60)
                framed = time.perf_counter()
                terminal.press(b"4")
                up = terminal.wait_for(f"{SERVERS} up".encode(), timeout=60)
                until.append((up - terminal.started) * 1000)
                terminal.press(b"q")
                while terminal.read(5):
                    pass
            (gaps,) = json.loads(file.read_text())
            between = [length * 1000 for at, length in gaps if framed < at <= up]
            longest.append(max(between, default=0.0))
            late += between
    section.measures += [
        Measure(what="longest stall of a run", samples=longest, budget=50, judge="most"),
        Measure(what="every stall above 1 ms", samples=late or [0.0]),
        Measure(what=f"process start to {SERVERS} up", samples=until),
    ]
    return section
