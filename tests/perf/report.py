"""What was measured, as rows of a table: samples in, median, least and most out."""

from __future__ import annotations

import os
import platform
import statistics
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

PARTS = ("textual", "anyio", "msgspec", "pydantic", "httpx")


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One thing that was measured.

    Attributes:
        what: Short; unique in its benchmark.
        samples: In `unit`, at least one, unless `skipped` says why there are none.
        budget: What the median (or, for `p95`, the 95th percentile) should not exceed.
        judge: Which figure is held against the budget: `median`, `p95` or `most`.
        note: What one has to know to read it.
    """

    what: str
    samples: Sequence[float] = ()
    unit: str = "ms"
    budget: float | None = None
    judge: str = "median"
    note: str = ""
    skipped: str = ""

    @property
    def judged(self) -> float:
        """The figure that the budget is about."""
        if self.judge == "p95":
            return percentile(self.samples, 95)
        return max(self.samples) if self.judge == "most" else statistics.median(self.samples)

    @property
    def verdict(self) -> str:
        """`ok` or `over`; "" without a budget."""
        if self.budget is None or not self.samples:
            return ""
        return "ok" if self.judged <= self.budget else "over"


@dataclass
class Section:
    """The measures of one benchmark, in order."""

    name: str
    title: str
    measures: list[Measure] = field(default_factory=list[Measure])


def percentile(samples: Iterable[float], share: float) -> float:
    """The smallest sample that at least `share` percent of them do not exceed."""
    ordered = sorted(samples)
    if not ordered:
        raise ValueError("no samples")
    place = -(-len(ordered) * share // 100)
    return ordered[max(0, int(place) - 1)]


def figure(value: float) -> str:
    """Three digits that count: `0.042`, `4.20`, `42.0`, `420`, `4200`."""
    size = abs(value)
    if size >= 100 or value == 0:
        return f"{value:.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 1 else f"{value:.3f}"


HEAD = ("measured", "median", "p95", "least", "most", "n", "unit", "budget", "")


def cells(measure: Measure) -> tuple[str, ...]:
    """A measure as a row under `HEAD`."""
    if not measure.samples:
        return (measure.what, "", "", "", "", "0", measure.unit, "", f"skipped: {measure.skipped}")
    samples = measure.samples
    many = len(samples) >= 20
    budget = ""
    if measure.budget is not None:
        judge = "" if measure.judge == "median" else f"{measure.judge} "
        budget = f"{judge}≤ {figure(measure.budget)}"
    return (
        measure.what,
        figure(statistics.median(samples)),
        figure(percentile(samples, 95)) if many else "",
        figure(min(samples)),
        figure(max(samples)),
        str(len(samples)),
        measure.unit,
        budget,
        " ".join(part for part in (measure.verdict, measure.note) if part),
    )


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Columns in line; figures to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines: list[str] = []
    for row in rows:
        made = [
            cell.rjust(width) if 1 <= at <= 5 else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(made).rstrip())
    return "\n".join(lines)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The same for a page."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---" if not 1 <= at <= 5 else "--:" for at in range(len(head))], *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """What it was measured on, and how busy that was."""
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    return (
        f"{_processor()}, {os.cpu_count()} CPUs, {_memory()}, {platform.system()} "
        f"{platform.release()}, Python {platform.python_version()}, load {load}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2**30:.0f} GiB"


def versions(more: Sequence[str] = ()) -> str:
    """Of what matters for the figures."""
    known = [f"{name} {metadata.version(name)}" for name in PARTS]
    return ", ".join([*known, *more])


def page(sections: Sequence[Section], head: Sequence[str]) -> str:
    """All of it as Markdown."""
    parts = ["# Measured", "", "Written by `make bench ARGS=--write`.", ""]
    parts += [f"- {line}" for line in head]
    for section in sections:
        rows = [HEAD, *(cells(measure) for measure in section.measures)]
        parts += ["", f"## {section.title}", "", markdown_table(rows)]
    return "\n".join(parts) + "\n"


def say(text: str) -> None:
    """Tell what is going on, beside the tables."""
    print(text, file=sys.stderr, flush=True)
