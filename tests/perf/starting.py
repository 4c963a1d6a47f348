"""From the process's start to the first frame and the first rows, beside a bare Textual app."""

from __future__ import annotations

import re
import shutil
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
A_ROW = re.compile(rb"plugin-\d\d-0000\d")
ANSWER = b"No MCP server yet"


def start(given: Given) -> Section:
    """By turns, so that a busy moment of the machine hits all of them."""
    section = Section("start", "Start, from process start, on a pty of 120x40; 10 x 2,000 plugins")
    found: dict[str, list[float]] = {}
    with world() as (empty, bare), world() as (root, environ):
        write_marketplaces(codex_home(root), marketplaces=10, plugins=2000)
        _settle(environ, root)
        for number in range(given.runs + 1):
            anew, rows = _caches(root, environ, number)
            for what, command, around, cwd, wanted in (
                (FLOOR, BARE, bare, empty, b"bare-row-00001"),
                ("first frame, empty home", PANEL, bare, empty, b"Marketplaces"),
                ("first rows, first start ever", PANEL, anew, root, A_ROW),
                ("first rows, second start (rows kept)", PANEL, rows, root, A_ROW),
                ("first rows, later start (frame kept)", PANEL, environ, root, A_ROW),
            ):
                found.setdefault(what, []).append(_until(command, around, cwd, wanted))
            what = "first key answered, later start"
            found.setdefault(what, []).append(_until(PANEL, environ, root, A_ROW, b"4"))
        if given.codex is not None:
            found[CODEX] = _codex(given, given.codex.command, root, environ)
    # The first one warms the disk.
    kept = {what: samples[1:] for what, samples in found.items()}
    floor = statistics.median(kept[FLOOR])
    section.measures += [_measure(what, samples, floor) for what, samples in kept.items()]
    return section


def _caches(
    root: Path, environ: dict[str, str], number: int
) -> tuple[dict[str, str], dict[str, str]]:
    """Environments of a first start, and of one that finds rows but no frame."""
    empty, rows = root / f"cache-{number}", root / f"rows-{number}"
    (rows / "jackfield").mkdir(parents=True)
    for file in (root / "cache" / "jackfield").glob("plugins-*"):
        shutil.copy(file, rows / "jackfield")
    return {**environ, "XDG_CACHE_HOME": str(empty)}, {**environ, "XDG_CACHE_HOME": str(rows)}


def _measure(what: str, samples: Sequence[float], floor: float) -> Measure:
    if what in (FLOOR, CODEX):
        return Measure(what=what, samples=samples)
    share = f"{figure(statistics.median(samples) / floor)} of the floor"
    budget = 400 if what.startswith("first rows") else None
    return Measure(what=what, samples=samples, budget=budget, note=share)


def _settle(environ: dict[str, str], root: Path) -> None:
    """Show the panel until it has kept its rows, then its first frame."""
    kept = root / "cache" / "jackfield"
    for wanted in ("plugins-*", "frame-*"):
        with Terminal(list(PANEL), environ=environ, cwd=root) as terminal:
            terminal.wait_for(A_ROW, timeout=60)
            for _ in range(240):
                terminal.watch(0.25)
                if any(kept.glob(wanted)):
                    break
            else:
                raise TimeoutError(f"no {wanted} was kept within 60 s")


def _until(
    command: Sequence[str],
    environ: dict[str, str],
    cwd: Path,
    wanted: bytes | re.Pattern[bytes],
    key: bytes = b"",
) -> float:
    """Milliseconds until something is written; with a key, typed then, until it is answered."""
    with Terminal(list(command), environ=environ, cwd=cwd) as terminal:
        at = terminal.wait_for(wanted, timeout=60)
        if key:
            terminal.press(key)
            at = terminal.wait_for(ANSWER, timeout=60)
        terminal.end(0.5)
        return (at - terminal.started) * 1000


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
