"""Sandbox metadata on `tools/call`: what a server that confines its own work is told to allow.

Source: observed in Codex 0.171.0. A server announces the experimental capability
`codex/sandbox-state` (or `codex/sandbox-state-meta`) with an object; `_meta` of each call then
has the same value under both names, and for programs on this machine the launcher that enforces it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

import anyio
import anyio.to_thread

from core.errors import CoreError, InternalError
from core.mcp.client.session import ServerHello
from core.mcp.spec import Program, ServerSpec
from core.process import Processes

STATE, STATE_META = "codex/sandbox-state", "codex/sandbox-state-meta"
LAUNCHER = "codex/sandbox-launcher"
RESERVED = frozenset({STATE, STATE_META, LAUNCHER, "threadId"})
"""Members of `_meta` that only we may set: of a caller they are no authority."""
VARIABLE = "JACKFIELD_CODEX"
"""Environment variable with the absolute path of the launcher; nothing is looked for on PATH."""
LOCAL = "local"
_PROBE_DEADLINE = 5.0


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """What a thread's tools may do.

    Attributes:
        state: The value as it is sent, taken over unchanged, members that we do not know included.
    """

    state: Mapping[str, Any]


def local_permissions(
    profile: Mapping[str, Any], cwd: Path, *, legacy_landlock: bool = False
) -> Permissions:
    """Of a profile that was worked out here. Raises ValueError when `cwd` is not absolute.

    A host that is not Codex has no sandbox program of its own: that member is null.
    """
    return Permissions(
        state={
            "permissionProfile": profile,
            "codexLinuxSandboxExe": None,
            "sandboxCwd": cwd.as_uri(),
            "useLegacyLandlock": legacy_landlock,
            "useMxc": False,
        }
    )


class Launcher:
    """The program that enforces a state, as it was configured; asked once whether it can.

    Args:
        path: Sent unresolved and unchanged; None where nothing is configured.
    """

    def __init__(self, path: str | None, processes: Processes) -> None:
        self._path, self._processes = path, processes
        self._lock = anyio.Lock()
        self._known: tuple[object, bool] | None = None

    @property
    def fault(self) -> str:
        """Why there is none, before anything is tried; "" when one is configured."""
        if not self._path:
            return f"{VARIABLE} is not set"
        if not os.path.isabs(self._path):
            return f"{VARIABLE} is not an absolute path"
        try:
            os.fsencode(self._path).decode("utf-8")
        except UnicodeError:
            return f"{VARIABLE} is not UTF-8"
        return ""

    async def path(self) -> str | None:
        """The configured path, when the program there knows how; None otherwise.

        Runs it at most once as long as the file stays the same; 5 s at most.
        """
        if self.fault or self._path is None:
            return None
        async with self._lock:
            identity = await anyio.to_thread.run_sync(_identity, self._path)
            if identity is None:
                return None
            if self._known is None or self._known[0] != identity:
                self._known = identity, await self._probe(self._path)
            return self._path if self._known[1] else None

    async def _probe(self, path: str) -> bool:
        try:
            done = await self._processes.run(
                [path, "sandbox", "--sandbox-state-json", "{}", "--help"],
                env={},
                deadline=_PROBE_DEADLINE,
                limit=1,
            )
        except CoreError:
            return False
        return done.exit_code == 0


def _identity(path: str) -> tuple[object, ...] | None:
    """Of the file; None when it is no program."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or not os.access(path, os.X_OK):
        return None
    return path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class Sandboxing:
    """What the calls of one thread are bound to.

    Attributes:
        permissions: As they are now; None when they cannot be expressed exactly, and a server
            then has no authority at all.
    """

    permissions: Callable[[], Permissions | None]
    launcher: Launcher


class Bindable(Protocol):
    """The part of a connection that calls are bound to."""

    @property
    def spec(self) -> ServerSpec: ...

    @property
    def hello(self) -> ServerHello | None: ...


class Binding:
    """The authority of one call: taken when the call is prepared, checked before it is sent."""

    def __init__(self, connection: Bindable, sandboxing: Sandboxing | None) -> None:
        self._connection, self._sandboxing = connection, sandboxing
        self._fingerprint = connection.spec.fingerprint
        self._permissions = sandboxing.permissions() if sandboxing is not None else None

    async def meta(self) -> dict[str, Any]:
        """What the call's `_meta` gets; empty for a server that does not ask for it.

        Raises:
            InternalError: The configuration is another one than when the call was prepared.
        """
        if self._sandboxing is None or not advertises(self._connection.hello):
            return {}
        launcher = None
        if _is_local_program(self._connection.spec):
            launcher = await self._sandboxing.launcher.path()
        if self._sandboxing.permissions() != self._permissions or (
            self._connection.spec.fingerprint != self._fingerprint
        ):
            raise InternalError(
                "MCP server has no captured permission authority",
                hint="the configuration has changed meanwhile; call it once more",
            )
        if self._permissions is None:
            return {}
        meta: dict[str, Any] = {STATE: self._permissions.state, STATE_META: self._permissions.state}
        if launcher is not None:
            meta[LAUNCHER] = {"codexExecutable": launcher}
        return meta


def advertises(hello: ServerHello | None) -> bool:
    """The server confines its work by what it is told."""
    experimental: Any = hello.capabilities.get("experimental") if hello is not None else None
    if not isinstance(experimental, dict):
        return False
    known = cast("dict[str, Any]", experimental)
    return any(isinstance(known.get(name), dict) for name in (STATE, STATE_META))


def lack(connection: Bindable, sandboxing: Sandboxing | None) -> str:
    """What such a server lacks, for people; "" when nothing, or when it asks for nothing."""
    if sandboxing is None or not advertises(connection.hello):
        return ""
    if sandboxing.permissions() is None:
        return "it is told no permissions: they cannot be expressed exactly"
    if not _is_local_program(connection.spec) or not sandboxing.launcher.fault:
        return ""
    return f"it has no launcher for its sandbox: {sandboxing.launcher.fault}"


def unreserved(meta: Mapping[str, Any]) -> dict[str, Any]:
    """A caller's `_meta` without what only we may say."""
    return {name: value for name, value in meta.items() if name not in RESERVED}


def _is_local_program(spec: ServerSpec) -> bool:
    return isinstance(spec.target, Program) and spec.environment_id in (None, LOCAL)
