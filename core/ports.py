"""Everything the core needs from outside, as Protocols; tests hand in fakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import httpx


class Clock(Protocol):
    """Time, so that tests can let it pass."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds that only rise; for durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable."""
        ...


class SecretStore(Protocol):
    """The system keyring behind a deadline. Raises `core.errors.CoreError` when it cannot say."""

    async def get(self, service: str, account: str) -> str | None: ...
    async def set(self, service: str, account: str, secret: str) -> None: ...
    async def delete(self, service: str, account: str) -> bool: ...
    async def lasts(self) -> bool:
        """What is put in is still there after the end of this session."""
        ...


class HttpFactory(Protocol):
    """Makes HTTP clients that share one TLS context, trust store and proxy setting."""

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        """A new client; whoever asks closes it. `timeout` in seconds for each read and write."""
        ...


class Browser(Protocol):
    """Opens a page for the person, never on our own terminal."""

    async def open(self, url: str) -> bool:
        """True when a browser took the URL."""
        ...


@dataclass(frozen=True, kw_only=True)
class Deps:
    """What a core is made from.

    Attributes:
        environ: The process environment, as it was at the start.
        cwd: Working directory of the panel's thread; absolute.
        state_dir, config_dir, cache_dir: Jackfield's own XDG folders; nothing of ours is ever
            put into CODEX_HOME.
        system_dir: Where the system and managed layers lie, `/etc/codex` outside tests.
        read_only: Refuse every write to files that are not ours.
    """

    clock: Clock
    secrets: SecretStore
    http: HttpFactory
    browser: Browser
    environ: Mapping[str, str] = field(repr=False)
    cwd: Path
    state_dir: Path
    config_dir: Path
    cache_dir: Path
    system_dir: Path = Path("/etc/codex")
    read_only: bool = False
