"""The system keyring behind a deadline.

Nothing in the keyring libraries sets a limit to a call, and a call that hangs cannot be given up:
so all of them run in one daemon thread of ours, which the end of the program does not wait for.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, Protocol, TypeVar, cast

import anyio
import anyio.from_thread
import anyio.lowlevel

from core.errors import CoreError

DEADLINE = 2.0
"""Seconds that a call may take; a working keyring needs 50 ms at most."""

State = Literal["absent", "locked", "unreadable", "silent"]
T = TypeVar("T")


class KeyringUnavailable(CoreError):
    """The keyring cannot say, or cannot take what it is given.

    Attributes:
        state: `absent`: there is none; `locked`: somebody has to unlock it first; `unreadable`:
            it failed; `silent`: it did not answer in time.
    """

    def __init__(self, state: State, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.state: State = state


def absent(why: str = "") -> KeyringUnavailable:
    """There is no keyring here."""
    return KeyringUnavailable("absent", "there is no keyring on this machine" + _because(why))


def locked() -> KeyringUnavailable:
    """The keyring is there but closed; it is never us who asks for the password."""
    return KeyringUnavailable("locked", "the keyring is locked", "unlock it, then try again")


def unreadable(error: Exception) -> KeyringUnavailable:
    """Whatever else a keyring library fails with; libraries put no secrets into their errors."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return KeyringUnavailable("unreadable", f"the keyring failed{_because(lines[0][:200])}")


def _because(why: str) -> str:
    return f": {why}" if why else ""


class Store(Protocol):
    """A keyring whose calls may block. Raises KeyringUnavailable and whatever its library does."""

    def get(self, service: str, account: str) -> str | None: ...

    def set(self, service: str, account: str, secret: str) -> None: ...

    def delete(self, service: str, account: str) -> bool: ...

    def lasts(self) -> bool: ...


class KeyringSecrets:
    """The `SecretStore` of a real core.

    What is written and read is what Codex writes and reads: on Linux items of the Secret Service
    with its attributes, elsewhere the platform's own store.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        deadline: float = DEADLINE,
        opens: Callable[[Mapping[str, str]], Store] | None = None,
    ) -> None:
        self._environ = environ
        self._deadline = deadline
        self._opens = opens or system_store
        self._store: Store | None = None
        self._calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
        self._running: _Call | None = None
        self._thread: threading.Thread | None = None

    async def get(self, service: str, account: str) -> str | None:
        """The secret, or None when the keyring has none."""
        return await self._ask(lambda store: store.get(service, account))

    async def set(self, service: str, account: str, secret: str) -> None:
        """Put a secret in, in place of the one that is there."""
        await self._ask(lambda store: store.set(service, account, secret))

    async def delete(self, service: str, account: str) -> bool:
        """Take it out; False when there was none."""
        return await self._ask(lambda store: store.delete(service, account))

    async def lasts(self) -> bool:
        """What is put in is still there after the end of this session."""
        return await self._ask(lambda store: store.lasts())

    async def _ask(self, do: Callable[[Store], T]) -> T:
        if (running := self._running) is not None and running.takes > self._deadline:
            raise self._silent()
        call = _Call(do)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="keyring", daemon=True)
            self._thread.start()
        self._calls.put(call)
        try:
            with anyio.move_on_after(self._deadline):
                await call.over.wait()
        finally:
            call.given_up = not call.done
        if not call.done:
            raise self._silent()
        if call.error is not None:
            raise call.error
        return cast(T, call.result)

    def _silent(self) -> KeyringUnavailable:
        return KeyringUnavailable(
            "silent", f"the keyring does not answer ({self._deadline:g} s)", "see what holds it up"
        )

    def _work(self) -> None:
        while True:
            call = self._calls.get()
            if call.given_up:
                continue
            call.started = time.monotonic()
            self._running = call
            try:
                if self._store is None:
                    self._store = self._opens(self._environ)
                call.result = call.do(self._store)
            except KeyringUnavailable as error:
                call.error = error
            except Exception as error:  # libraries raise more than their own kinds
                call.error = unreadable(error)
            if call.error is not None and call.error.state == "absent":
                self._store = None  # one that is started later is found
            self._running = None
            call.finish()


class _Call:
    """One call: made on the event loop, run by the thread."""

    def __init__(self, do: Callable[[Store], Any]) -> None:
        self.do = do
        self.over = anyio.Event()
        self.result: Any = None
        self.error: KeyringUnavailable | None = None
        self.done = False
        self.given_up = False
        self.started = 0.0
        self._loop = anyio.lowlevel.current_token()

    @property
    def takes(self) -> float:
        """Seconds since the thread began with it."""
        return time.monotonic() - self.started

    def finish(self) -> None:
        try:
            anyio.from_thread.run_sync(self._tell, token=self._loop)
        except RuntimeError:
            pass  # the event loop has ended meanwhile

    def _tell(self) -> None:
        self.done = True
        self.over.set()


def system_store(environ: Mapping[str, str]) -> Store:
    """The keyring of this platform, chosen by us: what else is installed may keep plain files.

    `PYTHON_KEYRING_BACKEND`, where somebody has set it, is obeyed.
    """
    if chosen := environ.get("PYTHON_KEYRING_BACKEND"):
        return _named_store(chosen)
    match sys.platform:
        case "darwin":
            return _named_store("keyring.backends.macOS.Keyring")
        case "win32":
            return _named_store("keyring.backends.Windows.WinVaultKeyring")
        case _:
            return _secret_service()


def _named_store(name: str) -> Store:
    from keyring.backends import fail
    from keyring.core import load_keyring

    if name == "keyring.backends.SecretService.Keyring":
        return _secret_service()
    backend = load_keyring(name)
    if isinstance(backend, fail.Keyring):
        raise absent()
    return _PythonKeyring(backend)


def _secret_service() -> Store:
    from core.auth.secret_service import SecretService

    return SecretService()


class _PythonKeyring:
    """A backend of the keyring library."""

    def __init__(self, backend: Any) -> None:
        self._backend = backend

    def get(self, service: str, account: str) -> str | None:
        with _told():
            return self._backend.get_password(service, account)

    def set(self, service: str, account: str, secret: str) -> None:
        with _told():
            self._backend.set_password(service, account, secret)

    def delete(self, service: str, account: str) -> bool:
        with _told():
            if self._backend.get_password(service, account) is None:
                return False
            self._backend.delete_password(service, account)
            return True

    def lasts(self) -> bool:
        return True


@contextmanager
def _told() -> Generator[None]:
    from keyring.errors import KeyringLocked, NoKeyringError

    try:
        yield
    except NoKeyringError as error:
        raise absent() from error
    except KeyringLocked as error:
        raise locked() from error
