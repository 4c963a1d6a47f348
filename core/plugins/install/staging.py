"""Directories for half-done work: they lie on the target's file system and never outlive a crash.

Whoever stages holds a lock on the directory while it lives. One that nobody holds was left behind
by a process that was killed, and goes at the next opportunity.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.to_thread

_SHORT = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_SETTLED = 5.0  # between the making of a directory and its lock
_OURS = re.compile(r"[0-9a-f]{12}")
FORMER = "former"
"""Name in a staging directory of what was moved out of the target's way."""


class Staging:
    """One staging directory, made and locked; `close` removes it with everything in it. Blocks.

    Args:
        folder: Where it lies; made when missing.
        short: Six letters and digits after the prefix, as the real one has them in its messages.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, folder: str, prefix: str, *, short: bool = False) -> None:
        os.makedirs(folder, exist_ok=True)
        self._descriptor = -1
        for _ in range(100):
            name = "".join(secrets.choice(_SHORT) for _ in range(6)) if short else _long()
            self.path = f"{folder}/{prefix}{name}"
            with suppress(FileExistsError):
                os.mkdir(self.path, 0o700)
                break
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        """Remove it; what cannot be removed is left for `sweep`."""
        remove_tree(self.path)
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _long() -> str:
    return secrets.token_hex(6)


@asynccontextmanager
async def staged(folder: str, prefix: str, *, short: bool = False) -> AsyncGenerator[str]:
    """A staging directory for as long as the block lasts, however it ends.

    Raises:
        OSError: It cannot be made.
    """
    staging = await anyio.to_thread.run_sync(lambda: Staging(folder, prefix, short=short))
    try:
        yield staging.path
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(staging.close)


def remove_tree(path: str) -> None:
    """Remove a file, a link or a directory with what is in it, as far as that is possible."""
    if os.path.islink(path) or not os.path.isdir(path):
        with suppress(OSError):
            os.unlink(path)
        return
    shutil.rmtree(path, onerror=_once_more)


def _once_more(run: Callable[[str], object], path: str, fault: object) -> None:
    """What lies in a directory without write permission goes all the same when it is ours."""
    with suppress(OSError):
        folder = os.path.dirname(path)
        os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode) | stat.S_IRWXU)
        if not os.path.islink(path) and os.path.isdir(path):
            os.chmod(path, stat.S_IRWXU)
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)


def sweep(folder: str, prefix: str, *, theirs_after: float | None = None) -> None:
    """Remove what killed processes have left in `folder`; what they had moved away comes back.

    Args:
        theirs_after: Seconds after which directories of other programs count as left behind;
            None leaves them alone.
    """
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if name.startswith(prefix)]
        for name in names:
            ours = _OURS.fullmatch(name[len(prefix) :]) is not None
            if ours or theirs_after is not None:
                _sweep_one(folder, name, _SETTLED if ours else theirs_after or _SETTLED)


def _sweep_one(folder: str, name: str, age: float) -> None:
    path = f"{folder}/{name}"
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            if time.time() - os.fstat(descriptor).st_mtime < age:
                return
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _restore(path, folder)
            remove_tree(path)
        finally:
            os.close(descriptor)


def _restore(path: str, folder: str) -> None:
    former = f"{path}/{FORMER}"
    with suppress(OSError):
        for name in os.listdir(former):
            if not os.path.lexists(f"{folder}/{name}"):
                os.rename(f"{former}/{name}", f"{folder}/{name}")
