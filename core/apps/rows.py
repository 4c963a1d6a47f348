"""From the merged list to the panel's rows and the wire's entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from core.apps.policy import AppPolicy
from core.config.pace import Pace
from core.protocol.app_info import AppInfo
from core.protocol.rows import AppRow


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
