"""Former versions of plugins, kept in our own state folder: the last three of each.

A backup is a copy, for the state folder may lie on another disk. It is made beside its place and
renamed, so that one that is there is whole.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
import msgspec

from core.errors import InternalError
from core.plugins.install.copying import copy_tree
from core.plugins.install.staging import remove_tree, staged, sweep
from core.plugins.layout import os_reason
from core.plugins.names import is_version, split_id
from core.plugins.updates.ledger import CopyNote

KEPT = 3
_PREFIX = ".keeping-"
_WHOLE = "whole"
_TREE = "copy"
_NOTE = "note.json"


class _Note(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    schema_version: int = 1
    at: float
    copy: CopyNote | None = None


@dataclass(frozen=True, kw_only=True)
class Backup:
    """A former version.

    Attributes:
        version: Name that its directory had in the cache.
        at: When it was put here, seconds since the epoch.
        root: Its content.
        note: What was known of where it came from.
    """

    version: str
    at: float
    root: str
    note: CopyNote | None = field(default=None, compare=False)

    @property
    def place(self) -> str:
        """The directory that it is all in."""
        return os.path.dirname(self.root)


class Backups:
    """Keeps and finds former versions of the plugins of one Codex home."""

    def __init__(self, state_dir: Path, codex_home: Path, now: Callable[[], float]) -> None:
        digest = hashlib.sha256(os.fsencode(codex_home)).hexdigest()[:24]
        self._folder = f"{state_dir}/plugin-backups/{digest}"
        self._now = now

    def _of(self, plugin_id: str) -> str:
        names = split_id(plugin_id)
        if names is None:
            raise InternalError(f"`{plugin_id}` is no plugin id")
        plugin, market = names
        return f"{self._folder}/{market}/{plugin}"

    def all(self, plugin_id: str) -> list[Backup]:
        """What is kept of a plugin, the newest first. Blocks."""
        if split_id(plugin_id) is None:
            return []
        folder = self._of(plugin_id)
        try:
            names = sorted(os.listdir(folder), reverse=True)
        except OSError:
            return []
        found = (_backup(folder, name) for name in names)
        return [backup for backup in found if backup is not None]

    def newest(self) -> dict[str, Backup]:
        """The newest of every plugin that has one. Blocks."""
        found: dict[str, Backup] = {}
        for market in _names(self._folder):
            for plugin in _names(f"{self._folder}/{market}"):
                if backups := self.all(f"{plugin}@{market}"):
                    found[f"{plugin}@{market}"] = backups[0]
        return found

    async def keep(self, plugin_id: str, root: str, note: CopyNote | None = None) -> Backup:
        """Copy an installed version away; older ones than the last three go.

        Args:
            root: Directory of the installed version.

        Raises:
            InternalError: It cannot be copied; nothing is left of the attempt.
        """
        folder, version, at = self._of(plugin_id), os.path.basename(root), self._now()
        kept: list[Backup] = []

        def copy(place: str) -> None:
            os.makedirs(f"{place}/{_WHOLE}/{_TREE}")
            tick = anyio.from_thread.check_cancelled
            copy_tree(root, f"{place}/{_WHOLE}/{_TREE}", tick=tick)
            with open(f"{place}/{_WHOLE}/{_NOTE}", "wb") as stream:
                stream.write(msgspec.json.encode(_Note(at=at, copy=note)))

        def switch(place: str) -> Backup:
            number = int(at * 1000)
            while True:
                target = f"{folder}/{number:016d}-{version}"
                try:
                    os.rename(f"{place}/{_WHOLE}", target)
                except OSError as error:
                    if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                        raise
                    number += 1
                    continue
                self._prune(plugin_id)
                return Backup(version=version, at=at, root=f"{target}/{_TREE}", note=note)

        try:
            await anyio.to_thread.run_sync(_private, folder)
            async with staged(folder, _PREFIX) as place:
                await anyio.to_thread.run_sync(copy, place)
                with anyio.CancelScope(shield=True):
                    kept.append(await anyio.to_thread.run_sync(switch, place))
        except OSError as error:
            what = f"the former version of {plugin_id} cannot be kept in {folder}"
            raise InternalError(f"{what}: {os_reason(error)}") from None
        return kept[0]

    def _prune(self, plugin_id: str) -> None:
        for old in self.all(plugin_id)[KEPT:]:
            _discard(old.place)

    def drop(self, backup: Backup) -> None:
        """Forget one. Blocks."""
        _discard(backup.place)


def _discard(place: str) -> None:
    """Out of sight first: what is killed while it removes leaves no half backup."""
    hidden = f"{os.path.dirname(place)}/{_PREFIX}{secrets.token_hex(6)}"
    with suppress(OSError):
        os.rename(place, hidden)
        remove_tree(hidden)


def _private(folder: str) -> None:
    os.makedirs(folder, mode=0o700, exist_ok=True)
    sweep(folder, _PREFIX)


def _backup(folder: str, name: str) -> Backup | None:
    stamp, _, version = name.partition("-")
    root = f"{folder}/{name}/{_TREE}"
    if not stamp.isdigit() or not is_version(version) or not os.path.isdir(root):
        return None
    at, note = int(stamp) / 1000, None
    try:
        with open(f"{folder}/{name}/{_NOTE}", "rb") as stream:
            read = msgspec.json.decode(stream.read(), type=_Note)
        at, note = read.at, read.copy
    except (OSError, msgspec.MsgspecError):
        pass
    return Backup(version=version, at=at, root=root, note=note)


def _names(folder: str) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        return []
