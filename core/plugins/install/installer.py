"""Installs and removes plugins: fetch, judge, copy beside the target, switch, configure."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread

from core.config.edit_plan import Edit
from core.config.paths import Home
from core.config.replace import file_lock
from core.errors import InternalError, InvalidRequest
from core.plugins.entries import Entry
from core.plugins.install.copying import FAILED
from core.plugins.install.judging import Judged, judge
from core.plugins.install.putting import Copying, commit_of
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


Before = Callable[[str, str], Awaitable[bool]]
"""Takes the new copy, still staged, and the place it is to have; False leaves all as it was."""


@dataclass(frozen=True, kw_only=True)
class Installed:
    """A copy in the cache.

    Attributes:
        copied: It is a new one.
        commit: Of a git source: the full id that was copied, or "" when it cannot be told.
    """

    plugin_id: str
    version: str
    root: str
    copied: bool = True
    commit: str = ""


class Noting(Protocol):
    """Remembers where copies came from, for sources that cannot be looked at again."""

    def installed(self, installed: Installed, entry: Entry) -> None:
        """A new copy is in its place. Blocks; never raises."""
        ...


class Installer:
    """The plugin cache's one writer.

    Args:
        config: Enables and forgets plugins.
        fetcher: For git and npm.
        state_dir: Our own folder; holds the lock that keeps our processes apart.
        noting: Told of every new copy.
    """

    def __init__(
        self,
        home: Home,
        config: ConfigWriter,
        fetcher: Fetcher,
        state_dir: Path,
        noting: Noting | None = None,
    ) -> None:
        self._noting = noting
        self._home = home
        self._config = config
        self._fetcher = fetcher
        self._state_dir = state_dir

    async def install(
        self,
        market: str,
        entry: Entry,
        progress: Progress = no_progress,
        before: Before | None = None,
    ) -> Installed:
        """Copy the plugin of an entry into the cache and enable it; again when it is there.

        Cancelled, or killed, it leaves what was there before.

        Args:
            market: Name of the entry's marketplace.
            before: As for `copy`.

        Raises:
            CoreError: In the words of Codex 0.171.0.
        """
        installed = await self.copy(market, entry, progress, before=before)
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
        before: Before | None = None,
    ) -> Installed:
        """The same without touching the configuration.

        Args:
            unless_version: A source of this version is not copied.
            before: Asked once the new copy is whole, before it is put in its place.
        """
        if isinstance(entry.source, LocalSource):
            root = entry.source.path
            return await self._copy_from(root, market, entry, progress, unless_version, before)
        async with self._fetcher.fetched(entry, progress) as root:
            if root is None:
                root = f"{self._home.plugins_staging}/-"
            return await self._copy_from(root, market, entry, progress, unless_version, before)

    async def _copy_from(
        self,
        root: str,
        market: str,
        entry: Entry,
        progress: Progress,
        unless: str | None,
        before: Before | None,
    ) -> Installed:
        version = await anyio.to_thread.run_sync(self._curated_version, market)
        judged = await anyio.to_thread.run_sync(judge, entry, root, version)
        folder = f"{self._home.plugins_cache}/{market}"
        installed = Installed(
            plugin_id=f"{entry.name}@{market}",
            version=judged.version,
            root=f"{folder}/{entry.name}/{judged.version}",
            copied=judged.version != unless,
            commit=await anyio.to_thread.run_sync(commit_of, root, entry),
        )
        if installed.copied:
            progress(None, "copying")
            run = Copying(root, folder, entry.name, judged)
            if not await self._put(run, folder, before):
                return replace(installed, copied=False)
            if self._noting is not None:
                await anyio.to_thread.run_sync(self._noting.installed, installed, entry)
        return installed

    async def restore(self, plugin_id: str, root: str, version: str, before: Before) -> bool:
        """Put a copy that was in the cache before back into it, exactly as it is.

        Args:
            root: Where it lies now; it stays there.
            version: Name of its directory in the cache.
            before: As for `copy`.

        Returns:
            Whether it is in its place now.

        Raises:
            CoreError: What was there before is as it was.
        """
        names = split_id(plugin_id)
        if names is None:
            raise InvalidRequest("invalid remote plugin id")
        plugin, market = names
        folder = f"{self._home.plugins_cache}/{market}"
        return await self._put(
            Copying(root, folder, plugin, Judged(version), raw=True), folder, before
        )

    async def _put(self, run: Copying, folder: str, before: Before | None) -> bool:
        try:
            await anyio.to_thread.run_sync(_prepare, folder)
            async with staged(folder, PREFIX) as place:
                await anyio.to_thread.run_sync(run.copy, place)
                if before is not None and not await before(run.fresh, run.target):
                    return False
                with anyio.CancelScope(shield=True):  # a thread that renames is not left behind
                    await anyio.to_thread.run_sync(run.switch, self._state_dir)
                return True
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
