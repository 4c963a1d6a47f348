"""jackfield/orphans and jackfield/orphan/clean: left-overs, each with the one thing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread

from core.config.edit_plan import Edit
from core.errors import InvalidRequest
from core.plugins.names import split_id
from core.plugins.updates.orphans import CHECKOUT, orphan_checkout, orphan_of
from core.protocol.jackfield import IdParams, NoParams
from core.protocol.jackfield_plugins import Orphan, OrphanCleanResult, OrphansResult
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.plugins.install.installer import Installer
    from core.plugins.marketplaces.removing import MarketplaceRemover
    from core.plugins.updates.backups import Backup
    from core.service.undoing import Undoes
    from core.service.workbench import Workbench


class OrphanService:
    """Finds left-overs in the panel's rows and cleans up one at a time, when asked to."""

    def __init__(
        self,
        bench: Workbench,
        installer: Installer,
        remover: MarketplaceRemover,
        undoes: Undoes,
    ) -> None:
        self._bench = bench
        self._installer = installer
        self._remover = remover
        self._undoes = undoes

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/orphans": self.list, "jackfield/orphan/clean": self.clean}

    async def list(self, params: NoParams, scope: RequestScope) -> OrphansResult:
        """All left-overs."""
        await self._bench.catalog.refresh()
        return OrphansResult(orphans=tuple(await anyio.to_thread.run_sync(self._found)))

    def _found(self) -> list[Orphan]:
        catalog, home = self._bench.catalog, self._bench.configs.home
        plugins = list(catalog.plugins.current.rows.values())
        markets = list(catalog.marketplaces.current.rows.values())
        found = [orphan_of(row, home) for row in plugins if row.left_over]
        found += [orphan_checkout(row) for row in markets if row.listed == "leftOver"]
        return sorted(found, key=lambda orphan: orphan.id)

    async def clean(self, params: IdParams, scope: RequestScope) -> OrphanCleanResult:
        """Do what its `action` says; what leaves the cache is kept among the former versions.

        Raises:
            InvalidRequest: It is no left-over any more, or nothing cleans it up.
            CoreError: It cannot be written, or moved away.
        """
        bench = self._bench
        bench.may_write()
        await bench.catalog.refresh()
        found = await anyio.to_thread.run_sync(self._found)
        orphan = next((one for one in found if one.id == params.id), None)
        if orphan is None:
            raise InvalidRequest(f"{params.id} is not left over")
        if not orphan.action:
            raise InvalidRequest(f"{orphan.name}: {orphan.reason}")
        async with bench.operations.run("clean up", orphan.id):
            undo = await self._clean(orphan)
        await bench.plugin_set.changed("orphan/clean", scope)
        await bench.catalog.refresh()
        done = orphan.action.replace("remove ", "", 1)
        return OrphanCleanResult(message=f"{orphan.name}: removed {done}", undo=undo)

    async def _clean(self, orphan: Orphan) -> str | None:
        if orphan.id.startswith(CHECKOUT):
            await self._remover.remove(orphan.name)
            return None
        bench, token = self._bench, None
        backup = await bench.updater.keep(orphan.id) if orphan.removes else None
        if orphan.writes:
            edit = Edit.at("plugins", orphan.id, value=None)
            token = bench.config.undoable(await bench.config.write([edit], tolerant=True))
        names = split_id(orphan.id)
        if orphan.removes and names is not None:
            await self._installer.remove_copies(names[1], names[0])
        return self._undoes.add(lambda: self._put_back(orphan.id, backup, token))

    async def _put_back(self, plugin_id: str, backup: Backup | None, token: str | None) -> str:
        if backup is not None:
            await self._bench.updater.put_back(plugin_id, backup)
        if token is not None:
            await self._bench.config.undo(token)
        await self._bench.catalog.refresh()
        return f"{plugin_id} is left over again, as it was"
