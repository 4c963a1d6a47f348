"""Keys: to the details of a row, to what a filter leaves; with events coming in or none."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import anyio

from core.channels import EventHub
from core.protocol.events import CoreEvent
from tests.fakes.client import FakeClient
from tests.perf.busy_panel import Storm, cursor_on, rows, told_of
from tests.perf.given import Given
from tests.perf.report import Measure, Section
from tests.perf.terminal import Terminal
from tests.perf.worlds import world
from tui.store import ViewStore

TOTAL = 20_000
QUIET = 0.04  # seconds without output after which a key has been answered whole


def keys(given: Given) -> Section:
    """From a key to what it changes on the screen."""
    section = Section("keys", "Key to paint, 20,000 rows, on a pty of 120x40")
    for events in (0, 1000):
        about = f"{events:,} events a second" if events else "nothing else going on"
        moved, told = _presses(given, events)
        section.measures += [
            Measure(what=f"j to the cursor, {about}", samples=moved, budget=16, judge="p95"),
            Measure(what=f"j to the row's details, {about}", samples=told),
        ]
    section.measures.append(_search(given))
    section.measures.append(_throughput(given))
    return section


def _presses(given: Given, events: int) -> tuple[list[float], list[float]]:
    """Until the cursor's mark, which every key moves, and until the details of its row."""
    moved: list[float] = []
    told: list[float] = []
    with world() as (root, environ), _busy(events, root, environ) as terminal:
        terminal.wait_for(b"plugin-00010", timeout=60)
        terminal.press(b"j")
        terminal.wait_for(told_of(0).encode(), timeout=60)
        terminal.watch(1)
        for number in range(1, given.runs * 20):
            since = len(terminal.output)
            at = terminal.press(b"j")
            seen = terminal.wait_for(cursor_on(number), since=since)
            moved.append((seen - at) * 1000)
            seen = terminal.wait_for(told_of(number).encode(), since=since)
            told.append((seen - at) * 1000)
            terminal.watch(0.03)  # nobody types faster; another frame may be due
    return moved, told


def _busy(events: int, root: Path, environ: dict[str, str]) -> Terminal:
    command = [sys.executable, "-m", "tests.perf.busy_panel", str(TOTAL), str(events)]
    return Terminal(command, environ=environ, cwd=root)


def _search(given: Given) -> Measure:
    """From a key in the filter to the last byte of what it changes on the screen."""
    samples: list[float] = []
    with world() as (root, environ), _busy(0, root, environ) as terminal:
        terminal.wait_for(b"plugin-00010", timeout=60)
        terminal.watch(1)
        for number in range(given.runs):
            terminal.press(b"/")
            terminal.watch(0.5)
            for key in f"plugin-{number * 1999:05}":
                at = terminal.press(key.encode())
                terminal.wait_for(b"\x1b", since=len(terminal.output))
                last = time.perf_counter()
                while terminal.read(QUIET):
                    last = time.perf_counter()
                samples.append((last - at) * 1000)
            terminal.press(b"\x1b")
            terminal.watch(0.3)
            terminal.press(b"\x1b")
            terminal.watch(0.3)
    return Measure(what="search among 20,000, per keystroke", samples=samples, judge="p95")


def _throughput(given: Given) -> Measure:
    """Events that a hub, a subscription and the view's store take in a second, one core."""
    samples: list[float] = []
    for _ in range(given.runs):
        client = FakeClient(**rows(TOTAL))
        storm = Storm(client, TOTAL)
        samples.append(anyio.run(_take, client.hub, storm))
    return Measure(what="events taken by channel and store", samples=samples, unit="/s")


async def _take(hub: EventHub, storm: Storm, batches: int = 40, size: int = 500) -> float:
    store = ViewStore()
    took = 0.0
    async with hub.subscribe() as subscription:
        for _ in range(batches):
            began = time.perf_counter()
            storm.send(size)
            events: list[CoreEvent] = subscription.take()
            store.apply(events)
            took += time.perf_counter() - began
    return batches * size / took
