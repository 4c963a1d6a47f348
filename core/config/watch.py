"""Sees within a second when somebody writes the files that matter."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import anyio

from core.config.files import Signature, Unreadable, read_bytes, signature

logger = logging.getLogger(__name__)

POLL_SECONDS = 1.0
_SETTLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Change:
    """A watched file or directory that is not what it was.

    Attributes:
        path: As it was asked to be watched.
        ours: The content is what we wrote last.
        exists: It is there now.
    """

    path: str
    ours: bool
    exists: bool


@dataclass(frozen=True, slots=True)
class _Seen:
    signature: Signature
    digest: str


def _never(path: str, content: bytes | None) -> bool:
    return False


class FileWatch:
    """Watches files, their symlink targets and directories.

    The system's notifications make it quick; a look at the files once a second catches what they
    miss: network file systems, exhausted limits, folders that appear later.

    Args:
        changed: Called on the event loop with everything that changed since the last call.
        own: Whether a content is what we wrote last.
        poll: Seconds between looks.
    """

    def __init__(
        self,
        changed: Callable[[list[Change]], None],
        own: Callable[[str, bytes | None], bool] = _never,
        poll: float = POLL_SECONDS,
    ) -> None:
        self._changed = changed
        self._own = own
        self._poll = poll
        self._seen: dict[str, _Seen] = {}
        self._watched: set[str] = set()
        self._wake = anyio.Event()
        self._restart = anyio.Event()

    async def watch(self, paths: Collection[str | os.PathLike[str]]) -> None:
        """Watch exactly these from now on; what is there now counts as known."""
        # A name from a file may hold what no name on disk can: a NUL.
        wanted = {name for path in paths if "\0" not in (name := os.fspath(path))}
        fresh = [path for path in wanted if path not in self._seen]
        seen = await anyio.to_thread.run_sync(lambda: {path: _look(path)[0] for path in fresh})
        kept = {path: known for path, known in self._seen.items() if path in wanted}
        if not fresh and len(kept) == len(self._seen):
            return
        self._seen = {**kept, **seen}
        self._restart.set()
        self._wake.set()

    async def run(self) -> None:
        """Watch until cancelled."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._listen)
            try:
                await self._look_again()
            finally:
                # The notifier's thread cannot be cancelled, only told to stop.
                self._restart.set()

    async def _look_again(self) -> None:
        while True:
            with anyio.move_on_after(self._poll):
                await self._wake.wait()
                # A replacement comes as several events.
                await anyio.sleep(_SETTLE_SECONDS)
            self._wake = anyio.Event()
            await self._compare()

    async def check(self) -> None:
        """Look at once, as after a wake from sleep."""
        await self._compare()

    async def _compare(self) -> None:
        known = dict(self._seen)
        changes, seen = await anyio.to_thread.run_sync(lambda: self._differences(known))
        if not changes:
            return
        self._seen = {**self._seen, **{path: seen[path] for path in seen if path in self._seen}}
        # A symlink may point elsewhere now, or a folder have appeared.
        if await anyio.to_thread.run_sync(_folders, list(self._seen)) != self._watched:
            self._restart.set()
        self._changed(changes)

    def _differences(self, known: dict[str, _Seen]) -> tuple[list[Change], dict[str, _Seen]]:
        changes: list[Change] = []
        seen: dict[str, _Seen] = {}
        for path, before in known.items():
            if signature(path) == before.signature:
                continue
            now, content = _look(path)
            seen[path] = now
            if now.digest != before.digest or (now.signature is None) != (before.signature is None):
                exists = now.signature is not None
                changes.append(Change(path, self._own(path, content), exists))
        return changes, seen

    async def _listen(self) -> None:
        while True:
            self._restart = anyio.Event()
            folders = await anyio.to_thread.run_sync(_folders, list(self._seen))
            self._watched = folders
            if not folders or not await self._notified(folders):
                await self._restart.wait()

    async def _notified(self, folders: set[str]) -> bool:
        """Wake at each event below the folders until restarted; False when that cannot be had."""
        try:
            watcher: Any = await anyio.to_thread.run_sync(_watchfiles)
            async for _ in watcher.awatch(
                *folders,
                recursive=False,
                debounce=50,
                step=10,
                rust_timeout=1000,
                stop_event=self._restart,
                watch_filter=None,
            ):
                self._wake.set()
        except (ImportError, OSError, RuntimeError) as error:
            logger.info("no file notifications, looking once a second: %s", error)
            return False
        return True


def _watchfiles() -> Any:
    """Its import takes 60 ms: not on the event loop."""
    import watchfiles

    return watchfiles


def _look(path: str) -> tuple[_Seen, bytes | None]:
    now = signature(path)
    if now is None:
        return _Seen(None, ""), None
    if os.path.isdir(path):
        return _Seen(now, f"folder:{now[0]}"), None
    try:
        content = read_bytes(path)
    except Unreadable as error:
        return _Seen(now, f"unreadable:{error}"), None
    digest = hashlib.sha256(content).hexdigest() if content is not None else ""
    return _Seen(now, digest), content


def _folders(paths: list[str]) -> set[str]:
    """Where events about these paths happen: folders of every link on the way and of the end.

    Folders that do not exist yet are left to the look once a second.
    """
    found: set[str] = set()
    for path in paths:
        for _ in range(40):
            folder = path if os.path.isdir(path) else os.path.dirname(path)
            if os.path.isdir(folder):
                found.add(folder)
            if not os.path.islink(path):
                break
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    return found
