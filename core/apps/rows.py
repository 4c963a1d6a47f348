"""From the merged list to the panel's rows and the wire's entries; refresh events around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from core.apps.policy import AppPolicy
from core.config.pace import Pace
from core.errors import CoreError
from core.net.backend import BackendFailed
from core.ports import Clock
from core.protocol.app_info import AppInfo
from core.protocol.events import (
    RefreshEvent,
    RefreshFailed,
    RefreshFinished,
    RefreshProgress,
    RefreshStarted,
)
from core.protocol.rows import AppRow, Domain, Row

RowT = TypeVar("RowT", bound=Row)


def switched(apps: Iterable[AppInfo], policy: AppPolicy) -> tuple[AppInfo, ...]:
    """The entries with `isEnabled` as this configuration has it."""
    return tuple(
        app if policy.app(app.id).on else msgspec.structs.replace(app, is_enabled=False)
        for app in apps
    )


def app_rows(
    apps: Iterable[AppInfo], policy: AppPolicy, cached: Callable[[str], bool]
) -> list[AppRow]:
    """The panel's rows; `cached` tells by id which are not yet confirmed."""
    pace = Pace()
    rows: list[AppRow] = []
    for app in apps:
        pace.tick()
        decision = policy.app(app.id)
        rows.append(
            AppRow(
                id=app.id,
                cached=cached(app.id),
                name=app.name,
                description=app.description or "",
                category=_category(app),
                accessible=app.is_accessible,
                enabled=decision.on,
                enabled_at=decision.at,
                brought_by=app.plugin_display_names,
                install_url=app.install_url or "",
                labels=tuple(f"{key}: {value}" for key, value in (app.labels or {}).items()),
            )
        )
    return rows


def _category(app: AppInfo) -> str:
    if app.branding is not None and app.branding.category:
        return app.branding.category
    categories = app.app_metadata.categories if app.app_metadata is not None else None
    return categories[0] if categories else ""


class Refresh:
    """Tells of one refresh: begun, its sources' progress and failures, ended once.

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
        self._emit(RefreshStarted(id=self._id, domain=self._domain, forced=forced, sources=sources))

    def progress(self, source: str, done: int, total: int | None, note: str = "") -> None:
        self._emit(
            RefreshProgress(
                id=self._id, domain=self._domain, source=source, done=done, total=total, note=note
            )
        )

    def fail(self, source: str, failure: CoreError) -> None:
        self.failed.add(source)
        words = failure.words if isinstance(failure, BackendFailed) else failure.message
        evidence = failure.evidence
        told = RefreshFailed(id=self._id, domain=self._domain, source=source, message=words)
        self._emit(msgspec.structs.replace(told, evidence=evidence) if evidence else told)

    def finish(
        self,
        outcome: str,
        *,
        before: Mapping[str, RowT],
        after: Mapping[str, RowT],
        kept_previous: bool = False,
    ) -> None:
        """Say how it ended; only the first word counts."""
        if self.ended:
            return
        self.ended = True
        self._emit(
            RefreshFinished(
                id=self._id,
                domain=self._domain,
                outcome=outcome,
                kept_previous=kept_previous,
                seconds=round(self._clock.monotonic() - self._began, 3),
                **_difference(before, after),
            )
        )


def _difference(before: Mapping[str, Row], after: Mapping[str, Row]) -> dict[str, Any]:
    changed = sum(
        1 for key, row in after.items() if key in before and _plain(row) != _plain(before[key])
    )
    return {
        "added": sum(1 for key in after if key not in before),
        "changed": changed,
        "removed": sum(1 for key in before if key not in after),
    }


def _plain(row: Row) -> Row:
    return msgspec.structs.replace(row, cached=False) if row.cached else row
