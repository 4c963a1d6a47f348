"""Clients that were registered for us, kept among our own files: never in CODEX_HOME."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio.to_thread
import msgspec

from core.config.replace import Changed, file_lock, replace_file
from core.ports import Clock


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One client of an authorization server.

    Attributes:
        redirect: The redirect URI that it was registered with.
        secret_ends: When the secret expires, seconds since the epoch; 0 = never.
        sends_resource: The server takes resource indicators (RFC 8707).
        allowed: Hosts on private networks that may be contacted for it.
    """

    issuer: str
    client_id: str
    redirect: str
    secret: str | None = field(default=None, repr=False)
    secret_ends: float = 0.0
    method: str = "none"
    sends_resource: bool = True
    allowed: tuple[str, ...] = ()


class ClientStore:
    """By store key of the MCP server. What cannot be read or written is as if there were none."""

    def __init__(self, state_dir: Path, clock: Clock) -> None:
        self._state_dir, self._clock = state_dir, clock
        self._file = state_dir / "oauth-clients.json"

    async def get(self, key: str) -> Registration | None:
        """The client of a server, unless its secret has expired."""
        entry: Any = (await anyio.to_thread.run_sync(self._entries)).get(key)
        try:
            found = msgspec.convert(entry, Registration)
        except msgspec.ValidationError:
            return None
        ended = found.secret is not None and 0 < found.secret_ends <= self._clock.now()
        return None if ended else found

    async def put(self, key: str, registration: Registration) -> None:
        """Keep it in place of the one that is there."""
        kept: Any = msgspec.to_builtins(registration)

        def change(known: dict[str, Any]) -> dict[str, Any]:
            return {**known, key: kept}

        await anyio.to_thread.run_sync(self._change, change)

    async def remove(self, key: str) -> None:
        """Forget it; the server is not told."""

        def change(known: dict[str, Any]) -> dict[str, Any]:
            return {name: entry for name, entry in known.items() if name != key}

        await anyio.to_thread.run_sync(self._change, change)

    def _content(self) -> bytes | None:
        try:
            return self._file.read_bytes()
        except OSError:
            return None

    def _entries(self) -> dict[str, Any]:
        try:
            value = msgspec.json.decode(self._content() or b"{}")
        except (msgspec.DecodeError, RecursionError):
            return {}
        return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

    def _change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        try:
            with file_lock(self._state_dir, str(self._file)):
                os.makedirs(self._state_dir, mode=0o700, exist_ok=True)
                before, known = self._content(), self._entries()
                changed = change(known)
                if changed != known:
                    replace_file(str(self._file), before, msgspec.json.encode(changed))
        except (Changed, OSError):
            pass  # it is registered anew next time
