"""Parameters of the app methods; their results are in `core.protocol.app_info`."""

from __future__ import annotations

from core.protocol.base import U32, Params


class AppListParams(Params):
    """A page of the apps of a thread's configuration, or of the user's when there is none.

    Attributes:
        limit: Entries; None = all, 0 counts as 1.
        force_refetch: Past the caches of directory and tools.
    """

    cursor: str | None = None
    limit: U32 | None = None
    thread_id: str | None = None
    force_refetch: bool = False


class AppReadParams(Params):
    """Metadata of at most 100 apps, duplicates counted."""

    app_ids: list[str]
    include_tools: bool = False
    thread_id: str | None = None


class AppInstalledParams(Params):
    """The committed runtime snapshot; `force_refresh` lists the hosted tools once before."""

    thread_id: str | None = None
    force_refresh: bool = False
