"""plugin/install, plugin/uninstall and marketplace/*: what changes the set of plugins."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from core.config.store import ConfigStore
from core.config.toml.fault import excerpt
from core.errors import CoreError, InternalError, InvalidRequest, Unavailable
from core.plugins import remote
from core.plugins.allowed import SourcePolicy
from core.plugins.detail import open_marketplace
from core.plugins.install.installer import Installer
from core.plugins.install.judging import installable_entry
from core.plugins.marketplace_file import Marketplace
from core.plugins.marketplaces.adding import MarketplaceAdder
from core.plugins.marketplaces.removing import MarketplaceRemover
from core.plugins.marketplaces.upgrading import MarketplaceUpgrader
from core.plugins.names import split_id
from core.plugins.workers import in_thread
from core.ports import Deps
from core.protocol.events import Event
from core.protocol.plugins import PluginInstallResult, PluginUninstallResult
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.operations import Operations, owed

if TYPE_CHECKING:
    from core.plugins.updates.updating import Updater
    from core.protocol.marketplaces import (
        MarketplaceAddParams,
        MarketplaceAddResult,
        MarketplaceRemoveParams,
        MarketplaceRemoveResult,
        MarketplaceUpgradeParams,
        MarketplaceUpgradeResult,
    )
    from core.protocol.plugin_params import PluginInstallParams, PluginUninstallParams

log = logging.getLogger(__name__)
DEADLINE = 30.0

Step = Callable[[str, RequestScope], Awaitable[None]]
"""Takes why the set has changed, and who changed it."""


class PluginSet:
    """Tells the layers that the set of effective plugins has changed, in the order they were given.

    Args:
        steps: What to do, with a name for the log: what a later step reads, an earlier one has
            made fresh.
    """

    def __init__(self, *steps: tuple[str, Step]) -> None:
        self._steps = steps
        self._turn = anyio.Lock()

    async def changed(self, cause: str, scope: RequestScope) -> None:
        """Run every step once; one that fails does not hold up the next.

        What an operation has written into the configuration is followed by this.
        """
        if (debt := owed()) is not None:
            debt.told = False
        async with self._turn:
            for name, step in self._steps:
                log.debug("%s: %s", cause, name)
                try:
                    await step(cause, scope)
                except CoreError as error:
                    log.warning("%s after %s: %s", name, cause, error)


class PluginChanges:
    """Changes the plugins of this machine.

    Args:
        account: Who is signed in: `none`, `apiKey`, `chatgpt`. May block.
        plugin_set: Told after every change.
        updater: Keeps former versions and obeys pins, for callers whose policy says so.
        emit: Takes `OperationProgress`, whose `subject` is a plugin's or a marketplace's id.
    """

    def __init__(
        self,
        deps: Deps,
        configs: ConfigStore,
        account: Callable[[], str],
        installer: Installer,
        adder: MarketplaceAdder,
        remover: MarketplaceRemover,
        upgrader: MarketplaceUpgrader,
        plugin_set: PluginSet,
        emit: Callable[[Event], None],
        operations: Operations | None = None,
        updater: Updater | None = None,
    ) -> None:
        self._deps = deps
        self._configs = configs
        self._account = account
        self._installer = installer
        self._adder, self._remover, self._upgrader = adder, remover, upgrader
        self._set = plugin_set
        self._updater = updater
        self._operations = operations or Operations(deps.clock, emit)

    def handlers(self) -> dict[str, Handler]:
        """Handlers by method."""
        return {
            "plugin/install": self.install,
            "plugin/uninstall": self.uninstall,
            "marketplace/add": self.add,
            "marketplace/remove": self.remove,
            "marketplace/upgrade": self.upgrade,
        }

    async def install(
        self, params: PluginInstallParams, scope: RequestScope
    ) -> PluginInstallResult:
        """Install a plugin, or install it again, and enable it."""
        path, marketplace = params.marketplace_path, params.remote_marketplace_name
        if (path is None) == (marketplace is None):
            which = "exactly one of marketplacePath or remoteMarketplaceName"
            raise InvalidRequest(f"plugin/install requires {which}")
        if path is None:
            await self._refuse(remote.refuse_install, marketplace or "", params.plugin_name)
        home = self._configs.home
        read = partial(open_marketplace, path or "", home, "failed to install plugin")
        market = await in_thread(read, deadline=DEADLINE)
        entry = installable_entry(market, params.plugin_name)
        await in_thread(partial(self._demand_allowed, market), deadline=DEADLINE)
        self._may_write()
        async with self._operations.run("install", f"{entry.name}@{market.name}") as progress:
            before = None
            if self._updater is not None and scope.caller.policy.obeys_pins:
                before = partial(self._updater.before, f"{entry.name}@{market.name}")
            await self._installer.install(market.name, entry, progress, before)
            await self._set.changed("install", scope)
        return PluginInstallResult(auth_policy=entry.authentication)

    async def uninstall(
        self, params: PluginUninstallParams, scope: RequestScope
    ) -> PluginUninstallResult:
        """Remove a plugin of this machine; one that is not there is no error."""
        plugin_id = params.plugin_id
        if split_id(plugin_id) is None:
            await self._refuse(remote.refuse_uninstall, plugin_id)
        self._may_write()
        async with self._operations.run("uninstall", plugin_id):
            try:
                await self._installer.uninstall(plugin_id)
            except InternalError as error:
                raise await in_thread(partial(self._uncleared, error), deadline=DEADLINE) from None
            await self._set.changed("uninstall", scope)
        return PluginUninstallResult()

    def _uncleared(self, error: InternalError) -> InternalError:
        """What the real server says when config.toml stands in the way."""
        user = self._configs.load(None).user
        source = user.source
        reason = ""
        if source is not None and source.fault is not None:
            reason = excerpt(source.text, source.fault.offset, source.fault.reason)
        elif self._configs.home.config_file.is_dir():
            reason = "Is a directory (os error 21)"
        if not reason:
            return error
        message = f"failed to clear plugin config: {reason}"
        return InternalError(message, evidence=error.evidence)

    async def add(self, params: MarketplaceAddParams, scope: RequestScope) -> MarketplaceAddResult:
        """Add a marketplace; the same source again changes nothing."""
        from core.protocol.marketplaces import MarketplaceAddResult

        self._may_write()
        async with self._operations.run("add", params.source.strip()) as progress:
            added = await self._adder.add(
                params.source, params.ref_name, params.sparse_paths or (), progress
            )
            if not added.already:
                await self._set.changed("marketplace/add", scope)
        return MarketplaceAddResult(
            marketplace_name=added.name, installed_root=added.root, already_added=added.already
        )

    async def remove(
        self, params: MarketplaceRemoveParams, scope: RequestScope
    ) -> MarketplaceRemoveResult:
        """Forget a marketplace and its checkout; plugins installed from it stay."""
        from core.protocol.marketplaces import MarketplaceRemoveResult

        self._may_write()
        name = params.marketplace_name
        async with self._operations.run("remove", name):
            root = await self._remover.remove(name)
            await self._set.changed("marketplace/remove", scope)
        return MarketplaceRemoveResult(marketplace_name=name, installed_root=root)

    async def upgrade(
        self, params: MarketplaceUpgradeParams, scope: RequestScope
    ) -> MarketplaceUpgradeResult:
        """Bring git marketplaces up to date, and the plugins that are installed from them."""
        from core.protocol.marketplaces import MarketplaceUpgradeFailure, MarketplaceUpgradeResult

        self._may_write()
        name = params.marketplace_name
        async with self._operations.run("upgrade", name or "marketplaces") as progress:
            careful = self._updater is not None and scope.caller.policy.obeys_pins
            copy = self._updater.copy_unless_pinned if self._updater and careful else None
            upgraded = await self._upgrader.upgrade(name, progress, copy)
            if upgraded.roots:
                await self._set.changed("marketplace/upgrade", scope)
        return MarketplaceUpgradeResult(
            selected_marketplaces=list(upgraded.selected),
            upgraded_roots=list(upgraded.roots),
            errors=[
                MarketplaceUpgradeFailure(marketplace_name=failed, message=message)
                for failed, message in upgraded.errors
            ],
        )

    def _demand_allowed(self, market: Marketplace) -> None:
        SourcePolicy(self._configs.home, self._configs.load(None)).check(market)

    def _may_write(self) -> None:
        if self._deps.read_only:
            raise InvalidRequest("Jackfield runs read-only")

    async def _refuse(self, refuse: Callable[..., None], *named: str) -> None:
        """What only the remote catalog could do."""

        def work() -> None:
            refuse(*named, self._configs.load(None), self._account())

        await in_thread(work, deadline=DEADLINE)
        raise Unavailable("the remote plugin catalog is not offered by Jackfield")


def step(run: Callable[[], Any]) -> Step:
    """A step of a `PluginSet` that does not wait for anything."""

    async def do(cause: str, scope: RequestScope) -> None:
        run()

    return do
