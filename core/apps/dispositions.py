"""How the last read of the installed snapshot went: for people, never on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.apps.snapshots import Committed
from core.ports import Clock

Disposition = Literal["notRequested", "notStarted", "success", "error", "skippedAppsDisabled"]


@dataclass(frozen=True, kw_only=True)
class SnapshotRead:
    """One read.

    Attributes:
        disposition: What came of a forced refresh; `notRequested` without one, `notStarted` where
            no account could be asked.
        retained: What is told is of an earlier read.
        at: When, in seconds since the epoch.
        age: Of the snapshot then, in seconds; None without one.
        tools: That it holds.
        seconds: That the refresh took.
    """

    disposition: Disposition
    retained: bool
    at: float
    age: float | None
    tools: int
    seconds: float


class Reading:
    """Measures one read, from its start to `done`."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._began = clock, clock.monotonic()

    def done(self, disposition: Disposition, committed: Committed | None) -> SnapshotRead:
        """What is to be told of it."""
        now = self._clock.now()
        return SnapshotRead(
            disposition=disposition,
            retained=committed is not None and disposition != "success",
            at=now,
            age=None if committed is None else max(0.0, now - committed.at),
            tools=0 if committed is None else len(committed.tools),
            seconds=self._clock.monotonic() - self._began,
        )
