"""How the refresh of a list is told: begun, what each source brought or why it failed, ended."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from core.errors import CoreError
from core.protocol.events import (
    RefreshEvent,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
)
from core.protocol.rows import Domain, Row, timeless

if TYPE_CHECKING:
    from core.ports import Clock

Rows = Mapping[str, Row]


class Refresh:
    """Tells of one refresh of one domain; its end is told once.

    Attributes:
        failed: Sources that failed so far.
        ended: Its end has been told.
    """

    def __init__(
        self, domain: Domain, refresh_id: str, emit: Callable[[RefreshEvent], None], clock: Clock
    ) -> None:
        self._domain: Domain = domain
        self._id, self._emit, self._clock = refresh_id, emit, clock
        self._began = clock.monotonic()
        self.ended = False
        self.failed: set[str] = set()

    def start(self, *, forced: bool, sources: tuple[str, ...]) -> None:
        """Say what is awaited."""
        self._emit(RefreshStarted(id=self._id, domain=self._domain, forced=forced, sources=sources))

    def progress(self, source: str, done: int, total: int | None, note: str = "") -> None:
        """Say how far a source has come; `done` of `total` entries or pages."""
        self._emit(
            RefreshProgress(
                id=self._id, domain=self._domain, source=source, done=done, total=total, note=note
            )
        )

    def fail(self, source: str, failure: CoreError) -> None:
        """Say why a source gives nothing; the others go on."""
        self.failed.add(source)
        told = RefreshFailed(id=self._id, domain=self._domain, source=source, message=failure.words)
        evidence = failure.evidence
        self._emit(msgspec.structs.replace(told, evidence=evidence) if evidence else told)

    def finish(
        self, outcome: str, *, before: Rows, after: Rows, kept_previous: bool = False
    ) -> None:
        """Say how it ended; only the first word counts.

        Args:
            outcome: As in `RefreshFinished`.
            before, after: The rows at its beginning and now.
            kept_previous: Some rows stand only because a source that failed gave them before.
        """
        if self.ended:
            return
        self.ended = True
        self._emit(
            RefreshFinished(
                id=self._id,
                domain=self._domain,
                outcome=outcome,
                kept_previous=kept_previous,
                added=sum(1 for key in after if key not in before),
                changed=sum(1 for key, row in after.items() if _differs(row, before.get(key))),
                removed=sum(1 for key in before if key not in after),
                seconds=round(self._clock.monotonic() - self._began, 3),
            )
        )


async def read_told(
    refresh: Refresh, source: str, rows: Callable[[], Rows], read: Callable[[], Awaitable[object]]
) -> None:
    """Read a list that has one source, and tell of it.

    Raises:
        CoreError: What `read` raised; it has been told.
    """
    before = rows()
    refresh.start(forced=False, sources=(source,))
    try:
        await read()
    except CoreError as failure:
        refresh.fail(source, failure)
        refresh.finish("failed", before=before, after=rows(), kept_previous=bool(rows()))
        raise
    else:
        refresh.finish("ok", before=before, after=rows())
    finally:
        refresh.finish("cancelled", before=before, after=rows(), kept_previous=bool(rows()))


def _differs(row: Row, before: Row | None) -> bool:
    if before is None or before is row or before == row:
        return False
    return timeless(row) != timeless(before)
