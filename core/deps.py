"""The real world's side of every port."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from core.auth.secrets import KeyringSecrets
from core.browser import SystemBrowser
from core.ports import Deps

if TYPE_CHECKING:
    import httpx

    from core.ports import HttpFactory

APP = "jackfield"


class SystemClock:
    """The machine's time."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only rise."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait; cancellable."""
        await anyio.sleep(seconds)


class LazyHttp:
    """Loads nothing of HTTP before the first client is asked for: it would cost the start 40 ms."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._factory: HttpFactory | None = None

    async def client(self, *, timeout: float = 30.0) -> httpx.AsyncClient:
        """As `core.net.http.HttpClients.client`."""
        if self._factory is None:
            from core.net.http import HttpClients

            self._factory = HttpClients(self._environ)
        return await self._factory.client(timeout=timeout)


def real_deps(environ: Mapping[str, str], cwd: Path, *, read_only: bool = False) -> Deps:
    """What a core needs on this machine.

    Args:
        environ: The process environment; kept as it is now.
        cwd: Made absolute, its symbolic links kept.
        read_only: Refuse every write to files that are not ours.
    """
    environ = dict(environ)
    return Deps(
        clock=SystemClock(),
        secrets=KeyringSecrets(environ),
        http=LazyHttp(environ),
        browser=SystemBrowser(environ),
        environ=environ,
        cwd=cwd.absolute(),
        state_dir=_folder(environ, "XDG_STATE_HOME", ".local/state"),
        config_dir=_folder(environ, "XDG_CONFIG_HOME", ".config"),
        cache_dir=_folder(environ, "XDG_CACHE_HOME", ".cache"),
        read_only=read_only,
    )


def _folder(environ: Mapping[str, str], variable: str, usual: str) -> Path:
    """Our folder of a kind (XDG base directory specification 0.8: relative values are ignored)."""
    chosen = Path(environ.get(variable, ""))
    if chosen.is_absolute():
        return chosen / APP
    home = Path(environ.get("HOME", ""))
    return (home if home.is_absolute() else Path.home()) / usual / APP
