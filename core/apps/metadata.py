"""app/read: what the backend tells of single apps, kept until the account changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from core.apps.entries import install_url
from core.apps.hosted import signed_in
from core.apps.view import View
from core.errors import InternalError, InvalidParams
from core.net.backend import BackendFailed, open_backend, unreadable
from core.ports import HttpFactory
from core.protocol.app_info import AppMetadataEntry, AppReadResult, AppToolSummary
from core.seams import Accounts, BackendAccount

BATCH = "/ps/apps/batch"
LIMIT = 100


class _Tool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    description: str
    title: str | None = None
    is_enabled: bool | None = None
    disabled_reason: str | None = None
    is_read_only: bool | None = None


class _App(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    description: str | None = None
    icon_url: str | None = None
    icon_dark_url: str | None = None
    icon_url_dark: str | None = None
    distribution_channel: str | None = None
    tools: tuple[_Tool, ...] | None = None


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    apps: tuple[_App, ...]


class AppMetadataReader:
    """Reads and keeps metadata; asks the backend only for what it has not yet told.

    An entry that came without tools is asked for again when tools are wanted. What the backend
    does not know is asked for each time. Nothing of an answer that fails is kept.
    """

    def __init__(self, *, http: HttpFactory, accounts: Accounts, deadline: float = 30.0) -> None:
        self._http, self._accounts, self._deadline = http, accounts, deadline
        self._identity = ""
        self._kept: dict[str, AppMetadataEntry] = {}

    async def read(
        self,
        app_ids: Sequence[str],
        *,
        include_tools: bool,
        view: View,
        originator: str = "jackfield",
    ) -> AppReadResult:
        """Entries and missing ids, both in the order of the request, without duplicates.

        Raises:
            InvalidParams: More than 100 ids, duplicates counted.
            InternalError: `failed to read app metadata: …`.
        """
        check_count(app_ids)
        wanted = tuple(dict.fromkeys(app_ids))
        account = await signed_in(self._accounts) if view.policy.feature().on else None
        if account is None or not wanted:
            return AppReadResult(apps=(), missing_app_ids=wanted)
        if account.identity != self._identity:
            self._identity, self._kept = account.identity, {}
        kept = self._kept
        lacking = [key for key in wanted if not _serves(kept.get(key), include_tools)]
        if lacking:
            try:
                fetched = await self._fetch(account, lacking, include_tools, originator)
            except BackendFailed as failure:
                raise InternalError(
                    f"failed to read app metadata: {failure.message}",
                    evidence=failure.evidence,
                    hint=failure.hint,
                ) from failure
            for app_id in lacking:
                kept.pop(app_id, None)
            kept.update((entry.id, entry) for entry in fetched if entry.id in lacking)
        found = [kept[app_id] for app_id in wanted if app_id in kept]
        return AppReadResult(
            apps=tuple(_shown(entry, include_tools, view) for entry in found),
            missing_app_ids=tuple(app_id for app_id in wanted if app_id not in kept),
        )

    async def _fetch(
        self, account: BackendAccount, ids: list[str], include_tools: bool, originator: str
    ) -> list[AppMetadataEntry]:
        async with open_backend(
            self._http, account, originator=originator, deadline=self._deadline
        ) as backend:
            body = await backend.post(BATCH, {"app_ids": ids, "include_tools": include_tools})
            try:
                answer = msgspec.json.decode(body, type=_Answer)
            except (msgspec.DecodeError, RecursionError) as error:
                raise unreadable(f"the answer of {backend.host} is unreadable: {error}") from error
        return [_entry(app) for app in answer.apps]


def check_count(app_ids: Sequence[str]) -> None:
    """Raises `InvalidParams` for more than 100 ids, whoever is signed in."""
    if len(app_ids) > LIMIT:
        raise InvalidParams(f"app/read accepts at most {LIMIT} appIds")


def _serves(entry: AppMetadataEntry | None, include_tools: bool) -> bool:
    return entry is not None and not (include_tools and entry.tool_summaries is None)


def _entry(app: _App) -> AppMetadataEntry:
    return AppMetadataEntry(
        id=app.id,
        name=app.name,
        description=app.description,
        icon_url=app.icon_url,
        icon_url_dark=app.icon_dark_url or app.icon_url_dark,
        distribution_channel=app.distribution_channel,
        install_url=install_url(app.name, app.id),
        tool_summaries=None if app.tools is None else tuple(_summaries(app.tools)),
    )


def _summaries(tools: Iterable[_Tool]) -> Iterable[AppToolSummary]:
    for tool in tools:
        yield AppToolSummary(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            is_enabled=tool.is_enabled is not False,
            disabled_reason=tool.disabled_reason,
            is_read_only=tool.is_read_only is True,
        )


def _shown(entry: AppMetadataEntry, include_tools: bool, view: View) -> AppMetadataEntry:
    changes: dict[str, Any] = {}
    plugins = {app.plugin_display_name for app in view.named if app.app_id == entry.id}
    if plugins:
        changes["plugin_display_names"] = tuple(sorted(plugins))
    if not include_tools:
        changes["tool_summaries"] = None
    return msgspec.structs.replace(entry, **changes) if changes else entry
