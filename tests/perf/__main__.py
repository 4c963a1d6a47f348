"""`make bench`: what start, keys, lists and connections cost, beside the real Codex and the floor.

Reports; never fails for a figure.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module

from tests.perf.given import Bench, Given
from tests.perf.peers import codex
from tests.perf.report import HEAD, Section, cells, machine, page, say, text_table, versions
from tests.perf.worlds import REPO

RESULTS = REPO / "tests" / "perf" / "RESULTS.md"
BENCHES = {
    "start": "tests.perf.starting:start",
    "keys": "tests.perf.keying:keys",
    "stall": "tests.perf.stalling:stall",
    "plugins": "tests.perf.listing:plugins",
    "verbs": "tests.perf.listing:verbs",
    "status": "tests.perf.serving:status",
    "servers": "tests.perf.serving:rows",
    "apps": "tests.perf.directory:apps",
    "footprint": "tests.perf.footprint:footprint",
}


def _bench(name: str) -> Bench:
    module, _, attribute = BENCHES[name].partition(":")
    return getattr(import_module(module), attribute)


def main() -> None:
    """Measure, print, and with `--write` keep the tables."""
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", choices=sorted(BENCHES), action="append")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--large", action="store_true", help="50,000 plugins too")
    parser.add_argument("--idle", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    asked = parser.parse_args()
    real = codex()
    given = Given(runs=asked.runs, large=asked.large, seconds=asked.idle, codex=real)
    head = [machine(), versions([real.version] if real is not None else [])]
    print(*head, sep="\n", flush=True)
    sections: list[Section] = []
    for name in asked.only or BENCHES:
        began = time.perf_counter()
        try:
            section = _bench(name)(given)
        except (OSError, TimeoutError, RuntimeError) as error:
            print(f"\n{name}: not measured: {error}")
            continue
        sections.append(section)
        rows = [HEAD, *(cells(measure) for measure in section.measures)]
        print(f"\n{section.title}\n{text_table(rows)}", flush=True)
        say(f"{name} took {time.perf_counter() - began:.0f} s")
    if asked.write:
        RESULTS.write_text(page(sections, head))


if __name__ == "__main__":
    main()
