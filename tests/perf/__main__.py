"""`make bench`: what the panel's start, keys and connections cost. Reports; never fails."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.mcp_stdio import argv
from tests.perf.busy_panel import told_of
from tests.perf.homes import add_servers, write_marketplaces
from tests.perf.report import (
    HEAD,
    Measure,
    Section,
    cells,
    machine,
    markdown_table,
    text_table,
    versions,
)
from tests.perf.terminal import Terminal

REPO = Path(__file__).resolve().parents[2]
RESULTS = REPO / "tests" / "perf" / "RESULTS.md"
PANEL = (sys.executable, "-m", "tui")


@contextmanager
def world() -> Iterator[tuple[Path, dict[str, str]]]:
    """An empty home of its own, and the environment that points to it."""
    with tempfile.TemporaryDirectory(prefix="jackfield-bench-") as folder:
        root = Path(folder)
        home = root / "home"
        (home / ".codex").mkdir(parents=True)
        environ = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "PYTHONPATH": str(REPO),
        }
        for kind in ("STATE", "CONFIG", "CACHE"):
            environ[f"XDG_{kind}_HOME"] = str(root / kind.lower())
        (root / "state" / "jackfield").mkdir(parents=True)
        (root / "state" / "jackfield" / "first-start").touch()
        yield root, environ


def started(environ: dict[str, str], cwd: Path, wanted: bytes, runs: int) -> list[float]:
    """Milliseconds from the process's start until `wanted` was written, per run."""
    samples: list[float] = []
    for _ in range(runs + 1):
        with Terminal([*PANEL, "--yes"], environ=environ, cwd=cwd) as terminal:
            samples.append((terminal.wait_for(wanted) - terminal.started) * 1000)
    return samples[1:]  # the first one warms the disk


def start(runs: int) -> Section:
    """From the process's start to the first frame and to the first rows."""
    section = Section("start", "Start, on a pty of 120x40")
    with world() as (root, environ):
        frames = started(environ, root, b"Marketplaces", runs)
        section.measures.append(Measure(what="first frame, empty home", samples=frames))
    with world() as (root, environ):
        write_marketplaces(root / "home" / ".codex", marketplaces=10, plugins=2000)
        rows = started(environ, root, b"plugin-00-00001", runs)
        section.measures.append(
            Measure(what="first rows, 10 x 2,000 plugins", samples=rows, budget=400)
        )
    return section


def keys(runs: int) -> Section:
    """From a key to the details of the row that it chose."""
    section = Section("keys", "Key to paint, 20,000 rows, on a pty of 120x40")
    for events in (0, 1000):
        with world() as (root, environ):
            command = [sys.executable, "-m", "tests.perf.busy_panel", "20000", str(events)]
            with Terminal(command, environ=environ, cwd=root) as terminal:
                terminal.wait_for(b"plugin-00010", timeout=60)
                terminal.press(b"j")
                terminal.wait_for(told_of(0).encode(), timeout=60)
                samples: list[float] = []
                for number in range(1, runs * 12):
                    since = len(terminal.output)
                    at = terminal.press(b"j")
                    seen = terminal.wait_for(told_of(number).encode(), since=since)
                    samples.append((seen - at) * 1000)
        what = f"j, {events:,} events a second" if events else "j, nothing else going on"
        section.measures.append(Measure(what=what, samples=samples, budget=16, judge="p95"))
    return section


def servers(runs: int) -> Section:
    """From the process's start until every good server's row says connected."""
    section = Section("servers", "Servers, from process start to the row")
    with world() as (root, environ):
        alone = {"good-0": argv()}
        add_servers(root / "home" / ".codex", alone)
        samples = [_all_up(environ, root, 1) for _ in range(runs)]
        section.measures.append(Measure(what="one good server alone", samples=samples))
    with world() as (root, environ):
        many = {f"good-{number}": argv() for number in range(5)}
        many["sleeper"] = ["sleep", "600"]
        many["exits"] = ["sh", "-c", "echo boom >&2; exit 3"]
        many["missing"] = ["no-such-program-here"]
        add_servers(root / "home" / ".codex", many)
        samples = [_all_up(environ, root, 5) for _ in range(runs)]
        section.measures.append(Measure(what="5 good ones beside 3 bad ones", samples=samples))
    return section


def _all_up(environ: dict[str, str], cwd: Path, count: int) -> float:
    with Terminal([*PANEL, "--yes"], environ=environ, cwd=cwd) as terminal:
        terminal.press(b"4")
        at = terminal.wait_for(f"{count} up".encode(), timeout=60)
        return (at - terminal.started) * 1000


BENCHES: dict[str, Callable[[int], Section]] = {"start": start, "keys": keys, "servers": servers}


def main() -> None:
    """Measure, print, and with `--write` keep the tables."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", choices=sorted(BENCHES), action="append")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    page = ["# What was measured", "", machine(), "", versions(), ""]
    print(machine(), versions(), sep="\n")
    for name in given.only or BENCHES:
        try:
            section = BENCHES[name](given.runs)
        except (OSError, TimeoutError) as error:
            print(f"\n{name}: not measured: {error}")
            continue
        rows = [HEAD, *(cells(measure) for measure in section.measures)]
        print(f"\n{section.title}\n{text_table(rows)}")
        page += [f"## {section.title}", "", markdown_table(rows), ""]
    if given.write:
        RESULTS.write_text("\n".join(page))


if __name__ == "__main__":
    main()
