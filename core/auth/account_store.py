"""Where Codex keeps its own sign-in, written as it writes it: `auth.json` or the keyring.

Observed in Codex 0.171.0: `flock` on `auth.lock`, then on `auth.json.lock`, both empty files that
are kept; `auth.json` is indented JSON of mode 0600 that replaces the old one; in the keyring the
same document stands under `Codex Auth`, and no file beside it.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
import msgspec

from core.config.files import os_reason
from core.config.replace import Changed, replace_file
from core.errors import CoreError, InternalError, InvalidRequest
from core.ports import Deps
from core.protocol.facts import Evidence

if TYPE_CHECKING:
    from core.config.model import Loaded

KEYRING_SERVICE = "Codex Auth"
WAIT = 20.0
"""Seconds for which another program may hold a lock; a refresh of theirs takes its time."""
_STEP = 0.02
_TRIES = 5
_LOCKS = ("auth.lock", "auth.json.lock")

Document = dict[str, Any]


def keyring_entry(codex_home: Path) -> str:
    """The name under which the keyring keeps the sign-in of a home. Blocks."""
    home = str(codex_home.resolve())
    return f"cli|{sha256(home.encode()).hexdigest()[:16]}"


class AccountStore:
    """Reads and writes the document of a sign-in, wherever the configuration wants it kept.

    Args:
        load: The configuration without any project's; cheap, called in threads.
        wait: Seconds until a lock is given up.
    """

    def __init__(
        self,
        deps: Deps,
        *,
        load: Callable[[], Loaded],
        auth_file: Path,
        codex_home: Path,
        wait: float = WAIT,
    ) -> None:
        self._deps, self._load, self._wait = deps, load, wait
        self._file, self._home = auth_file, codex_home

    def check_writable(self) -> None:
        """Raises InvalidRequest where nothing may be written."""
        if self._deps.read_only:
            raise InvalidRequest("Jackfield was started read-only")

    @asynccontextmanager
    async def locked(self) -> AsyncGenerator[None]:
        """Around reading, changing and writing. Raises InternalError."""
        self.check_writable()
        async with AsyncExitStack() as held:
            for name in _LOCKS:
                await held.enter_async_context(self._lock(name))
            yield

    async def read(self) -> Document | None:
        """What is stored, or None. Raises CoreError for what cannot be read."""
        mode = await self._mode()
        if mode in ("keyring", "auto"):
            try:
                entry = await anyio.to_thread.run_sync(keyring_entry, self._home)
                secret = await self._deps.secrets.get(KEYRING_SERVICE, entry)
            except CoreError:
                if mode == "keyring":
                    raise
                secret = None
            if secret is not None or mode == "keyring":
                return None if secret is None else self._parsed(secret.encode())
        content = await anyio.to_thread.run_sync(self._content)
        return None if content is None else self._parsed(content)

    async def write(self, document: Document) -> str:
        """Store a document in place of the one that is there; needs `locked`.

        Returns:
            `auth.json` or `keyring`.

        Raises:
            CoreError: It cannot be written; the words begin with `failed to write`.
        """
        mode = await self._mode()
        if mode in ("keyring", "auto"):
            try:
                entry = await anyio.to_thread.run_sync(keyring_entry, self._home)
                text = msgspec.json.encode(document).decode()
                await self._deps.secrets.set(KEYRING_SERVICE, entry, text)
            except CoreError as error:
                if mode == "keyring":
                    raise InternalError(
                        f"failed to write the sign-in to the keyring: {error.message}",
                        hint=error.hint,
                    ) from None
            else:
                await anyio.to_thread.run_sync(self._unlink)
                return "keyring"
        await anyio.to_thread.run_sync(self._replace, document)
        return self._file.name

    async def remove(self) -> bool:
        """Remove it from every store; False when there was none. Needs `locked`.

        Raises:
            CoreError: The keyring that is to hold it cannot be asked.
        """
        mode, removed = await self._mode(), False
        if mode in ("keyring", "auto"):
            try:
                entry = await anyio.to_thread.run_sync(keyring_entry, self._home)
                removed = await self._deps.secrets.delete(KEYRING_SERVICE, entry)
            except CoreError:
                if mode == "keyring":
                    raise
        return await anyio.to_thread.run_sync(self._unlink) or removed

    async def _mode(self) -> str:
        loaded = await anyio.to_thread.run_sync(self._load)
        mode = loaded.get("cli_auth_credentials_store", default="file")
        return mode if isinstance(mode, str) else "file"

    # -- the file

    def _content(self) -> bytes | None:
        try:
            return self._file.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(os_reason(error)) from None

    def _parsed(self, content: bytes) -> Document:
        try:
            value = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            raise self._unreadable("it is no JSON") from None
        if not isinstance(value, dict):
            raise self._unreadable("it is no JSON object")
        return cast("Document", value)

    def _replace(self, document: Document) -> None:
        target = os.path.realpath(self._file)
        content = msgspec.json.format(msgspec.json.encode(document), indent=2)
        try:
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            for _ in range(_TRIES):
                before = self._content()
                if before is not None:
                    os.chmod(target, 0o600)
                try:
                    return replace_file(target, before, content)
                except Changed:
                    continue
        except OSError as error:
            raise self._unwritten(os_reason(error)) from None
        raise self._unwritten("somebody else keeps writing it")

    def _unlink(self) -> bool:
        try:
            self._file.unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._unwritten(os_reason(error)) from None
        return True

    def _unreadable(self, reason: str) -> InternalError:
        return InternalError(
            f"{self._file.name} cannot be read: {reason}", evidence=Evidence(file=str(self._file))
        )

    def _unwritten(self, reason: str) -> InternalError:
        return InternalError(
            f"failed to write {self._file.name}: {reason}", evidence=Evidence(file=str(self._file))
        )

    # -- the locks

    @asynccontextmanager
    async def _lock(self, name: str) -> AsyncGenerator[None]:
        try:
            descriptor = await anyio.to_thread.run_sync(self._open, name)
        except OSError as error:
            raise InternalError(f"the sign-in cannot be locked: {os_reason(error)}") from None
        try:
            await self._take(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(self._home / name, flags, 0o600)

    async def _take(self, descriptor: int) -> None:
        with anyio.move_on_after(self._wait):
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except OSError as error:
                    if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                        reason = os_reason(error)
                        raise InternalError(f"the sign-in cannot be locked: {reason}") from None
                await anyio.sleep(_STEP)
        raise InternalError("another program is busy with the sign-in")
