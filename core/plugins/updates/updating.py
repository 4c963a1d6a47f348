"""Brings installed copies to what is offered, and back; what is replaced is kept."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial

import anyio.to_thread

from core.config.paths import Home
from core.errors import InvalidRequest
from core.plugins.entries import Entry
from core.plugins.install.installer import Installer, Progress, no_progress
from core.plugins.state import active_root
from core.plugins.updates.backups import Backup
from core.plugins.updates.content import ContentReader, TooBig, difference
from core.plugins.updates.ledger import Pin, with_note, with_pin
from core.plugins.updates.memory import PluginMemory
from core.plugins.updates.noting import CopyNotes


@dataclass(frozen=True, kw_only=True)
class Updated:
    """What an update has come to: versions are names of directories in the cache."""

    before: str | None
    version: str
    copied: bool


class Updater:
    """Replaces installed copies; the one that was there is kept before the switch.

    Args:
        memory: Takes pins and former versions.
    """

    def __init__(self, home: Home, installer: Installer, memory: PluginMemory) -> None:
        self._home = home
        self._installer = installer
        self.memory = memory
        self._notes = CopyNotes(memory.ledger)

    def root(self, plugin_id: str) -> str | None:
        """The installed copy. Blocks."""
        plugin, _, market = plugin_id.partition("@")
        return active_root(f"{self._home.plugins_cache}/{market}/{plugin}")

    async def update(self, market: str, entry: Entry, progress: Progress = no_progress) -> Updated:
        """Copy what an entry offers over what is installed; the configuration stays.

        Content that is the same already is left alone. Cancelled, or killed, it leaves what was
        there before.

        Args:
            market: Name of the entry's marketplace.

        Raises:
            CoreError: In the words of Codex 0.171.0; what was there before is as it was.
        """
        plugin_id = f"{entry.name}@{market}"
        root = await anyio.to_thread.run_sync(self.root, plugin_id)
        before = partial(self.before, plugin_id)
        installed = await self._installer.copy(market, entry, progress, before=before)
        if not installed.copied:
            await anyio.to_thread.run_sync(self._notes.installed, installed, entry)
        return Updated(
            before=os.path.basename(root) if root is not None else None,
            version=installed.version,
            copied=installed.copied,
        )

    async def before(self, plugin_id: str, fresh: str, target: str) -> bool:
        """Keep what is installed; False when the new copy is the same."""
        current = await anyio.to_thread.run_sync(active_root, target)
        if current is None:
            return True
        if os.path.basename(current) == os.path.basename(fresh):
            if await anyio.to_thread.run_sync(_same, fresh, current):
                return False
        await self._keep(plugin_id, current)
        return True

    async def _keep(self, plugin_id: str, current: str) -> Backup:
        memory = await anyio.to_thread.run_sync(self.memory.ledger.read)
        note = memory.copies.get(plugin_id)
        if note is not None and note.version != os.path.basename(current):
            note = None
        return await self.memory.backups.keep(plugin_id, current, note)

    async def keep(self, plugin_id: str) -> Backup | None:
        """Keep what is installed; None when nothing is."""
        current = await anyio.to_thread.run_sync(self.root, plugin_id)
        return await self._keep(plugin_id, current) if current is not None else None

    async def copy_unless_pinned(self, market: str, entry: Entry) -> None:
        """What an upgraded marketplace does to a plugin that is installed from it."""
        book = await anyio.to_thread.run_sync(self.memory.ledger.read)
        if f"{entry.name}@{market}" not in book.pins:
            await self.update(market, entry)

    async def roll_back(self, plugin_id: str, version: str | None, at: float) -> Updated:
        """Put a former version back and pin it; what was installed is kept in its place.

        Args:
            version: Which of the kept ones; None = the newest.
            at: Now, seconds since the epoch.

        Raises:
            InvalidRequest: There is no such version.
            CoreError: What was there before is as it was.
        """
        kept = await anyio.to_thread.run_sync(self.memory.backups.all, plugin_id)
        chosen = next((one for one in kept if version in (None, one.version)), None)
        if chosen is None:
            named = f"version {version}" if version is not None else "former version"
            raise InvalidRequest(f"no {named} of {plugin_id} is kept")
        former: list[str] = []

        async def before(fresh: str, target: str) -> bool:
            current = await anyio.to_thread.run_sync(active_root, target)
            if current is not None:
                former.append(os.path.basename(current))
                await self._keep(plugin_id, current)
            return True

        await self._installer.restore(plugin_id, chosen.root, chosen.version, before)
        pin = Pin(version=chosen.version, at=at)

        def remember() -> None:
            self.memory.backups.drop(chosen)
            self.memory.ledger.change(
                lambda book: with_note(with_pin(book, plugin_id, pin), plugin_id, chosen.note)
            )

        await anyio.to_thread.run_sync(remember)
        before_version = former[0] if former else None
        return Updated(before=before_version, version=chosen.version, copied=True)

    async def put_back(self, plugin_id: str, backup: Backup) -> None:
        """Undo a removal: the copy is in the cache again, unless there is another by now.

        Raises:
            InvalidRequest: There is another one, or the kept one is gone.
        """

        async def before(fresh: str, target: str) -> bool:
            return not await anyio.to_thread.run_sync(os.path.lexists, target)

        if not await anyio.to_thread.run_sync(os.path.isdir, backup.root):
            raise InvalidRequest(f"the copy of {plugin_id} is no longer kept")
        if not await self._installer.restore(plugin_id, backup.root, backup.version, before):
            raise InvalidRequest(f"{plugin_id} has been installed again since")
        await anyio.to_thread.run_sync(self.memory.backups.drop, backup)

    async def pin(self, plugin_id: str, at: float, *, pinned: bool) -> Pin | None:
        """Keep an installed plugin as it is, or no longer.

        Raises:
            InvalidRequest: It is not installed.
        """
        root = await anyio.to_thread.run_sync(self.root, plugin_id)
        if pinned and root is None:
            raise InvalidRequest(f"{plugin_id} is not installed")
        pin = Pin(version=os.path.basename(root), at=at) if pinned and root is not None else None
        change = partial(self.memory.ledger.change, lambda book: with_pin(book, plugin_id, pin))
        await anyio.to_thread.run_sync(change)
        return pin


def _same(fresh: str, current: str) -> bool:
    """Whether two copies hold the same. Blocks."""
    reader = ContentReader()
    try:
        return not difference(reader.read(fresh), reader.read(current))
    except (OSError, TooBig):
        return False
