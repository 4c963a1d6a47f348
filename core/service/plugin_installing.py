"""jackfield/plugin/install, trust and uninstall: with consent and a way back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.errors import InternalError, InvalidRequest
from core.plugins.allowed import SourcePolicy
from core.plugins.detail import open_marketplace
from core.plugins.install.judging import installable_entry
from core.plugins.names import split_id
from core.plugins.workers import in_thread
from core.protocol.jackfield import Done, IdParams
from core.protocol.jackfield_install import (
    AppToLink,
    Compatibility,
    PluginInstalled,
    PluginInstallParams,
    PluginTrustParams,
    RemovedResult,
)
from core.protocol.rows import AppRow
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.plugin_trust import DEADLINE, PluginTrust, switches

if TYPE_CHECKING:
    from core.plugins.entries import Entry
    from core.plugins.install.installer import Installed, Installer
    from core.plugins.marketplace_file import Marketplace
    from core.plugins.updates.backups import Backup
    from core.service.undoing import Undoes
    from core.service.workbench import Workbench


class PluginInstalling:
    """What the panel does to plugins.

    Args:
        apps: Rows of the app directory by id; empty without an account.
    """

    def __init__(
        self,
        bench: Workbench,
        installer: Installer,
        trust: PluginTrust,
        undoes: Undoes,
        apps: Callable[[], Mapping[str, AppRow]],
    ) -> None:
        self._bench, self._installer = bench, installer
        self._trust, self._undoes, self._apps = trust, undoes, apps

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/plugin/install": self.install,
            "jackfield/plugin/trust": self.trust,
            "jackfield/plugin/uninstall": self.uninstall,
        }

    async def install(self, params: PluginInstallParams, scope: RequestScope) -> PluginInstalled:
        """Copy a plugin, write what was agreed to, and enable it; nothing starts before that.

        Cancelled until the copy is in its place, it leaves what was there before.

        Raises:
            CoreError: In the words of Codex 0.171.0.
        """
        bench = self._bench
        bench.may_write()
        market, entry = await in_thread(partial(self._offered, params), deadline=DEADLINE)
        plugin_id = f"{entry.name}@{market.name}"
        copy: Compatibility | None = None
        former = await anyio.to_thread.run_sync(bench.updater.root, plugin_id)
        async with bench.operations.run("install", plugin_id) as progress:
            before = partial(bench.updater.before, plugin_id)
            installed = await self._installer.copy(market.name, entry, progress, before=before)
            with anyio.CancelScope(shield=True):
                copy = await self._enable(installed, params)
                await bench.plugin_set.changed("install", scope)
        if copy is None:
            raise InternalError(f"{plugin_id} was not looked at")
        return self._told(entry, installed, copy, params, former)

    def _offered(self, params: PluginInstallParams) -> tuple[Marketplace, Entry]:
        configs = self._bench.configs
        market = open_marketplace(params.marketplace_path, configs.home, "failed to install plugin")
        entry = installable_entry(market, params.plugin_name)
        SourcePolicy(configs.home, configs.load(None)).check(market)
        return market, entry

    async def _enable(self, installed: Installed, params: PluginInstallParams) -> Compatibility:
        copy = await self._trust.look_at_copy(installed.plugin_id, installed.root)
        await self._trust.record(copy, params.agreed, params.declined)
        loaded = await anyio.to_thread.run_sync(self._bench.configs.load, None)
        edits = [
            Edit.at("plugins", installed.plugin_id, "enabled", value=True),
            *switches(copy.programs, installed.plugin_id, loaded, params.agreed, params.declined),
        ]
        await self._bench.config.write(edits, tolerant=True)
        return copy

    def _told(
        self,
        entry: Entry,
        installed: Installed,
        copy: Compatibility,
        params: PluginInstallParams,
        former: str | None,
    ) -> PluginInstalled:
        seen = {*params.agreed, *params.declined}
        unseen = tuple(part.name for part in copy.programs if part.id not in seen)
        sign_in = tuple(
            part.name for part in copy.programs if part.sign_in == "oauth" and part.id in seen
        )
        before = os.path.basename(former) if former is not None else None
        version = "" if installed.version == "local" else f" {installed.version}"
        message = f"{entry.name}{version} is installed"
        if copy.nothing:
            message += "; Codex can use nothing of it"
        elif unseen:
            message += f"; {', '.join(unseen)} waits for your review"
        return PluginInstalled(
            plugin_id=installed.plugin_id,
            version=installed.version,
            before=before,
            apps_needing_auth=self._to_link(copy),
            sign_in=sign_in,
            unseen=unseen,
            nothing=copy.nothing,
            message=message,
        )

    def _to_link(self, copy: Compatibility) -> tuple[AppToLink, ...]:
        """Apps that the plugin names, the directory lists and the account has not linked."""
        rows = self._apps()
        named = (rows.get(part.name) for part in copy.uses if part.kind == "app")
        return tuple(
            AppToLink(id=row.id, name=row.name, url=row.install_url)
            for row in named
            if row is not None and not row.accessible
        )

    async def trust(self, params: PluginTrustParams, scope: RequestScope) -> Done:
        """Remember what was said to an installed plugin's programs, and switch declined ones off.

        Raises:
            InvalidRequest: It is not installed.
        """
        bench, plugin_id = self._bench, params.plugin_id
        root = await anyio.to_thread.run_sync(bench.updater.root, plugin_id)
        if root is None:
            raise InvalidRequest(f"{plugin_id} is not installed")
        copy = await self._trust.look_at_copy(plugin_id, root)
        await self._trust.record(copy, params.agreed, params.declined)
        loaded = await anyio.to_thread.run_sync(bench.configs.load, None)
        edits = switches(copy.programs, plugin_id, loaded, params.agreed, params.declined)
        if edits:
            bench.may_write()
            await bench.config.write(edits, tolerant=True)
        await bench.plugin_set.changed("trust", scope)
        return Done()

    async def uninstall(self, params: IdParams, scope: RequestScope) -> RemovedResult:
        """Forget a plugin and remove its copies; the newest one is kept for undoing.

        Raises:
            InvalidRequest: It is no plugin of this machine, or another layer configures it.
            CoreError: The configuration cannot be written, or the copies cannot be moved.
        """
        bench, plugin_id = self._bench, params.id
        names = split_id(plugin_id)
        if names is None:
            raise InvalidRequest(f"`{plugin_id}` is no PLUGIN@MARKETPLACE")
        bench.may_write()
        token: str | None = None
        async with bench.operations.run("uninstall", plugin_id):
            backup = await bench.updater.keep(plugin_id)
            with anyio.CancelScope(shield=True):
                edit = Edit.at("plugins", plugin_id, value=None)
                token = bench.config.undoable(await bench.config.write([edit], tolerant=True))
                await self._installer.remove_copies(names[1], names[0])
                await bench.plugin_set.changed("uninstall", scope)
        undo = None
        if token is not None or backup is not None:
            undo = self._undoes.add(partial(self._put_back, plugin_id, backup, token, scope))
        return RemovedResult(message=f"{names[0]} is uninstalled", undo=undo)

    async def _put_back(
        self, plugin_id: str, backup: Backup | None, token: str | None, scope: RequestScope
    ) -> str:
        bench = self._bench
        if backup is not None:
            await bench.updater.put_back(plugin_id, backup)
        if token is not None:
            await bench.config.undo(token)
        await bench.plugin_set.changed("install", scope)
        return f"{plugin_id} is installed again, as it was"
