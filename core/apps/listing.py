"""The app list: what the directory offers and which of it is linked. Owner of the apps rows."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio.to_thread

from core.apps.directory import SOURCE, WORKSPACE_SOURCE, Directory
from core.apps.disk import DiskCache
from core.apps.entries import merge
from core.apps.hosted import HostedApps, signed_in
from core.apps.loading import ACCOUNT, TOOLS, Errand, Loader, Outcome, Steps
from core.apps.publishing import Publishing
from core.apps.rows import app_rows
from core.apps.snapshots import ToolSnapshots
from core.apps.telling import Telling, Updated
from core.apps.view import View
from core.errors import CoreError, InternalError
from core.ports import Clock
from core.protocol.app_info import AppInfo
from core.protocol.events import Event, Notice
from core.protocol.rows import AppRow
from core.refreshing import Refresh
from core.seams import Accounts, BackendAccount
from core.snapshot import SnapshotOwner
from core.threads.policy import PANEL, ThreadPolicy

FRESH = 3600.0
_ATTEMPTS = 3


class Spawn(Protocol):
    """Starts a coroutine function in a task that outlives the request: a task group's
    `start_soon`.
    """

    def __call__(self, run: Callable[..., Coroutine[Any, Any, None]], /, *args: Any) -> object: ...


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Who asks for the list, and how.

    Attributes:
        forced: Past the caches of directory and tools.
        updated: Called with each full list on the way, before the answer.
    """

    view: View
    policy: ThreadPolicy
    originator: str
    updated: Updated
    forced: bool = False


@dataclass
class _Held:
    """What is known of one account. `listed_at`: when its tools were last listed for us here."""

    identity: str = ""
    directory: Directory | None = None
    listed_at: float = field(default=-FRESH)


class AppList:
    """Loads, keeps and publishes the app list. Domain `apps`.

    Emits: `AppsChanged` and the refresh events of domain `apps`, sources `directory`,
    `workspace` and `tools`; a `Notice` when there can be no list.
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
        disk: DiskCache,
        emit: Callable[[Event], None],
        spawn: Spawn,
    ) -> None:
        self.owner: SnapshotOwner[AppRow] = SnapshotOwner("apps", emit)
        self._clock, self._panel_view, self._accounts = clock, panel_view, accounts
        self._hosted, self._loader, self._snapshots = hosted, loader, snapshots
        self._disk, self._emit, self._spawn = disk, emit, spawn
        self._held = _Held()
        self._why_none = ""
        self._refreshes = 0
        self._reloading: set[str] = set()

    # The panel's side

    async def refresh(self, *, forced: bool, refresh_id: str = "") -> None:
        """Read the list anew, or confirm what was read less than an hour ago in this process.

        Rows of before stay until the new list is whole, and for good when it does not come.
        """
        for _ in range(_ATTEMPTS):
            view = await self._panel_view()
            refresh = self._refresh(refresh_id)
            try:
                account = await self._usable(view)
            except CoreError as failure:
                self._fail(refresh, forced, failure)
                return
            if account is None:
                refresh.start(forced=forced, sources=())
                before = self.owner.current.rows
                self._vacate(view)
                refresh.finish("ok", before=before, after=self.owner.current.rows)
                return
            if await self._refresh_for(account, view, refresh, forced):
                return

    def _fail(self, refresh: Refresh, forced: bool, failure: CoreError) -> None:
        """Nobody knows who is signed in: the rows of before stay."""
        rows = self.owner.current.rows
        refresh.start(forced=forced, sources=(ACCOUNT,))
        refresh.fail(ACCOUNT, failure)
        refresh.finish("failed", before=rows, after=rows, kept_previous=bool(rows))

    async def reconsider(self) -> None:
        """The configuration or the plugins have changed: switches anew, from what is known.

        While nobody knows who is signed in, the rows of before stay.
        """
        view = await self._panel_view()
        try:
            account = await self._usable(view)
        except CoreError:
            return
        if account is None:
            self._vacate(view)
            return
        held, tools = await self._hold(account), await self._snapshots.of(account)
        if not self.owner.current.rows or (held.directory is None and tools is None):
            return
        ticket = self.owner.begin()
        marks = {key: row.cached for key, row in self.owner.current.rows.items()}

        def build() -> list[AppRow]:
            entries = held.directory.entries if held.directory else None
            merged = merge(entries, tools.connectors if tools else {}, view.named)
            return app_rows(merged, view.policy, lambda key: marks.get(key, False))

        self.owner.publish(ticket, await anyio.to_thread.run_sync(build))

    async def info(self, app_id: str) -> AppInfo | None:
        """The directory's entry, as it is now known."""
        for entry in self._held.directory.entries if self._held.directory else ():
            if entry.id == app_id:
                return entry
        return None

    # The wire's side

    async def list(self, asked: Asked) -> tuple[AppInfo, ...] | None:
        """The whole list for one request; None where there can be none.

        Raises:
            InternalError: `failed to list apps: …`; what was known before stays known.
        """
        for _ in range(_ATTEMPTS):
            feature = asked.view.policy.feature()
            account = await signed_in(self._accounts) if feature.on else None
            if account is None:
                return None
            apps = await self._list_for(account, asked)
            if apps is not None:
                return apps
        raise InternalError("failed to list apps: the account keeps changing")

    async def _list_for(self, account: BackendAccount, asked: Asked) -> tuple[AppInfo, ...] | None:
        """None when another account has come meanwhile."""
        held, tools = await self._hold(account), await self._snapshots.of(account)
        listed = self._fresh(held.listed_at)
        wants_directory = asked.forced or not held.directory or not self._fresh(held.directory.at)
        wants_tools = asked.forced or tools is None
        telling = Telling(
            asked.view,
            asked.updated,
            directory=held.directory,
            tools=tools,
            forced=asked.forced,
        )
        await telling.begin(directory_done=not wants_directory, tools_done=not wants_tools)
        failed = False
        if wants_directory or wants_tools:
            errand = Errand(
                account=account,
                server=self._hosted.server_of(account),
                policy=asked.policy,
                strict=not asked.policy.negotiate,
                originator=asked.originator,
                directory=wants_directory,
                tools=wants_tools,
            )
            outcome = await self._load_and_publish(errand, telling)
            if not await self._still(account):
                return None
            if failure := outcome.failures.get(SOURCE):
                raise InternalError(
                    f"failed to list apps: {failure.message}",
                    evidence=failure.evidence,
                    hint=failure.hint,
                )
            failed = TOOLS in outcome.failures
        if not asked.forced and (failed or not (wants_tools or listed)):
            self._reload_later(account, asked)
        return await telling.whole()

    def _reload_later(self, account: BackendAccount, asked: Asked) -> None:
        """The tools were not heard from the hosted server itself: one forced reload follows."""
        if account.identity in self._reloading:
            return
        self._reloading.add(account.identity)
        again = Asked(
            view=asked.view,
            policy=asked.policy,
            originator=asked.originator,
            updated=asked.updated,
            forced=True,
        )
        self._spawn(self._reload, account, again)

    async def _reload(self, account: BackendAccount, asked: Asked) -> None:
        try:
            await self._list_for(account, asked)
        except InternalError:
            pass  # told by the refresh events; whoever asked has an answer
        finally:
            self._reloading.discard(account.identity)

    async def _load_and_publish(self, errand: Errand, telling: Telling) -> Outcome:
        """A load for the wire; the panel's rows follow it where its own view has apps at all."""
        view = await self._panel_view()
        if not view.policy.feature().on:
            return await self._load(errand, [telling])
        refresh = self._refresh("")
        before = self._enter(errand.account)
        publishing = await self._publishing(errand, view, refresh)
        refresh.start(forced=True, sources=_sources(errand))
        try:
            outcome = await self._load(errand, [telling, publishing])
            await self._end(refresh, publishing, outcome, before)
        finally:
            self._broken_off(refresh, publishing, before)
        return outcome

    # Both

    async def _refresh_for(
        self, account: BackendAccount, view: View, refresh: Refresh, forced: bool
    ) -> bool:
        """False when another account has come meanwhile."""
        before = self._enter(account)
        held = await self._hold(account)
        fresh = held.directory is not None and self._fresh(held.directory.at)
        confirmed = not forced and fresh and self._fresh(held.listed_at)
        errand = Errand(
            account=account,
            server=self._hosted.server_of(account),
            policy=PANEL,
            strict=False,
            directory=not confirmed,
            tools=not confirmed,
        )
        refresh.start(forced=forced, sources=_sources(errand))
        publishing = await self._publishing(errand, view, refresh)
        outcome = Outcome()
        try:
            await publishing.begin()
            if not confirmed:
                outcome = await self._load(errand, [publishing])
            if not await self._still(account):
                return False
            await self._end(refresh, publishing, outcome, before)
        finally:
            self._broken_off(refresh, publishing, before)
        return True

    async def _end(
        self, refresh: Refresh, publishing: Publishing, outcome: Outcome, before: dict[str, AppRow]
    ) -> None:
        await publishing.end(outcome, now=self._clock.now())
        if not refresh.failed:
            word = "ok"
        elif outcome.directory is not None or outcome.tools is not None:
            word = "partly"
        else:
            word = "failed"
        refresh.finish(
            word,
            before=before,
            after=self.owner.current.rows,
            kept_previous=bool(before) and bool(outcome.failures.keys() & {SOURCE, TOOLS}),
        )

    def _broken_off(
        self, refresh: Refresh, publishing: Publishing, before: dict[str, AppRow]
    ) -> None:
        """Nothing, where the refresh has come to its end."""
        if not refresh.ended:
            publishing.abandon(before)
            refresh.finish("cancelled", before=before, after=before)

    async def _load(self, errand: Errand, steps: list[Steps]) -> Outcome:
        async def still() -> bool:
            return await self._still(errand.account)

        outcome = await self._loader.run(errand, steps, still)
        if outcome.directory or outcome.tools:
            held = await self._hold(errand.account)
            held.directory = outcome.directory or held.directory
            if outcome.tools:
                held.listed_at = self._clock.now()
        return outcome

    async def _publishing(self, errand: Errand, view: View, refresh: Refresh) -> Publishing:
        return Publishing(
            self.owner,
            view,
            refresh,
            directory=(await self._hold(errand.account)).directory,
            tools=await self._snapshots.of(errand.account),
            loads_directory=errand.directory,
        )

    def _enter(self, account: BackendAccount) -> dict[str, AppRow]:
        self.owner.switch_identity(account.identity)
        self._why_none = ""
        return dict(self.owner.current.rows)

    def _vacate(self, view: View) -> None:
        self.owner.switch_identity("")
        self.owner.publish(self.owner.begin(), (), at=self._clock.now())
        feature = view.policy.feature()
        why = "apps need a sign-in with ChatGPT" if feature.on else "apps are off"
        if why != self._why_none:
            self._why_none = why
            self._emit(
                Notice(
                    at=self._clock.now(), area="apps", about="apps", text=why, evidence=feature.at
                )
            )

    async def _usable(self, view: View) -> BackendAccount | None:
        if (broken := view.loaded.requirements.broken) is not None:
            raise CoreError(
                "policy cannot be read, so no app is asked for", evidence=broken.evidence
            )
        if not view.policy.feature().on:
            return None
        return await self._accounts.backend_account()

    async def _still(self, account: BackendAccount) -> bool:
        now = await signed_in(self._accounts)
        return now is not None and now.identity == account.identity

    async def _hold(self, account: BackendAccount) -> _Held:
        if self._held.identity != account.identity:
            kept = await anyio.to_thread.run_sync(self._disk.load_directory, account)
            if self._held.identity != account.identity:
                self._held = _Held(identity=account.identity, directory=kept)
        return self._held

    def _fresh(self, at: float) -> bool:
        return 0 <= self._clock.now() - at < FRESH

    def _refresh(self, refresh_id: str) -> Refresh:
        self._refreshes += 1
        number = refresh_id or f"apps-{self._refreshes}"
        return Refresh("apps", number, self._emit, self._clock)


def _sources(errand: Errand) -> tuple[str, ...]:
    names: list[str] = []
    if errand.directory:
        names += [SOURCE, WORKSPACE_SOURCE] if errand.account.workspace else [SOURCE]
    if errand.tools:
        names.append(TOOLS)
    return tuple(names)
