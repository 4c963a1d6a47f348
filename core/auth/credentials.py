"""OAuth credentials of MCP servers, in the store that the configuration chooses.

Observed in Codex 0.171.0: `auto` (the default) reads the keyring, then the file; it writes to
the keyring and removes the file's entry, or writes to the file where the keyring fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from core.auth.credential_file import CredentialFile
from core.auth.grant_locks import GrantLocks
from core.auth.grants import Grant, of_secret_text, secret_text, store_key
from core.auth.secrets import KeyringUnavailable
from core.errors import CoreError, InternalError
from core.ports import Clock, SecretStore

if TYPE_CHECKING:
    from core.config.model import Loaded

SERVICE = "Codex MCP Credentials"
KEPT = 5.0
"""Seconds for which an answer of the keyring is used again."""
Mode = Literal["auto", "file", "keyring"]
Place = Literal["", "file", "keyring"]


class Credentials:
    """Reads and writes grants.

    Args:
        load: The configuration without any project's; cheap, called in threads.
    """

    def __init__(
        self,
        *,
        secrets: SecretStore,
        file: CredentialFile,
        locks: GrantLocks,
        clock: Clock,
        load: Callable[[], Loaded],
        read_only: bool = False,
    ) -> None:
        self._secrets, self._file, self.locks = secrets, file, locks
        self._clock, self._load, self._read_only = clock, load, read_only
        self._known: dict[str, tuple[float, str | None | CoreError]] = {}

    async def mode(self) -> Mode:
        """As configured; `auto` for anything else."""
        loaded = await anyio.to_thread.run_sync(self._load)
        told = loaded.get("mcp_oauth_credentials_store")
        return told if told in ("file", "keyring") else "auto"

    async def get(self, server: str, url: str, *, fresh: bool = False) -> Grant | None:
        """What is stored, or None. See `find`."""
        return (await self.find(server, url, fresh=fresh))[0]

    async def find(
        self, server: str, url: str, *, fresh: bool = False
    ) -> tuple[Grant | None, Place]:
        """What is stored, and where.

        Args:
            fresh: Ask the keyring even when it has just been asked.

        Raises:
            CoreError: Nobody can say: the keyring is locked, silent or broken and the file has
                nothing, or the file is damaged.
        """
        mode, key = await self.mode(), store_key(server, url)
        failure: CoreError | None = None
        if mode != "file":
            try:
                grant = _usable(await self._secret(key, fresh=fresh), server, url)
            except CoreError as error:
                if mode == "keyring":
                    raise
                failure = None if absent(error) else error
            else:
                if grant is not None or mode == "keyring":
                    return grant, "keyring" if grant else ""
        grant = await anyio.to_thread.run_sync(self._file.get, key)
        if grant is not None:
            return grant, "file"
        if failure is not None:
            raise failure
        return None, ""

    async def put(self, grant: Grant) -> Place:
        """Store a grant and read it back; where it now is. Needs the lock of its entry.

        Raises:
            InternalError: It could not be stored, or was gone at once; in the wire's words.
        """
        self._refuse_when_read_only()
        mode = await self.mode()
        if mode != "file":
            try:
                await self._put_secret(grant)
            except CoreError:
                if mode == "keyring":
                    raise InternalError("failed to write OAuth tokens to keyring") from None
            else:
                await self._forget_file(grant.key)
                return "keyring"
        async with self.locks.file_store():
            await anyio.to_thread.run_sync(self._file.put, grant)
        if await anyio.to_thread.run_sync(self._file.get, grant.key) != grant:
            raise InternalError(f"{self._file.path.name} did not keep the OAuth tokens")
        return "file"

    async def replace(self, grant: Grant, place: Place) -> None:
        """Store a newer grant where the older one was found. Needs the lock of its entry."""
        if place != "file":
            await self.put(grant)
            return
        self._refuse_when_read_only()
        async with self.locks.file_store():
            await anyio.to_thread.run_sync(self._file.put, grant)

    async def remove(self, server: str, url: str) -> bool:
        """Take a grant out of every store; True when there was one. Takes the entry's lock.

        Raises:
            InternalError: A store that may have one could not be asked; in the wire's words.
        """
        self._refuse_when_read_only()
        mode, key = await self.mode(), store_key(server, url)
        async with self.locks.entry(key), self.locks.file_store():
            failed: CoreError | None = None
            found = False
            if mode != "file":
                try:
                    found = await self._secrets.delete(SERVICE, key)
                except CoreError as error:
                    failed = None if mode == "auto" and absent(error) else error
                self._known.pop(key, None)
            removed = await anyio.to_thread.run_sync(self._file.remove, key)
        if failed is not None:
            raise InternalError(
                "failed to delete OAuth tokens from keyring", hint=failed.message
            ) from None
        return found or removed

    def forget(self) -> None:
        """Ask the keyring anew next time."""
        self._known.clear()

    async def _secret(self, key: str, *, fresh: bool) -> str | None:
        known = self._known.get(key)
        if not fresh and known is not None and self._clock.monotonic() - known[0] < KEPT:
            return _told(known[1])
        answer: str | None | CoreError
        try:
            answer = await self._secrets.get(SERVICE, key)
        except CoreError as error:
            answer = error
        self._known[key] = (self._clock.monotonic(), answer)
        return _told(answer)

    async def _put_secret(self, grant: Grant) -> None:
        text = secret_text(grant, self._clock.now())
        self._known.pop(grant.key, None)
        await self._secrets.set(SERVICE, grant.key, text)
        if await self._secret(grant.key, fresh=True) != text:
            raise CoreError("the keyring did not keep the tokens")

    async def _forget_file(self, key: str) -> None:
        try:
            async with self.locks.file_store():
                await anyio.to_thread.run_sync(self._file.remove, key)
        except CoreError:
            pass  # the keyring is read first: what stays there does no harm

    def _refuse_when_read_only(self) -> None:
        if self._read_only:
            raise InternalError("nothing is written: read-only")


def absent(error: CoreError) -> bool:
    """There is no keyring at all, so it cannot hold anything either."""
    return isinstance(error, KeyringUnavailable) and error.state == "absent"


def _told(answer: str | None | CoreError) -> str | None:
    if isinstance(answer, CoreError):
        raise answer
    return answer


def _usable(text: str | None, server: str, url: str) -> Grant | None:
    """The grant of a secret, when it is this server's."""
    if text is None:
        return None
    grant = of_secret_text(text)
    if grant is None or (grant.server_name, grant.server_url) != (server, url):
        raise CoreError("what the keyring has for the server cannot be read")
    return grant
