"""What the person does to plugins and marketplaces, as calls to the core; no widgets here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core import method_table as methods
from core.errors import CoreError
from core.protocol import jackfield as wire
from core.protocol import jackfield_install as install
from tui.controller import Tell, Undoable
from tui.switching import SwitchTarget
from tui.views.base import plural

if TYPE_CHECKING:
    from tui.controller import Controller

CANCELLED = ": cancelled"


@dataclass
class Trusted:
    """What was said on the trust page: ids of parts."""

    agreed: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


@dataclass
class Aftermath:
    """What a person still has to do after installs.

    Attributes:
        unseen: Plugins that came with programs which could not be shown before.
    """

    apps: list[install.AppToLink] = field(default_factory=list[install.AppToLink])
    servers: list[str] = field(default_factory=list[str])
    unseen: list[str] = field(default_factory=list[str])

    def __bool__(self) -> bool:
        return bool(self.apps or self.servers)


@dataclass(frozen=True)
class NotAdded:
    """Why a marketplace was not added, in the words of whoever said so."""

    message: str
    hint: str = ""
    cancelled: bool = False

    @property
    def taken(self) -> str:
        """The name that another marketplace has already, or ""."""
        found = re.match(r"marketplace '([^']+)' is already added from a", self.message)
        return found[1] if found is not None else ""


class PluginController:
    """Plugins and marketplaces; what came of it is told in one line.

    Args:
        controller: Has the client, and keeps what can be undone.
    """

    def __init__(self, controller: Controller, tell: Tell) -> None:
        self._controller, self._tell = controller, tell
        self._client = controller.client

    async def look(self, ids: Iterable[str]) -> list[install.Compatibility]:
        """What plugins bring, by row id; one that cannot be looked at is told."""
        found: list[install.Compatibility] = []
        for row_id in ids:
            params = install.CompatibilityParams(plugin_id=row_id)
            try:
                found.append(
                    await self._client.call(methods.JACKFIELD_PLUGIN_COMPATIBILITY, params)
                )
            except CoreError as error:
                self._failed(row_id, error)
        return found

    async def install(
        self, plugins: Sequence[install.Compatibility], trusted: Trusted
    ) -> Aftermath:
        """Install one after another; one that fails holds up no other."""
        done: list[install.PluginInstalled] = []
        after = Aftermath()
        for plugin in plugins:
            params = install.PluginInstallParams(
                marketplace_path=plugin.marketplace_path,
                plugin_name=plugin.name,
                agreed=tuple(trusted.agreed),
                declined=tuple(trusted.declined),
            )
            try:
                result = await self._client.call(methods.JACKFIELD_PLUGIN_INSTALL, params)
            except CoreError as error:
                self._failed(f"{plugin.name}: not installed", error)
                continue
            done.append(result)
            after.apps += result.apps_needing_auth
            after.servers += result.sign_in
            after.unseen += [result.plugin_id] if result.unseen else []
        if len(done) == 1:
            self._tell(done[0].message)
        elif done:
            self._tell(f"{plural(len(done), 'plugin')} installed")
        return after

    async def turn_on(
        self, targets: Sequence[SwitchTarget], plugins: Sequence[str], trusted: Trusted
    ) -> None:
        """Enable installed plugins with what was agreed to; `plugins` are ids that were shown."""
        if await self.trust(plugins, trusted):
            await self.switch(targets, on=True)

    async def trust(self, plugins: Sequence[str], trusted: Trusted) -> bool:
        """Keep what was said to installed plugins; whether that went well."""
        for plugin_id in plugins:
            params = install.PluginTrustParams(
                plugin_id=plugin_id,
                agreed=tuple(trusted.agreed),
                declined=tuple(trusted.declined),
            )
            try:
                await self._client.call(methods.JACKFIELD_PLUGIN_TRUST, params)
            except CoreError as error:
                self._failed(f"{plugin_id}: the answer was not kept", error)
                return False
        return True

    async def switch(self, targets: Sequence[SwitchTarget], *, on: bool) -> None:
        """Turn several on or off, and say so once."""
        done: list[str] = []
        for target in targets:
            params = wire.SwitchParams(kind=target.kind, id=target.id, enabled=on)
            try:
                result = await self._client.call(methods.JACKFIELD_SWITCH, params)
            except CoreError as error:
                self._failed(f"{target.name}: not switched", error)
                continue
            if result.undo is not None:
                self._controller.undoable.append(Undoable(result.undo, target.name))
                done.append(result.message)
            else:
                self._tell(result.message)
        if len(done) == 1:
            self._tell(f"{done[0]}   z undoes")
        elif done:
            self._tell(
                f"{plural(len(done), 'plugin')} turned {'on' if on else 'off'}   z undoes the last"
            )

    async def uninstall(self, ids: Sequence[str]) -> None:
        """Uninstall; each can be undone by itself, the last first."""
        done: list[str] = []
        for plugin_id in ids:
            params = wire.IdParams(id=plugin_id)
            try:
                result = await self._client.call(methods.JACKFIELD_PLUGIN_UNINSTALL, params)
            except CoreError as error:
                self._failed(f"{plugin_id}: not uninstalled", error)
                continue
            done.append(self._undoable(result, plugin_id))
        if len(done) == 1:
            self._tell(done[0])
        elif done:
            self._tell(f"{plural(len(done), 'plugin')} uninstalled   z undoes, one at a time")

    async def remove(self, name: str, *, plugins: bool) -> None:
        """Remove a marketplace, with its plugins or without."""
        params = install.MarketplaceRemoveParams(name=name, plugins=plugins)
        try:
            result = await self._client.call(methods.JACKFIELD_MARKETPLACE_REMOVE, params)
        except CoreError as error:
            self._failed(f"{name}: not removed", error)
            return
        self._tell(self._undoable(result, name))

    def _undoable(self, result: install.RemovedResult, name: str) -> str:
        if result.undo is None:
            return f"{result.message}   it cannot be undone"
        self._controller.undoable.append(Undoable(result.undo, name))
        return f"{result.message}   z undoes"

    async def upgrade(self, name: str) -> None:
        """Bring a git marketplace up to date."""
        from core.protocol.marketplaces import MarketplaceUpgradeParams

        params = MarketplaceUpgradeParams(marketplace_name=name)
        try:
            result = await self._client.call(methods.MARKETPLACE_UPGRADE, params)
        except CoreError as error:
            self._failed(f"{name}: not brought up to date", error)
            return
        if result.errors:
            self._tell(f"{name}: {last_words(result.errors[0].message)}", fault=True)
        elif result.upgraded_roots:
            self._tell(f"{name} has new content, and so have the plugins installed from it")
        else:
            self._tell(f"{name} is up to date")

    async def cancel(self, subject: str) -> None:
        """End what runs on a plugin or a marketplace."""
        try:
            await self._client.call(methods.JACKFIELD_OPERATION_CANCEL, wire.IdParams(id=subject))
        except CoreError as error:
            self._failed(f"{subject}: not cancelled", error)

    async def source(self, text: str, ref: str, folders: Sequence[str]) -> install.SourceRead:
        """How a source is read."""
        params = install.SourceParams(
            source=text, ref_name=ref or None, sparse_paths=tuple(folders)
        )
        try:
            return await self._client.call(methods.JACKFIELD_MARKETPLACE_SOURCE, params)
        except CoreError as error:
            return install.SourceRead(fault=error.message)

    async def add(self, text: str, ref: str, folders: Sequence[str]) -> str | NotAdded:
        """Add a marketplace; its name, or why not."""
        from core.protocol.marketplaces import MarketplaceAddParams

        params = MarketplaceAddParams(
            source=text, ref_name=ref or None, sparse_paths=list(folders) or None
        )
        try:
            result = await self._client.call(methods.MARKETPLACE_ADD, params)
        except CoreError as error:
            cancelled = error.message.endswith(CANCELLED)
            return NotAdded(error.message, error.hint, cancelled)
        what = "was there already" if result.already_added else "is added"
        self._tell(f"{result.marketplace_name} {what}")
        return result.marketplace_name

    def tell_not_added(self, source: str, why: NotAdded) -> None:
        """For somebody who has closed the sheet meanwhile."""
        if why.cancelled:
            self._tell(f"{source}: cancelled, nothing left behind")
        else:
            self._tell(f"{source}: not added: {last_words(why.message)}", fault=True)

    async def kinds(self) -> tuple[install.KindState, ...]:
        """Every kind of marketplace."""
        try:
            result = await self._client.call(methods.JACKFIELD_MARKETPLACE_KINDS, wire.NoParams())
        except CoreError as error:
            self._failed("The kinds cannot be told", error)
            return ()
        return result.kinds

    async def open_link(self, url: str) -> None:
        """Open a page in the browser."""
        from core.protocol.jackfield_tools import LinkParams

        try:
            result = await self._client.call(methods.JACKFIELD_LINK_OPEN, LinkParams(url=url))
        except CoreError as error:
            self._failed("Not opened", error)
            return
        if not result.opened:
            self._tell(f"No browser took it: {url}", fault=True)

    def _failed(self, what: str, error: CoreError) -> None:
        if error.message.endswith(CANCELLED):
            self._tell(f"{what}: cancelled; it is as it was")
            return
        hint = f"; {error.hint}" if error.hint else ""
        self._tell(f"{what}: {last_words(error.message)}{hint}", fault=True)


def last_words(message: str) -> str:
    """The end of what a tool said, where a message holds all of it."""
    _, mark, said = message.partition("stderr:\n")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    if not mark or not lines:
        return message
    fatal = [line for line in lines if line.startswith(("fatal:", "error:", "npm error"))]
    return (fatal or lines)[-1]
