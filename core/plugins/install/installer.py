"""Installs and removes plugins: fetch, judge, copy beside the target, switch, configure."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.from_thread
import anyio.to_thread

from core.config.edit_plan import Edit
from core.config.paths import Home
from core.config.replace import file_lock
from core.errors import InternalError, InvalidRequest
from core.plugins.entries import Entry
from core.plugins.install.activate import activate
from core.plugins.install.copying import FAILED, copy_tree
from core.plugins.install.judging import Judged, judge
from core.plugins.install.migrating import migrate_commands
from core.plugins.install.staging import staged, sweep
from core.plugins.layout import os_reason
from core.plugins.names import API_CURATED, CURATED, split_id
from core.protocol.plugins import LocalSource

PREFIX = "plugin-install-"
Progress = Callable[[float | None, str], None]
"""Takes how far something is, 0–1 or None, and what it does at the moment, in a word or two."""


def no_progress(share: float | None, note: str) -> None:
    """Nobody watches."""


class ConfigWriter(Protocol):
    """Writes the user's configuration."""

    async def write(self, edits: Sequence[Edit], *, tolerant: bool = False) -> Any: ...


class Fetcher(Protocol):
    """Brings the source of an entry onto this disk."""

    def fetched(self, entry: Entry, progress: Progress) -> AbstractAsyncContextManager[str | None]:
        """Its directory for as long as the block lasts; None when the fetched has no such one."""
        ...


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A copy in the cache. `copied`: it is a new one."""

    plugin_id: str
    version: str
    root: str
    copied: bool = True


class Installer:
    """The plugin cache's one writer.

    Args:
        config: Enables and forgets plugins.
        fetcher: For git and npm.
        state_dir: Our own folder; holds the lock that keeps our processes apart.
    """

    def __init__(self, home: Home, config: ConfigWriter, fetcher: Fetcher, state_dir: Path) -> None:
        self._home = home
        self._config = config
        self._fetcher = fetcher
        self._state_dir = state_dir

    async def install(
        self, market: str, entry: Entry, progress: Progress = no_progress
    ) -> Installed:
        """Copy the plugin of an entry into the cache and enable it; again when it is there.

        Cancelled, or killed, it leaves what was there before.

        Args:
            market: Name of the entry's marketplace.

        Raises:
            CoreError: In the words of Codex 0.171.0.
        """
        installed = await self.copy(market, entry, progress)
        edit = Edit.at("plugins", installed.plugin_id, "enabled", value=True)
        await self._config.write([edit], tolerant=True)
        return installed

    async def copy(
        self,
        market: str,
        entry: Entry,
        progress: Progress = no_progress,
        *,
        unless_version: str | None = None,
    ) -> Installed:
        """The same without touching the configuration.

        Args:
            unless_version: A source of this version is not copied.
        """
        if isinstance(entry.source, LocalSource):
            root = entry.source.path
            return await self._copy_from(root, market, entry, progress, unless_version)
        async with self._fetcher.fetched(entry, progress) as root:
            if root is None:
                root = f"{self._home.plugins_staging}/-"
            return await self._copy_from(root, market, entry, progress, unless_version)

    async def _copy_from(
        self, root: str, market: str, entry: Entry, progress: Progress, unless: str | None
    ) -> Installed:
        version = await anyio.to_thread.run_sync(self._curated_version, market)
        judged = await anyio.to_thread.run_sync(judge, entry, root, version)
        folder = f"{self._home.plugins_cache}/{market}"
        installed = Installed(
            plugin_id=f"{entry.name}@{market}",
            version=judged.version,
            root=f"{folder}/{entry.name}/{judged.version}",
            copied=judged.version != unless,
        )
        if installed.copied:
            progress(None, "copying")
            await self._put(root, folder, entry.name, judged)
        return installed

    async def _put(self, root: str, folder: str, plugin: str, judged: Judged) -> None:
        try:
            await anyio.to_thread.run_sync(_prepare, folder)
            async with staged(folder, PREFIX) as place:
                run = _Copying(root, place, plugin, judged)
                await anyio.to_thread.run_sync(run.copy)
                with anyio.CancelScope(shield=True):  # a thread that renames is not left behind
                    await anyio.to_thread.run_sync(run.switch, folder, self._state_dir)
        except OSError as error:
            what = "failed to create plugin cache directory"
            raise InternalError(f"{FAILED}{what}: {os_reason(error)}") from None

    def _curated_version(self, market: str) -> str | None:
        """The product's own snapshot is versioned by its commit."""
        if market not in (CURATED, API_CURATED):
            return None
        with suppress(OSError):
            if sha := self._home.curated_sha_file.read_text("utf-8", "replace").strip():
                return sha[:8]
        raise InvalidRequest("local curated marketplace sha is not available")

    async def uninstall(self, plugin_id: str) -> None:
        """Forget a plugin of this machine and remove its copies; nothing to do is no error.

        The table goes first: a copy without one is harmless, and a table without a copy would be
        installed again by Codex.

        Args:
            plugin_id: `PLUGIN@MARKETPLACE`, valid.

        Raises:
            InternalError: The configuration cannot be written, or the copies cannot be moved.
        """
        names = split_id(plugin_id)
        if names is None:
            raise InvalidRequest("invalid remote plugin id")
        plugin, market = names
        await self._config.write([Edit.at("plugins", plugin_id, value=None)], tolerant=True)
        await self.remove_copies(market, plugin)

    async def remove_copies(self, market: str, plugin: str) -> None:
        """Remove everything that the cache holds of a plugin.

        Raises:
            InternalError: It cannot be moved out of the way.
        """
        folder = f"{self._home.plugins_cache}/{market}"
        target = f"{folder}/{plugin}"
        if not await anyio.to_thread.run_sync(os.path.lexists, target):
            return

        def move(place: str) -> None:
            with file_lock(self._state_dir, folder):
                if os.path.lexists(target):
                    os.makedirs(f"{place}/replaced", exist_ok=True)
                    os.rename(target, f"{place}/replaced/{plugin}")

        try:
            async with staged(folder, PREFIX) as place:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(move, place)
        except OSError as error:
            what = "failed to uninstall plugin: failed to remove existing plugin cache entry"
            raise InternalError(f"{what}: {os_reason(error)}") from None


def _prepare(folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    sweep(folder, PREFIX)


class _Copying:
    """One copy on its way into the cache; runs in threads."""

    def __init__(self, source: str, staging: str, plugin: str, judged: Judged) -> None:
        self._source, self._staging, self._judged = source, staging, judged
        self._plugin = plugin
        self._tree = f"{staging}/{plugin}"

    def copy(self) -> None:
        """Fill the staging directory; stops when its caller is cancelled."""
        root = f"{self._tree}/{self._judged.version}"
        try:
            os.makedirs(root)
        except OSError as error:
            what = "failed to create plugin target directory"
            raise InternalError(f"{FAILED}{what}: {os_reason(error)}") from None
        copy_tree(
            self._source,
            root,
            without=self._staging,
            tick=anyio.from_thread.check_cancelled,
        )
        try:
            self._complete(root)
        except OSError as error:
            what = "failed to write plugin file"
            raise InternalError(f"{FAILED}{what}: {os_reason(error)}") from None

    def _complete(self, root: str) -> None:
        if self._judged.substitute is not None:
            os.makedirs(f"{root}/.codex-plugin", exist_ok=True)
            path = f"{root}/.codex-plugin/plugin.json"
            with open(path, "wb") as stream:
                stream.write(self._judged.substitute)
        migrate_commands(root)

    def switch(self, folder: str, state_dir: Path) -> None:
        """Put the copy in its place."""
        with file_lock(state_dir, folder):
            activate(self._tree, f"{folder}/{self._plugin}", self._judged.version, self._staging)
