"""The panel's session: opens its thread, fills every list, follows the files."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio
from anyio.abc import TaskGroup

from core.config.watch import Change, FileWatch
from core.errors import CoreError
from core.ports import Deps
from core.protocol.events import Event, FileChanged, Notice
from core.protocol.jackfield import (
    PanelStartParams,
    PanelStartResult,
    RefreshParams,
    RefreshResult,
)
from core.protocol.rows import Domain, Row
from core.refreshing import Refresh, read_told
from core.scope import RequestScope
from core.service.config import ConfigDelta, ConfigService
from core.service.dispatch import Handler
from core.service.operations import Operations
from core.threads.panel import Panel

if TYPE_CHECKING:
    from core.config.paths import Home

log = logging.getLogger(__name__)

_OTHER_TABLES = frozenset({"mcp_servers", "apps"})
_OTHER_LAYERS = frozenset({"servers", "apps"})
_NAME_THE_ACCOUNT = frozenset({"chatgpt_base_url", "cli_auth_credentials_store"})


class PluginLists(Protocol):
    """What the session asks of the plugin layer."""

    async def refresh(
        self, *, forced: bool, refresh_id: str = "", domain: Domain = "plugins"
    ) -> None: ...

    def watched_paths(self) -> Sequence[Path]: ...


class Lists(Protocol):
    """A list that can be read anew."""

    async def refresh(self, *, forced: bool, refresh_id: str = "") -> None: ...


class AppLists(Protocol):
    """What the session asks of the app layer."""

    async def reconsider(self) -> None: ...


class Credentials(Protocol):
    """What the session asks of the sign-in layer."""

    def watched_paths(self) -> Sequence[Path]: ...

    def wrote(self, path: str, content: bytes | None) -> bool: ...

    async def follow(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Layers:
    """The four layers and the account, as the session sees them; `rows` of any domain.

    Attributes:
        first_plugins: Reads marketplaces and plugins unless that has been begun already.
    """

    panel: Panel
    plugins: PluginLists
    apps: Lists
    installed: Lists
    app_layer: AppLists
    account: Callable[[], Awaitable[Any]]
    credentials: Credentials
    config: ConfigService
    plugin_set: Callable[[str], Awaitable[None]]
    operations: Operations
    rows: Callable[[Domain], Mapping[str, Row]]
    first_plugins: Callable[[], Awaitable[None]]


class PanelService:
    """jackfield/panel/start and jackfield/refresh.

    Args:
        tasks: Where background work lives; ended with the core.
    """

    def __init__(
        self,
        deps: Deps,
        home: Home,
        layers: Layers,
        emit: Callable[[Event], None],
        tasks: TaskGroup,
    ) -> None:
        self._deps, self._home, self._layers = deps, home, layers
        self._emit, self._tasks = emit, tasks
        self._numbers = count(1)
        self._watch = FileWatch(self._on_changes, layers.credentials.wrote)
        self._stores: frozenset[str] = frozenset()
        self._touched: set[str] = set()
        self._stirred = anyio.Event()
        self._started = False

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/panel/start": self.start,
            "jackfield/refresh": self.refresh,
        }

    async def start(self, params: PanelStartParams, scope: RequestScope) -> PanelStartResult:
        """Open the panel's thread and begin to fill the lists; at once when already open."""
        if not self._started:
            self._started = True
            if params.lists:
                self._fill()
        thread = await self._layers.panel.open(consent_all=params.consent_all, only=params.only)
        return PanelStartResult(thread_id=thread.id)

    def _fill(self) -> None:
        config = self._layers.config
        for fill in (self._fill_plugins, config.run, self._fill_account, self._follow_files):
            self._tasks.start_soon(self._guarded, fill)

    async def refresh(self, params: RefreshParams, scope: RequestScope) -> RefreshResult:
        """Read a list anew in the background; its events carry the id."""
        refresh_id = f"{params.domain}-asked-{next(self._numbers)}"
        self._tasks.start_soon(self._guarded, self._reading(params, refresh_id))
        return RefreshResult(refresh_id=refresh_id)

    def _reading(self, params: RefreshParams, refresh_id: str) -> Callable[[], Awaitable[Any]]:
        layers, forced = self._layers, params.forced
        if params.domain in ("plugins", "marketplaces"):
            read = partial(layers.plugins.refresh, domain=params.domain)
            return partial(read, forced=forced, refresh_id=refresh_id)
        lists: dict[str, Lists] = {"apps": layers.apps, "installed": layers.installed}
        if (chosen := lists.get(params.domain)) is not None:
            return partial(chosen.refresh, forced=forced, refresh_id=refresh_id)
        if params.domain in ("servers", "inventory"):
            return partial(
                layers.panel.refresh,
                refresh_id,
                forced=forced,
                names=params.ids,
                domain=params.domain,
            )
        derived: dict[str, Callable[[], Awaitable[Any]]] = {
            "account": layers.account,
            "threads": layers.panel.follow,
        }
        refresh = Refresh(params.domain, refresh_id, self._emit, self._deps.clock)
        rows = partial(layers.rows, params.domain)
        return partial(
            read_told, refresh, "files", rows, derived.get(params.domain, self.reconsider)
        )

    async def _guarded(self, run: Callable[[], Awaitable[None]]) -> None:
        """Background work whose failure is told and ends nothing else."""
        try:
            await run()
        except CoreError as error:
            log.warning("%s", error)
            self._tell(error.message)
        except Exception:
            # The boundary of a background task: one fault must not take the panel down.
            log.exception("background work failed")
            self._tell("a part of Jackfield failed; the log says more")

    def _tell(self, text: str) -> None:
        at = self._deps.clock.now()
        self._emit(Notice(at=at, area="panel", about="background", text=text, tone="bad"))

    async def _fill_plugins(self) -> None:
        await self._layers.first_plugins()
        await self._rewatch()

    async def _fill_account(self) -> None:
        await self._layers.account()
        async with anyio.create_task_group() as both:
            both.start_soon(self._guarded, self._first_apps)
            both.start_soon(self._guarded, self._first_installed)

    async def _first_apps(self) -> None:
        await self._layers.apps.refresh(forced=False)

    async def _first_installed(self) -> None:
        await self._layers.installed.refresh(forced=False)

    # -- the files

    async def on_config(self, delta: ConfigDelta) -> None:
        """The configuration has changed, by us or by others: what follows from it, at once."""
        if not self._started:
            return
        account = delta.legible or bool(delta.tables & _NAME_THE_ACCOUNT)
        if not account and self._layers.operations.takes(delta):
            return
        await self._reconsider(account=account, plugins=_concerns_plugins(delta), cause="config")

    async def account_changed(self) -> None:
        """Another sign-in that no watched file tells of."""
        if self._started:
            await self._guarded(partial(self._reconsider, account=True, plugins=False))

    async def reconsider(self) -> None:
        """Everything that is derived from files, once more."""
        await self._layers.config.refresh()
        await self._reconsider(account=True, plugins=True)

    async def _follow_files(self) -> None:
        await self._rewatch()
        async with anyio.create_task_group() as watching:
            watching.start_soon(self._watch.run)
            while True:
                await self._stirred.wait()
                self._stirred = anyio.Event()
                touched, self._touched = self._touched, set()
                await self._guarded(partial(self._after, touched))

    def _on_changes(self, changes: list[Change]) -> None:
        for change in changes:
            self._touched.add(change.path)
            if change.path in self._stores and not change.path.endswith(".json"):
                continue  # the keyring keeps much that is none of ours
            at = self._deps.clock.now()
            self._emit(FileChanged(at=at, file=change.path, ours=change.ours))
        self._stirred.set()

    async def _after(self, touched: set[str]) -> None:
        auth = str(self._home.auth_file)
        if touched & self._stores:
            await self._layers.credentials.follow()
            await self._rewatch()
        if others := touched - self._stores:
            await self._reconsider(account=auth in others, plugins=bool(others - {auth}))

    async def _reconsider(self, *, account: bool, plugins: bool, cause: str = "files") -> None:
        if account:
            await self._fill_account()
        if plugins:
            await self._layers.plugin_set(cause)
        else:
            await self.follow()

    async def follow(self) -> None:
        """Servers and apps follow the files: unchanged servers keep their connection."""
        await self._layers.panel.follow()
        await self._layers.app_layer.reconsider()

    async def read_plugins(self) -> None:
        """Read marketplaces, plugins and what they bring once more."""
        if self._started:
            await self._layers.plugins.refresh(forced=False)
            await self._rewatch()

    async def _rewatch(self) -> None:
        stores = await anyio.to_thread.run_sync(self._layers.credentials.watched_paths)
        self._stores = frozenset(map(str, stores))
        paths = {self._home.auth_file, *stores}
        paths.update(await anyio.to_thread.run_sync(self._layers.plugins.watched_paths))
        await self._watch.watch(paths)


def _concerns_plugins(delta: ConfigDelta) -> bool:
    """Unless only tables of other layers differ: then the marketplaces are not read again."""
    elsewhere = bool(delta.tables) and delta.tables <= _OTHER_TABLES
    return delta.legible or not (elsewhere and delta.problems <= _OTHER_LAYERS)
