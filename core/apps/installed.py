"""The installed snapshot: what the last committed tools say is enabled and callable."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from typing import Any

import anyio.to_thread

from core.apps.dispositions import Disposition, Reading, SnapshotRead
from core.apps.hosted import HostedApps, signed_in
from core.apps.hosted_tools import HOSTED_SERVER, AppTool
from core.apps.loading import ACCOUNT, TOOLS, Errand, Loader
from core.apps.policy import AppPolicy
from core.apps.snapshots import Committed, ToolSnapshots
from core.apps.view import View
from core.config.pace import Pace
from core.errors import CoreError, InternalError
from core.ports import Clock
from core.protocol.app_info import InstalledApp
from core.protocol.events import Event
from core.protocol.facts import Evidence
from core.protocol.rows import InstalledRow, ToolRow
from core.refreshing import Refresh
from core.seams import Accounts, BackendAccount
from core.snapshot import SnapshotOwner
from core.threads.policy import PANEL, ThreadPolicy

REFRESH_FAILED = (
    "failed to refresh installed connector runtime state: "
    f"failed to refresh tools for MCP server '{HOSTED_SERVER}'"
)


class Installed:
    """Keeps the rows of domain `installed`, which never ask the directory anything.

    Emits: `InstalledChanged` and the refresh events of domain `installed`, source `tools`.

    Attributes:
        last_read: How the last read or forced refresh went, a failed one too.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        panel_view: Callable[[], Coroutine[Any, Any, View]],
        accounts: Accounts,
        hosted: HostedApps,
        loader: Loader,
        snapshots: ToolSnapshots,
        emit: Callable[[Event], None],
    ) -> None:
        self.owner: SnapshotOwner[InstalledRow] = SnapshotOwner("installed", emit)
        self._clock, self._panel_view, self._accounts = clock, panel_view, accounts
        self._hosted, self._loader, self._snapshots = hosted, loader, snapshots
        self._emit = emit
        self._refreshes = 0
        self.last_read: SnapshotRead | None = None
        self._tools: tuple[ToolRow, ...] = ()
        self._declared: tuple[AppTool, ...] = ()
        self._listeners: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` when `snapshot_tools` may answer differently; it must not block."""
        self._listeners.append(changed)

    def snapshot_tools(self) -> tuple[ToolRow, ...]:
        """The committed snapshot's tools as rows, by app and name."""
        return self._tools

    def declaration(self, tool_id: str) -> AppTool | None:
        """The tool of a row of `snapshot_tools`, as the hosted server declares it."""
        name = tool_id.removeprefix(f"{HOSTED_SERVER}/")
        return next((tool for tool in self._declared if tool.name == name), None)

    async def refresh(self, *, forced: bool, refresh_id: str = "") -> None:
        """Publish the snapshot; `forced` lists the hosted tools once before. A failure keeps
        what was known.
        """
        self._refreshes += 1
        number = refresh_id or f"installed-{self._refreshes}"
        refresh = Refresh("installed", number, self._emit, self._clock)
        before = self.owner.current.rows
        refresh.start(forced=forced, sources=(TOOLS,) if forced else ())
        try:
            if forced:
                await self._force(refresh)
            await self._remake(refresh)
            refresh.finish(
                "failed" if refresh.failed else "ok",
                before=before,
                after=self.owner.current.rows,
                kept_previous=bool(refresh.failed) and bool(before),
            )
        finally:
            refresh.finish("cancelled", before=before, after=before)

    async def _force(self, refresh: Refresh) -> None:
        reading = Reading(self._clock)
        view = await self._panel_view()
        account = await signed_in(self._accounts)
        if not view.policy.feature().on:
            await self._note(reading, "skippedAppsDisabled", account)
            return
        if account is None:
            await self._note(reading, "notStarted", account)
            return
        try:
            committed = await self._fetch(account, PANEL)
        except CoreError as failure:
            await self._note(reading, "error", account)
            refresh.fail(TOOLS, failure)
            return
        await self._note(reading, "success", account)
        if committed is not None:
            refresh.progress(TOOLS, len(committed.tools), len(committed.tools))

    async def _remake(self, refresh: Refresh) -> None:
        try:
            await self._publish()
        except CoreError as failure:
            refresh.fail(ACCOUNT, failure)

    async def reconsider(self) -> None:
        """Rows anew from the committed snapshot and the present configuration; asks nobody.

        While nobody knows who is signed in, the rows of before stay.
        """
        with suppress(CoreError):
            await self._publish()

    async def _publish(self) -> None:
        view = await self._panel_view()
        account = await self._accounts.backend_account()
        self.owner.switch_identity(account.identity if account else "")
        ticket = self.owner.begin()
        committed = await self._snapshots.of(account) if account else None
        if committed is None:
            rows: list[InstalledRow] = []
            tools: tuple[ToolRow, ...] = ()
        else:
            rows, tools = await anyio.to_thread.run_sync(_rows, committed, view.policy)
        if self.owner.publish(ticket, rows, at=committed.at if committed else 0.0):
            self._declared = committed.tools if committed else ()
            if tools != self._tools:
                self._tools = tools
                for listener in self._listeners:
                    listener()

    async def read(
        self, view: View, *, forced: bool, policy: ThreadPolicy
    ) -> tuple[InstalledApp, ...]:
        """The snapshot as `app/installed` tells it, through this configuration.

        Raises:
            InternalError: The forced refresh failed; the old snapshot stays.
        """
        reading = Reading(self._clock)
        account = await signed_in(self._accounts)
        if account is None:
            await self._note(reading, "notStarted", account)
            return ()
        if forced and view.policy.feature().on:
            try:
                await self._fetch(account, policy)
            except CoreError as failure:
                await self._note(reading, "error", account)
                raise InternalError(REFRESH_FAILED, evidence=failure.evidence) from failure
            await self._note(reading, "success", account)
            await self.reconsider()
        else:
            await self._note(reading, "skippedAppsDisabled" if forced else "notRequested", account)
        committed = await self._snapshots.of(account)
        return _apps(committed.tools if committed else (), view.policy)

    async def _note(
        self, reading: Reading, disposition: Disposition, account: BackendAccount | None
    ) -> None:
        committed = await self._snapshots.of(account) if account is not None else None
        self.last_read = reading.done(disposition, committed)

    async def _fetch(self, account: BackendAccount, policy: ThreadPolicy) -> Committed | None:
        errand = Errand(
            account=account,
            server=self._hosted.server_of(account),
            policy=policy,
            strict=True,
            directory=False,
        )

        async def still() -> bool:
            now = await signed_in(self._accounts)
            return now is not None and now.identity == account.identity

        return await self._loader.tools_within_deadline(errand, still)


def _by_app(tools: Iterable[AppTool]) -> dict[str, list[AppTool]]:
    grouped: dict[str, list[AppTool]] = {}
    for tool in tools:
        grouped.setdefault(tool.app_id, []).append(tool)
    return dict(sorted(grouped.items(), key=lambda item: item[0].encode()))


def _name(tools: Iterable[AppTool]) -> str:
    return next((tool.app_name for tool in tools if tool.app_name), "")


def _apps(tools: Iterable[AppTool], policy: AppPolicy) -> tuple[InstalledApp, ...]:
    apps: list[InstalledApp] = []
    for app_id, own in _by_app(tools).items():
        enabled = policy.feature().on and policy.app(app_id).on
        apps.append(
            InstalledApp(
                id=app_id,
                runtime_name=_name(own) or None,
                enabled=enabled,
                callable=enabled and any(policy.tool(tool).on for tool in own),
            )
        )
    return tuple(apps)


def _rows(
    committed: Committed, policy: AppPolicy
) -> tuple[list[InstalledRow], tuple[ToolRow, ...]]:
    pace = Pace()
    rows: list[InstalledRow] = []
    tools: list[ToolRow] = []
    for app_id, own in _by_app(committed.tools).items():
        name = _name(own) or app_id
        stop = _stop(policy, app_id)
        on = 0
        first = ""
        for tool in own:
            pace.tick()
            decision = policy.tool(tool)
            reason = stop or _place(decision.reason, decision.at)
            on += not reason
            first = first or reason
            tools.append(_tool_row(tool, name, reason, committed.at))
        rows.append(
            InstalledRow(
                id=app_id,
                name=name,
                enabled=not stop,
                callable=on > 0,
                reason=stop or ("" if on else f"no tool: {first}"),
                tools=len(own),
                callable_tools=on,
                committed_at=committed.at,
            )
        )
    return rows, tuple(tools)


def _stop(policy: AppPolicy, app_id: str) -> str:
    """Why no tool of the app may be called, whatever the tool; or ""."""
    if not policy.feature().on:
        return "apps are off"
    app = policy.app(app_id)
    return "" if app.on else _place(app.reason, app.at)


def _place(reason: str, at: Evidence) -> str:
    """`off, config.toml:12`; "" where nothing is in the way."""
    if not reason or at.file is None:
        return reason
    line = f":{at.line}" if at.line else ""
    return f"{reason}, {at.file.rpartition('/')[2]}{line}"


def _tool_row(tool: AppTool, app_name: str, reason: str, at: float) -> ToolRow:
    return ToolRow(
        id=f"{HOSTED_SERVER}/{tool.name}",
        name=tool.name,
        owner=tool.app_id,
        title=tool.title,
        description=tool.description,
        source="app",
        effect=tool.effect,
        visible=tool.visible,
        callable=not reason,
        reason=reason,
        tokens=tool.tokens,
        seen_at=at,
    )
