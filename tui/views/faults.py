"""What failed and what is wrong in files, newest first."""

from __future__ import annotations

from dataclasses import dataclass

from core.protocol.facts import Problem
from core.protocol.rows import DOMAINS
from tui.signs import SignName
from tui.store import Fault, ViewStore
from tui.views.base import Place
from tui.views.times import moment

SHOWN = 500
_SIGNS: dict[str, SignName] = {"error": "failed", "warning": "problem", "note": "none"}


@dataclass(frozen=True)
class FaultLine:
    """One fault in words; `domain` and `subject` name the row that it belongs to."""

    key: str
    sign: SignName
    time: str
    about: str
    what: str
    words: str
    count: int = 1
    domain: str = ""
    subject: str = ""


def fault_lines(store: ViewStore, place: Place) -> list[FaultLine]:
    """What happened, newest first; then what stands in files, errors before warnings."""
    happened = [_happened(fault, store, place) for fault in reversed(store.faults.values())]
    problems = [
        row.problem for row in store.problems.rows.values() if row.problem.severity != "note"
    ]
    problems.sort(key=lambda problem: problem.severity != "error")
    return [*happened, *(_in_file(problem, store, place) for problem in problems)][:SHOWN]


def _happened(fault: Fault, store: ViewStore, place: Place) -> FaultLine:
    row = store.servers.rows.get(fault.subject) if fault.domain == "servers" else None
    mended = row is not None and row.status == "connected"
    return FaultLine(
        key=f"fault:{fault.about}:{fault.what}",
        sign="works" if mended else "failed",
        time=moment(fault.at, store.now()),
        about=fault.about,
        what=f"{fault.what}; connected since" if mended else fault.what,
        words=fault.words or "it did not say why",
        count=fault.count,
        domain=fault.domain,
        subject=fault.subject,
    )


def _name(problem: Problem, store: ViewStore) -> str:
    """The row's name where there is such a row, else what the core calls it."""
    if problem.subject is None or problem.domain not in DOMAINS:
        return problem.subject or problem.domain
    row = store.table(problem.domain).rows.get(problem.subject)
    return str(getattr(row, "name", "")) or problem.subject


def _in_file(problem: Problem, store: ViewStore, place: Place) -> FaultLine:
    said = "; Codex ".join(part for part in (problem.message, problem.codex) if part)
    return FaultLine(
        key=f"problem:{problem.id}",
        sign=_SIGNS.get(problem.severity, "problem"),
        time="",
        about=_name(problem, store),
        what=place.short(problem.evidence) or problem.rule,
        words=f"{said}; {problem.hint}" if problem.hint else said,
        domain=problem.domain,
        subject=problem.subject or "",
    )
