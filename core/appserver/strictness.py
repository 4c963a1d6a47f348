"""Where the real app-server refuses because of the configuration.

Everything else of the core reads a broken configuration leniently and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio.to_thread

from core.config.model import Loaded
from core.config.strict import Kind, strict
from core.config.warnings import config_warnings

Load = Callable[[Path | None, Mapping[str, Any] | None], Loaded]
"""As `ConfigStore.load`: a working directory, or None for what belongs to no thread; overrides."""

_ALWAYS = frozenset(
    {
        "app/list",
        "app/read",
        "marketplace/add",
        "marketplace/remove",
        "marketplace/upgrade",
        "plugin/install",
        "plugin/installed",
        "plugin/list",
        "plugin/read",
        "plugin/reconcile",
        "plugin/search",
        "plugin/share/checkout",
        "plugin/share/delete",
        "plugin/share/list",
        "plugin/share/save",
        "plugin/share/updateTargets",
        "plugin/skill/read",
    }
)
_WITHOUT_THREAD = frozenset({"app/installed", "mcpServer/oauth/login", "mcpServer/resource/read"})


class ConfigGate:
    """Reads the configuration strictly where the real one does; observed in Codex 0.171.0."""

    def __init__(self, load: Load, cwd: Path) -> None:
        self._load = load
        self._cwd = cwd

    async def check(self, method: str, params: Any) -> None:
        """Raise the refusal of `method`, if the configuration causes one."""
        if (kind := _reads(method, params)) is not None:
            await anyio.to_thread.run_sync(self._check, kind, params)

    async def warnings(self) -> list[dict[str, Any]]:
        """What is told right after the handshake, of the server's own directory."""
        return await anyio.to_thread.run_sync(lambda: config_warnings(self._load(self._cwd, None)))

    def _check(self, kind: Kind, params: Any) -> None:
        cwd = None
        overrides = None
        if kind == "thread":
            cwd = self._cwd / (params.cwd or "")
            overrides = params.config
        elif kind == "read" and params.cwd is not None:
            cwd = self._cwd / params.cwd
        strict(self._load(cwd, overrides), kind)


def _reads(method: str, params: Any) -> Kind | None:
    """How a method reads the configuration; None when it takes any."""
    thread = getattr(params, "thread_id", None)
    match method:
        case "thread/start":
            return "thread"
        case "config/read":
            return "read"
        case "configRequirements/read":
            return "layers"
        case "mcpServerStatus/list":
            return None if thread is not None and params.server_name is not None else "reload"
        case "plugin/uninstall":  # one of this machine: what it writes, it reads itself
            return None if "@" in params.plugin_id else "reload"
        case _:
            strictly = method in _ALWAYS or (method in _WITHOUT_THREAD and thread is None)
            return "reload" if strictly else None
