"""The locks with which Codex keeps programs apart that use the same credentials.

Observed in Codex 0.171.0: empty files that are kept, `flock(LOCK_EX | LOCK_NB)`, the entry's
own file before the one of the whole store.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

import anyio
import anyio.to_thread

from core.config.files import os_reason
from core.errors import InternalError

WAIT = 20.0
"""Seconds for which somebody else may hold one; a refresh of theirs takes its time."""
_STEP = 0.02
_FOLDER, _STORE = "mcp-oauth-locks", "file-store.lock"


class GrantLocks:
    """Locks below CODEX_HOME.

    Args:
        wait: Seconds until it is given up.
    """

    def __init__(self, codex_home: Path, *, wait: float = WAIT) -> None:
        self._folder, self._wait = codex_home / _FOLDER, wait

    @asynccontextmanager
    async def entry(self, key: str) -> AsyncGenerator[None]:
        """Around reading, refreshing and writing one entry. Raises InternalError."""
        async with self._held(f"{sha256(key.encode()).hexdigest()}.lock"):
            yield

    @asynccontextmanager
    async def file_store(self) -> AsyncGenerator[None]:
        """Around changing `.credentials.json`; inside of `entry`. Raises InternalError."""
        async with self._held(_STORE):
            yield

    @asynccontextmanager
    async def _held(self, name: str) -> AsyncGenerator[None]:
        try:
            descriptor = await anyio.to_thread.run_sync(self._open, name)
        except OSError as error:
            raise InternalError(f"the credentials cannot be locked: {os_reason(error)}") from None
        try:
            await self._take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(self._folder / name, flags, 0o600)

    async def _take(self, descriptor: int) -> None:
        with anyio.move_on_after(self._wait):
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                        reason = os_reason(error)
                        raise InternalError(f"the credentials cannot be locked: {reason}") from None
                await anyio.sleep(_STEP)
        raise InternalError("another program is busy with the credentials")
