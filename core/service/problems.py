"""jackfield/problems: every fault that any row carries, as rows of their own."""

from __future__ import annotations

from typing import Any

from core.channels import EventHub
from core.ports import Clock
from core.protocol.events import Event, StateChanged
from core.protocol.facts import Problem
from core.protocol.jackfield import NoParams, ProblemsResult
from core.protocol.rows import Domain, ProblemRow
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.snapshot import SnapshotOwner

WATCHED: frozenset[Domain] = frozenset({"config", "marketplaces", "plugins", "servers"})


class ProblemBoard:
    """Gathers the problems on rows as they change; holds nothing that a row does not say."""

    def __init__(self, hub: EventHub, clock: Clock) -> None:
        self.owner: SnapshotOwner[ProblemRow] = SnapshotOwner("problems", hub.emit)
        self._clock = clock
        self._by_row: dict[tuple[Domain, str], tuple[Problem, ...]] = {}
        self._unread = set(WATCHED)
        hub.listen(self._on_event)

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/problems": self.problems}

    def _on_event(self, event: Event) -> None:
        if not isinstance(event, StateChanged) or event.domain not in WATCHED:
            return
        touched = event.phase == "final" and self._first_word(event.domain)
        for key in event.removed:
            touched |= self._set((event.domain, key), ())
        for row in event.upserted:
            touched |= self._set((event.domain, row.id), row.problems)
        if touched:
            self._publish()

    def _first_word(self, domain: Domain) -> bool:
        """All lists have been read now: without any problem perhaps."""
        if domain not in self._unread:
            return False
        self._unread.discard(domain)
        return not self._unread

    def _set(self, key: tuple[Domain, str], problems: tuple[Problem, ...]) -> bool:
        if problems == self._by_row.get(key, ()):
            return False
        if problems:
            self._by_row[key] = problems
        else:
            self._by_row.pop(key, None)
        return True

    def _publish(self) -> None:
        rows = [
            ProblemRow(id=problem.id, problem=problem)
            for problems in self._by_row.values()
            for problem in problems
        ]
        self.owner.publish(self.owner.begin(), rows, at=self._clock.now())

    async def problems(self, params: NoParams, scope: RequestScope) -> ProblemsResult:
        rows: Any = self.owner.current.rows.values()
        return ProblemsResult(problems=tuple(row.problem for row in rows))
