"""What a bench is told, and the parts that several benches share."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.perf.peers import JACKFIELD, Kind
from tests.perf.report import Measure, Section, figure


@dataclass(frozen=True, kw_only=True)
class Given:
    """How to measure.

    Attributes:
        runs: Of each thing, at least.
        large: Sizes too that take minutes.
        seconds: That an idle panel is watched for.
        codex: The real program; None where it is not installed.
    """

    runs: int = 5
    large: bool = False
    seconds: float = 60.0
    codex: Kind | None = None

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Ours, then the real one where it is there."""
        return (JACKFIELD,) if self.codex is None else (JACKFIELD, self.codex)


@dataclass
class SideBySide:
    """The same things measured of several programs, by turns, so that a busy moment hits all.

    Attributes:
        samples: By what was measured, then by program.
    """

    samples: dict[str, dict[str, list[float]]] = field(
        default_factory=dict[str, dict[str, list[float]]]
    )
    units: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, what: str, who: str, values: Iterable[float], unit: str = "ms") -> None:
        """More samples of one thing."""
        self.samples.setdefault(what, {}).setdefault(who, []).extend(values)
        self.units[what] = unit

    def put(self, section: Section, budgets: Mapping[str, float] | None = None) -> None:
        """Rows: each thing of each program; ours with its ratio to every other one.

        Args:
            budgets: What our median may be of the real one's, by the beginning of what it is.
        """
        for what, programs in self.samples.items():
            ours = programs.get(JACKFIELD.name)
            for who, samples in programs.items():
                note = ""
                if ours is not None and samples is ours:
                    wanted = _budget(what, budgets)
                    note = "; ".join(
                        _ratio(ours, others, other, wanted)
                        for other, others in programs.items()
                        if other != who
                    )
                measure = Measure(
                    what=f"{what}: {who}", samples=samples, unit=self.units[what], note=note
                )
                section.measures.append(measure)


def _budget(what: str, budgets: Mapping[str, float] | None) -> float | None:
    fitting = [limit for begin, limit in (budgets or {}).items() if what.startswith(begin)]
    return fitting[0] if fitting else None


def _ratio(ours: Sequence[float], others: Sequence[float], other: str, wanted: float | None) -> str:
    share = statistics.median(ours) / (statistics.median(others) or 1e-9)
    said = f"{figure(share)} of {other}"
    if wanted is None or other != "codex":
        return said
    return f"{said} (≤ {wanted:g}: {'ok' if share <= wanted else 'over'})"


def without_codex(given: Given, section: Section) -> None:
    """Say that there is nobody to compare with."""
    if given.codex is None:
        section.measures.append(
            Measure(what="codex", skipped="not on PATH, JACKFIELD_CODEX not set")
        )


Bench = Callable[[Given], Section]
