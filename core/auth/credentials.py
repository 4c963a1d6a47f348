"""OAuth credentials of MCP servers, in the store that the configuration chooses.

Observed in Codex 0.171.0: `auto` (the default) reads the keyring, then the file; it writes to
the keyring and removes the file's entry, or writes to the file where the keyring fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from core.auth.credential_file import CredentialFile
from core.auth.grant_locks import GrantLocks
from core.auth.grants import Grant, of_secret_text, secret_text, store_key
from core.auth.secrets import KeyringUnavailable
from core.errors import CoreError, InternalError
from core.ports import Clock, SecretStore
from core.seams import SignInTarget

if TYPE_CHECKING:
    from core.config.model import Loaded

SERVICE = "Codex MCP Credentials"
KEPT = 1.0
"""Seconds for which an answer of the keyring is used again."""
Mode = Literal["auto", "file", "keyring"]
Place = Literal["", "file", "keyring"]
FORGETS = "the keyring forgets everything at the end of this session"


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Where a grant was put, and what there is to say about that, for people."""

    place: Place
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class KeyringState:
    """`state`: "" in order or not asked, `volatile`, or one of `KeyringUnavailable`."""

    state: str = ""
    words: str = ""


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

    @staticmethod
    def key_of(target: SignInTarget) -> str:
        """Under which both stores have the grant of a server."""
        return store_key(target.server, target.url)

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

    async def keyring(self, server: str, url: str) -> KeyringState:
        """What the keyring answered to the last `find`; asks it nothing but whether it lasts."""
        known = self._known.get(store_key(server, url))
        if known is None or await self.mode() == "file":
            return KeyringState()
        if isinstance(known[1], CoreError):
            state = known[1].state if isinstance(known[1], KeyringUnavailable) else "unreadable"
            return KeyringState(state=state, words=known[1].message)
        note = "" if known[1] is None else await self._volatile()
        return KeyringState(state="volatile" if note else "", words=note)

    async def keeps(self, server: str, url: str) -> Place:
        """Where a grant would be put, as far as the last `find` has shown."""
        mode = await self.mode()
        if mode != "auto":
            return mode
        known = self._known.get(store_key(server, url))
        return "file" if known is not None and isinstance(known[1], CoreError) else "keyring"

    async def put(self, grant: Grant) -> Stored:
        """Store a grant and read it back. Needs the lock of its entry.

        Raises:
            InternalError: It could not be stored, or was gone at once; in the wire's words.
        """
        self.check_writable()
        mode, note = await self.mode(), ""
        if mode != "file":
            try:
                await self._put_secret(grant)
            except CoreError as error:
                if mode == "keyring":
                    message = "failed to write OAuth tokens to keyring"
                    raise InternalError(message, hint=error.message) from None
                note = "" if absent(error) else f"{error.message}: the file is used"
            else:
                await self._forget_file(grant.key)
                return Stored(place="keyring", note=await self._volatile())
        async with self.locks.file_store():
            await anyio.to_thread.run_sync(self._file.put, grant)
        if await anyio.to_thread.run_sync(self._file.get, grant.key) != grant:
            raise InternalError(f"{self._file.path.name} did not keep the OAuth tokens")
        return Stored(place="file", note=note)

    async def replace(self, grant: Grant, place: Place) -> None:
        """Store a newer grant where the older one was found. Needs the lock of its entry."""
        if place != "file":
            await self.put(grant)
            return
        self.check_writable()
        async with self.locks.file_store():
            await anyio.to_thread.run_sync(self._file.put, grant)

    async def remove(self, server: str, url: str) -> bool:
        """Take a grant out of every store; True when there was one. Takes the entry's lock.

        Raises:
            InternalError: A store that may have one could not be asked; in the wire's words.
        """
        self.check_writable()
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

    def wrote(self, path: str, content: bytes | None) -> bool:
        """Whether this is the content of the file store as we left it."""
        return path == str(self._file.path) and self._file.wrote(content)

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

    async def _volatile(self) -> str:
        try:
            return "" if await self._secrets.lasts() else FORGETS
        except CoreError:
            return ""  # it has just answered: that it does not now is told when it matters

    async def _forget_file(self, key: str) -> None:
        try:
            async with self.locks.file_store():
                await anyio.to_thread.run_sync(self._file.remove, key)
        except CoreError:
            pass  # the keyring is read first: what stays there does no harm

    def check_writable(self) -> None:
        """Raises InternalError where nothing is to be written."""
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
