"""Builds a core from `Deps`: the one place where owners meet."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from core.apps.layer import AppLayer, build_app_layer
from core.auth.layer import SignInLayer
from core.auth.probe import MetadataProbe
from core.browser import elsewhere
from core.channels import EventHub
from core.client.in_process import InProcessClient
from core.compat.refresh_on_list import RefreshOnList
from core.compat.startup_upgrade import StartupUpgrade
from core.config.edit import ConfigEditor
from core.config.store import ConfigStore
from core.early import Early
from core.mcp.auth_status import AuthJudge
from core.mcp.board import ServerBoard
from core.mcp.effective import ServerSource
from core.mcp.headers_helper import HeadersHelper
from core.mcp.hosted import HostedLister
from core.mcp.links import Plumbing
from core.mcp.slots import HandshakeSlots
from core.mcp.traffic_log import TrafficLog
from core.plugins.effective import EffectivePlugins
from core.plugins.install.installer import Installer
from core.plugins.listing import PluginLists
from core.plugins.marketplaces.adding import MarketplaceAdder
from core.plugins.marketplaces.removing import MarketplaceRemover
from core.plugins.marketplaces.upgrading import MarketplaceUpgrader
from core.plugins.sources.fetch import SourceFetcher
from core.plugins.sources.git import Git
from core.plugins.updates.noting import CopyNotes
from core.plugins.updates.updating import Updater
from core.ports import Deps
from core.process import Processes
from core.protocol.rows import Domain, Row
from core.reaper import Reaper
from core.scope import RequestScope
from core.service.account import AccountService
from core.service.apps import AppsService
from core.service.config import ConfigDelta, ConfigService
from core.service.credentials import CredentialFollower
from core.service.details import DetailService
from core.service.dispatch import Dispatcher, Handler
from core.service.forced_hearing import ForcedHearing
from core.service.late import (
    ACCOUNT_METHODS,
    DOCTOR_METHODS,
    EXPLAIN_METHODS,
    IMPORT_METHODS,
    LIST_METHODS,
    PLUGIN_METHODS,
    SEARCH_METHODS,
    SERVER_METHODS,
    TOOL_METHODS,
    UPDATE_METHODS,
    VALIDATE_METHODS,
    late,
)
from core.service.login import LoginService
from core.service.mcp import McpService
from core.service.operations import Operations
from core.service.panel import Layers, PanelService
from core.service.plugin_changes import PluginChanges, PluginSet, step
from core.service.plugin_details import PluginDetails
from core.service.plugins import PluginService
from core.service.switch import SwitchService
from core.service.threads import ThreadsService
from core.service.undoing import Undoes
from core.threads.manager import ThreadManager
from core.threads.panel import Panel
from core.version import VERSION

if TYPE_CHECKING:
    from core.auth.account_login import AccountLogins
    from core.auth.auth_file import Login
    from core.client.contract import CoreClient
    from core.service.workbench import Workbench

GOODBYE = 4.0
"""Seconds for everything to end once a core is left."""


@dataclass(frozen=True, kw_only=True)
class Core:
    """An open core.

    Attributes:
        dispatcher: Every method, for the wire face.
        config: How the configuration is read here.
        hub: State and occurrences.
        startup: What the real app-server does unasked when it starts; only its face does.
    """

    dispatcher: Dispatcher
    config: ConfigStore
    hub: EventHub
    deps: Deps
    threads: ThreadManager
    startup: Callable[[], Awaitable[None]]

    def client(self) -> CoreClient:
        """A client in this process, as the panel uses it."""
        return InProcessClient(
            self.dispatcher, self.hub, version=VERSION, read_only=self.deps.read_only
        )


@asynccontextmanager
async def open_core(
    deps: Deps, *, overrides: Mapping[str, Any] | None = None, early: Early | None = None
) -> AsyncGenerator[Core]:
    """A core for as long as the block lasts; leaving it ends every process and listener.

    Nothing is read, started or watched before somebody asks for it.

    Args:
        early: The part that stands already, its overrides in it.
    """
    early = early or Early(deps, overrides)
    hub, config = early.hub, early.part.config
    reaper = Reaper()
    processes = Processes(reaper)
    try:
        async with anyio.create_task_group() as tasks:
            building = _Building(early, processes, tasks)
            async with building.threads as threads:
                yield Core(
                    dispatcher=Dispatcher(building.handlers()),
                    config=config,
                    hub=hub,
                    deps=deps,
                    threads=threads,
                    startup=building.startup.run,
                )
                tasks.cancel_scope.cancel()
    finally:
        with anyio.move_on_after(GOODBYE, shield=True):
            await processes.aclose()
            reaper.close()
        hub.close()


class _Building:
    """Everything that a core is made of, wired once."""

    def __init__(self, early: Early, processes: Processes, tasks: TaskGroup) -> None:
        self._early, self._processes, self._tasks = early, processes, tasks
        deps, hub, part = early.deps, early.hub, early.part
        store, home = part.config, early.home
        self._deps, self._hub, self._config = deps, hub, part.config
        config = part.config
        self.editor = editor = ConfigEditor(store, deps)
        self.config_service = ConfigService(store, editor, deps, hub.emit)
        self.account = part.account
        self.account.renew = self._renewed_account
        self._logins: AccountLogins | None = None
        self.effective = EffectivePlugins(home, config)
        self.lists = PluginLists(home, config, self.account.kind, self._deps.cache_dir)
        self.memory, self.catalog = part.memory, part.catalog
        self.sign_in = SignInLayer(deps, home, config.load, tasks)
        self.git = Git(processes, deps.environ)
        fetcher = SourceFetcher(home, processes, deps.environ)
        notes = CopyNotes(self.memory.ledger)
        self.installer = Installer(home, self.config_service, fetcher, deps.state_dir, notes)
        self.operations = Operations(deps.clock, hub.emit)
        self.undoes = Undoes()
        self.upgrader = MarketplaceUpgrader(home, config, self.git, self.installer, deps.state_dir)
        self.plugin_set = PluginSet(
            ("plugins", step(self._forget_manifests)),
            ("skills", step(self.catalog.forget_parts)),
            ("servers", self._servers_follow),
            ("hooks", self._hooks_again),
        )
        self.operations.settle = partial(self._plugin_set_changed, "config")
        self.updater = Updater(home, self.installer, self.memory)
        self.startup = StartupUpgrade(config, self.upgrader, self.plugin_set.changed)
        self._panel_session: PanelService | None = None
        self.traffic = TrafficLog(deps.clock)
        hub.listen(self.traffic.happened)
        plumbing = Plumbing(
            processes=processes,
            http=deps.http,
            helper=HeadersHelper(processes, deps.environ, deps.clock),
            version=VERSION,
            bearer=self.sign_in.bearer,
            overheard=self.traffic.overheard,
        )
        self.app_layer: AppLayer = build_app_layer(
            deps=deps,
            codex_home=home.codex_home,
            load=config.load,
            accounts=self.account,
            hosted=HostedLister(plumbing, HandshakeSlots()),
            plugins=self.effective,
            emit=hub.emit,
            spawn=tasks.start_soon,
        )
        source = ServerSource(
            configs=config,
            home=home,
            declarations=self.effective,
            hosted=self.app_layer.servers,
            environ=deps.environ,
        )
        self.threads = ThreadManager(deps, source, plumbing, hub.emit, version=VERSION)
        self.judge = AuthJudge(
            probe=MetadataProbe(self.sign_in.open, deps.clock), bearer=self.sign_in.bearer
        )
        self.board = ServerBoard(hub.emit, deps.clock)
        self.board.beside = self.app_layer.installed.snapshot_tools
        self.app_layer.installed.listen(self.board.sync)
        self.panel = Panel(
            deps,
            self.threads,
            self.board,
            self.judge,
            hub.emit,
            version=VERSION,
            traffic=self.traffic,
        )
        self.follower = CredentialFollower(
            self.sign_in.sign_ins,
            self.threads,
            self.panel,
            self.judge.probe,
            deps.clock,
            home,
            deps.environ,
        )
        early.rows.add(self._owners())
        self.config_service.listen(self._threads_follow)

    def handlers(self) -> list[Any]:
        """Of every service."""
        apps = AppsService(self.app_layer, self.threads)
        plugins = PluginService(
            self.lists,
            self._config,
            self._deps.cwd,
            editor=self.editor,
            threads=self.threads,
            refresh=RefreshOnList(self.installer, self.plugin_set.changed, self._tasks.start_soon),
        )
        panel = self._panel_service()
        services = (
            self.config_service,
            plugins,
            self._plugin_changes(),
            apps,
            AccountService(self.account),
            McpService(self.threads, self.panel, self.judge),
            self._login_service(),
            ThreadsService(self.threads),
            panel,
            SwitchService(self.config_service, self.board, self.undoes),
            self.operations,
            DetailService(PluginDetails(self.catalog, self._config).detail, apps, self.panel),
        )
        return [
            *self._early.handlers(),
            *(service.handlers() for service in services),
            late(TOOL_METHODS, self._tools),
            late(SERVER_METHODS, self._servers),
            late(PLUGIN_METHODS, self._installing),
            late(ACCOUNT_METHODS, self._account_service),
            late(LIST_METHODS, self._lists_service),
            late(DOCTOR_METHODS, self._doctoring),
            late(EXPLAIN_METHODS, self._explaining),
            late(UPDATE_METHODS, self._lifecycle),
            late(VALIDATE_METHODS, self._validating),
            late(SEARCH_METHODS, self._searching),
            late(IMPORT_METHODS, self._importing),
        ]

    def _tools(self) -> Mapping[str, Handler]:
        from core.service.tools import ToolsService

        service = ToolsService(self.threads, self.panel, self._deps.browser, self._hub.emit)
        self._hub.listen(service.happened)
        return service.handlers()

    def _servers(self) -> Mapping[str, Handler]:
        from core.service.panel_servers import PanelServers
        from core.service.server_running import RunningServers
        from core.service.servers import ServersService

        deps, ours = self._deps, PanelServers(self.panel, self.board)
        tables = ServersService(deps, self.config_service, self.editor, ours, self.undoes)
        emit = self._hub.emit
        running = RunningServers(deps, tables, self.threads, ours, self.traffic, emit)
        return {**tables.handlers(), **running.handlers()}

    def _lists_service(self) -> Mapping[str, Handler]:
        from core.service.lists import ListService

        source = self.threads.source
        config, cwd = self.config_service, self._deps.cwd
        return ListService(self.lists, source, self.judge, config, cwd).handlers()

    def _doctoring(self) -> Mapping[str, Handler]:
        from core.service.doctor import DoctorService

        source, processes = self.threads.source, self._processes
        return DoctorService(self._deps, source, self.catalog, processes, self.git).handlers()

    def _explaining(self) -> Mapping[str, Handler]:
        from core.service.explain import ExplainService, Sources
        from core.service.plugin_trust import PluginTrust

        trust = PluginTrust(self._deps, self._config, self.catalog, lambda: self.panel.consent)
        sources = Sources(
            deps=self._deps,
            threads=self.threads,
            panel=self.panel,
            board=self.board,
            catalog=self.catalog,
            apps=self.app_layer,
            account=self.account,
            credentials=self.follower,
            judge=self.judge,
            trust=trust,
            details=PluginDetails(self.catalog, self._config),
            rows=self._early.rows,
        )
        return ExplainService(sources).handlers()

    def _validating(self) -> Mapping[str, Handler]:
        from core.service.validate import ValidateService

        return ValidateService(self._deps).handlers()

    def _searching(self) -> Mapping[str, Handler]:
        from core.service.search import SearchService

        return SearchService(self.catalog).handlers()

    def _importing(self) -> Mapping[str, Handler]:
        from core.service.importing import ImportService

        home = self._config.home
        return ImportService(self._deps, home, self.config_service, self._clone).handlers()

    async def _clone(self, name: str, scope: RequestScope) -> str:
        """Fetch a git marketplace that was just configured; why it is not there, or ""."""
        upgraded = await self.upgrader.upgrade(name)
        await self.plugin_set.changed("marketplace/add", scope)
        return next((message for _, message in upgraded.errors), "")

    def _login_service(self) -> LoginService:
        return LoginService(
            self.sign_in.sign_ins,
            self.threads,
            self.panel,
            self.follower,
            self._deps.clock,
            self._deps.browser,
            self._hub.emit,
            direct=elsewhere(self._deps.environ),
        )

    def _account_logins(self) -> AccountLogins:
        if self._logins is None:
            from core.auth.account_issuer import AccountIssuer
            from core.auth.account_login import AccountLogins
            from core.auth.account_store import AccountStore

            deps, home, load = self._deps, self._config.home, self._config.load
            logins = self._logins = AccountLogins(
                issuer=AccountIssuer(deps.http, deps.environ),
                store=AccountStore(
                    deps, load=load, auth_file=home.auth_file, codex_home=home.codex_home
                ),
                load=load,
                clock=deps.clock,
                tasks=self._tasks,
            )
            self.account.given = lambda: logins.external
        return self._logins

    async def _renewed_account(self, login: Login, forced: bool) -> Login | None:
        return await self._account_logins().fresh(login, forced=forced)

    def _account_service(self) -> Mapping[str, Handler]:
        from core.service.account_login import AccountLoginService

        async def changed(unwatched: bool) -> None:
            if unwatched and self._panel_session is not None:
                await self._panel_session.account_changed()

        return AccountLoginService(
            self.account,
            self._account_logins(),
            changed,
            self._tasks.start_soon,
            self._deps.clock,
            self._deps.browser,
            self._hub.emit,
            direct=elsewhere(self._deps.environ),
        ).handlers()

    def _panel_service(self) -> PanelService:
        layers = Layers(
            panel=self.panel,
            plugins=ForcedHearing(self.catalog, self._hear, self._tasks.start_soon),
            apps=self.app_layer.apps,
            installed=self.app_layer.installed,
            app_layer=self.app_layer,
            account=self.account.refresh,
            credentials=self.follower,
            config=self.config_service,
            plugin_set=self._plugin_set_changed,
            operations=self.operations,
            rows=self._rows,
            first_plugins=self._early.read,
        )
        home, emit = self._config.home, self._hub.emit
        service = PanelService(self._deps, home, layers, emit, self._tasks)
        self.config_service.listen(service.on_config)
        self._panel_session = service
        return service

    def _workbench(self) -> Workbench:
        from core.plugins.updates.hearing import Hearing
        from core.service.workbench import Workbench

        return Workbench(
            deps=self._deps,
            configs=self._config,
            config=self.config_service,
            catalog=self.catalog,
            updater=self.updater,
            upgrader=self.upgrader,
            hearing=Hearing(self.git, self.memory),
            plugin_set=self.plugin_set,
            operations=self.operations,
        )

    def _lifecycle(self) -> Mapping[str, Handler]:
        from core.service.orphans import OrphanService
        from core.service.plugin_pins import PluginPins
        from core.service.plugin_updates import PluginUpdates

        bench, home = self._workbench(), self._config.home
        remover = MarketplaceRemover(home, self._config, self.config_service, self._deps.state_dir)
        orphans = OrphanService(bench, self.installer, remover, self.undoes)
        updates, pins = PluginUpdates(bench), PluginPins(bench)
        return {**updates.handlers(), **pins.handlers(), **orphans.handlers()}

    def _installing(self) -> Mapping[str, Handler]:
        from core.service.market_changes import MarketChanges
        from core.service.plugin_installing import PluginInstalling
        from core.service.plugin_trust import PluginTrust

        bench, home = self._workbench(), self._config.home
        remover = MarketplaceRemover(home, self._config, self.config_service, self._deps.state_dir)
        trust = PluginTrust(self._deps, self._config, self.catalog, lambda: self.panel.consent)
        plugins = PluginInstalling(
            bench,
            self.installer,
            trust,
            self.undoes,
            lambda: self.app_layer.apps.owner.current.rows,
        )
        markets = MarketChanges(bench, remover, plugins, self.undoes, self.account.kind)
        return {**trust.handlers(), **plugins.handlers(), **markets.handlers()}

    async def _hear(self) -> None:
        """What git servers have, after a forced refetch."""
        from core.service.plugin_updates import PluginUpdates

        await PluginUpdates(self._workbench()).hear()

    def _plugin_changes(self) -> PluginChanges:
        home, deps = self._config.home, self._deps
        writer, state = self.config_service, deps.state_dir
        return PluginChanges(
            deps,
            self._config,
            self.account.kind,
            self.installer,
            MarketplaceAdder(home, self._config, writer, self.git, deps),
            MarketplaceRemover(home, self._config, writer, state),
            self.upgrader,
            self.plugin_set,
            self._hub.emit,
            self.operations,
            self.updater,
        )

    async def _servers_follow(self, cause: str, scope: RequestScope) -> None:
        """Another set of plugins brings other servers; what is only offered brings none."""
        if not scope.caller.policy.follow_config:
            if cause not in ("marketplace/add", "marketplace/remove"):
                await self.threads.reload(scope)
        elif self._panel_session is not None:
            await self._panel_session.follow()

    def _forget_manifests(self) -> None:
        self.lists.known.clear()
        self.catalog.forget_manifests()

    async def _hooks_again(self, cause: str, scope: RequestScope) -> None:
        """Hooks are read at each request; the panel's rows tell how many there are."""
        if self._panel_session is not None:
            await self._panel_session.read_plugins()

    async def _plugin_set_changed(self, cause: str) -> None:
        await self.plugin_set.changed(cause, RequestScope(caller=self.panel.caller))

    async def _threads_follow(self, delta: ConfigDelta) -> None:
        """A client wrote the configuration and wants its threads to have it at once."""
        if delta.reload:
            await self.threads.reload(RequestScope(caller=self.panel.caller))

    def _rows(self, domain: Domain) -> Mapping[str, Row]:
        return self._owners()[domain].current.rows

    def _owners(self) -> dict[Any, Any]:
        return {
            "config": self.config_service.owner,
            "marketplaces": self.catalog.marketplaces,
            "plugins": self.catalog.plugins,
            "apps": self.app_layer.apps.owner,
            "installed": self.app_layer.installed.owner,
            "servers": self.board.servers,
            "inventory": self.board.inventory,
            "threads": self.threads.rows,
            "account": self.account.owner,
            "problems": self._early.problems.owner,
        }


__all__ = ["Core", "open_core"]
