"""jackfield/plugin/pin and rollback; jackfield/marketplace/pin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread

from core.config.edit_plan import Edit
from core.errors import InvalidRequest
from core.plugins.market_commit import FULL_ID, checkout_commit
from core.plugins.marketplaces.roots import checkout_of, configured
from core.plugins.updates.ledger import FormerRef, with_ref
from core.protocol.facts import Evidence
from core.protocol.jackfield_plugins import (
    MarketplacePinParams,
    PinParams,
    PinResult,
    RollbackParams,
    RollbackResult,
)
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.workbench import Workbench


class PluginPins:
    """Installed plugins that are to stay as they are, and former versions that come back."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/plugin/pin": self.pin,
            "jackfield/plugin/rollback": self.rollback,
            "jackfield/marketplace/pin": self.pin_marketplace,
        }

    async def pin(self, params: PinParams, scope: RequestScope) -> PinResult:
        """Keep a plugin as it is, or no longer."""
        bench = self._bench
        at = bench.deps.clock.now()
        pin = await bench.updater.pin(params.id, at, pinned=params.pinned)
        await bench.catalog.refresh()
        name = params.id.partition("@")[0]
        if pin is None:
            return PinResult(pinned=False, message=f"{name} is updated again with the others")
        rows = bench.catalog.plugins.current.rows.values()
        codex = next((row.codex for row in rows if row.plugin_id == params.id), "")
        said = f"{name} stays at {pin.version}"
        return PinResult(
            pinned=True,
            at=pin.version,
            message=f"{said}; {codex}" if codex else said,
            codex=codex,
        )

    async def pin_marketplace(self, params: MarketplacePinParams, scope: RequestScope) -> PinResult:
        """Write the checkout's commit as `ref`, or the former `ref` again."""
        bench, name = self._bench, params.name
        bench.may_write()
        loaded = await anyio.to_thread.run_sync(bench.configs.load, None)
        known = configured(loaded).get(name)
        if known is None or known.kind != "git":
            message = f"marketplace `{name}` is not configured as a Git marketplace"
            raise InvalidRequest(message, hint="pin its plugins one by one instead")
        ledger = bench.updater.memory.ledger
        if params.pinned:
            root = checkout_of(bench.configs.home, name)
            commit = await anyio.to_thread.run_sync(checkout_commit, root)
            if not FULL_ID.fullmatch(commit):
                raise InvalidRequest(f"the commit of {root} cannot be told")
            former = FormerRef(ref=known.ref, pinned=commit)
            if known.ref != commit:
                await self._write_ref(name, commit)
                await _changed(lambda: ledger.change(lambda book: with_ref(book, name, former)))
            await bench.plugin_set.changed("marketplace/pin", scope)
            await bench.catalog.refresh()
            return PinResult(pinned=True, at=commit, message=f"{name} stays at commit {commit[:7]}")
        former = (await anyio.to_thread.run_sync(ledger.read)).refs.get(name)
        if former is None or former.pinned != known.ref:
            place = Evidence(file=str(bench.configs.home.config_file), layer="user")
            message = f"marketplace `{name}` has not been pinned here"
            hint = f"edit `ref` of [marketplaces.{name}]"
            raise InvalidRequest(message, evidence=place, hint=hint)
        await self._write_ref(name, former.ref)
        await _changed(lambda: ledger.change(lambda book: with_ref(book, name, None)))
        await bench.plugin_set.changed("marketplace/pin", scope)
        await bench.catalog.refresh()
        follows = former.ref or "its server's default branch"
        return PinResult(pinned=False, message=f"{name} follows {follows} again")

    async def _write_ref(self, name: str, ref: str | None) -> None:
        edit = Edit.at("marketplaces", name, "ref", value=ref)
        await self._bench.config.write([edit], tolerant=True)

    async def rollback(self, params: RollbackParams, scope: RequestScope) -> RollbackResult:
        """Put a former version back and pin it. Emits `OperationProgress`."""
        bench, plugin_id = self._bench, params.id
        bench.may_write()
        await bench.catalog.refresh()
        rows = bench.catalog.plugins.current.rows.values()
        if not any(row.plugin_id == plugin_id and row.installed for row in rows):
            raise InvalidRequest(f"{plugin_id} is not installed")
        async with bench.operations.run("roll back", plugin_id):
            at = bench.deps.clock.now()
            back = await bench.updater.roll_back(plugin_id, params.version, at)
        await bench.plugin_set.changed("rollback", scope)
        await bench.catalog.refresh()
        rows = bench.catalog.plugins.current.rows.values()
        codex = next((row.codex for row in rows if row.plugin_id == plugin_id), "")
        name = plugin_id.partition("@")[0]
        said = f"{name} is {back.version} again, and pinned"
        return RollbackResult(
            version=back.version,
            before=back.before,
            message=f"{said}; {codex}" if codex else said,
            codex=codex,
        )


async def _changed(change: Callable[[], Any]) -> None:
    await anyio.to_thread.run_sync(change)
