"""From the process's start to the first frame and the first rows, beside a bare Textual app."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.perf.given import Given
from tests.perf.homes import write_marketplaces
from tests.perf.report import Measure, Section, figure
from tests.perf.terminal import Terminal
from tests.perf.worlds import PANEL, codex_home, world

FLOOR = "floor: a bare Textual app's first row"
CODEX = "Codex's own first paint"
BARE = (sys.executable, "-m", "tests.perf.bare_panel")
A_ROW = re.compile(rb"plugin-\d\d-00001")


def start(given: Given) -> Section:
    """By turns, so that a busy moment of the machine hits all of them."""
    section = Section("start", "Start, from process start, on a pty of 120x40")
    found: dict[str, list[float]] = {}
    with world() as (empty, bare), world() as (root, environ):
        write_marketplaces(codex_home(root), marketplaces=10, plugins=2000)
        _settle(environ, root)
        for number in range(given.runs + 1):
            anew = {**environ, "XDG_CACHE_HOME": str(root / f"cache-{number}")}
            for what, command, around, cwd, wanted in (
                (FLOOR, BARE, bare, empty, b"bare-row-00001"),
                ("first frame, empty home", PANEL, bare, empty, b"Marketplaces"),
                ("first rows, 10 x 2,000 plugins, seen before", PANEL, environ, root, A_ROW),
                ("first rows, 10 x 2,000 plugins, first ever", PANEL, anew, root, A_ROW),
            ):
                found.setdefault(what, []).append(_until(command, around, cwd, wanted))
        if given.codex is not None:
            found[CODEX] = _codex(given, given.codex.command, root, environ)
    # The first one warms the disk.
    kept = {what: samples[1:] for what, samples in found.items()}
    floor = statistics.median(kept[FLOOR])
    section.measures += [_measure(what, samples, floor) for what, samples in kept.items()]
    return section


def _measure(what: str, samples: Sequence[float], floor: float) -> Measure:
    if what in (FLOOR, CODEX):
        return Measure(what=what, samples=samples)
    share = f"{figure(statistics.median(samples) / floor)} of the floor"
    budget = 400 if what.startswith("first rows") else None
    return Measure(what=what, samples=samples, budget=budget, note=share)


def _until(
    command: Sequence[str], environ: dict[str, str], cwd: Path, wanted: bytes | re.Pattern[bytes]
) -> float:
    with Terminal(list(command), environ=environ, cwd=cwd) as terminal:
        at = terminal.wait_for(wanted, timeout=60)
        terminal.end(0.5)
        return (at - terminal.started) * 1000


def _settle(environ: dict[str, str], root: Path) -> None:
    """Show the panel until it has read everything and kept its rows."""
    with Terminal(list(PANEL), environ=environ, cwd=root) as terminal:
        terminal.wait_for(A_ROW, timeout=60)
        terminal.watch(12)


def _codex(
    given: Given, command: Sequence[str], root: Path, environ: dict[str, str]
) -> list[float]:
    """The real one's terminal program: its first paint, on a home of its own."""
    samples: list[float] = []
    own = {**environ, "CODEX_HOME": str(root / "codex-alone")}
    (root / "codex-alone").mkdir()
    for _ in range(given.runs + 1):
        with Terminal(list(command), environ=own, cwd=root) as terminal:
            samples.append((terminal.wait_for(b"Codex", timeout=20) - terminal.started) * 1000)
            terminal.end(0.2)
    return samples
