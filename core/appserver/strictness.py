"""Where the real app-server refuses because of the configuration, and with which words.

Everything else of the core reads a broken configuration leniently and says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread

from core.errors import INTERNAL, INVALID_REQUEST, CoreError
from core.protocol.initialize import ConfigWarning

RELOAD = "failed to reload config: "

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
        "plugin/uninstall",
    }
)
_WITHOUT_THREAD = frozenset({"app/installed", "mcpServer/oauth/login", "mcpServer/resource/read"})


class ConfigGate:
    """Asks for the strict reading of the configuration where the real one reads it strictly.

    `read` raises CoreError for a configuration that cannot be used; it may block on the disk. Its
    message may begin with `RELOAD`; what counts is the reason after it.
    """

    def __init__(self, read: Callable[[], None]) -> None:
        self._read = read

    async def check(self, method: str, params: Any) -> None:
        """Raise the refusal of `method`, if it has one."""
        said = _refusal(method, params)
        if said is None or (error := await self._error()) is None:
            return
        code, prefix = said
        raise CoreError(prefix + _reason(error), code=code, evidence=error.evidence)

    async def warnings(self) -> list[ConfigWarning]:
        """One for a configuration that cannot be used; `range` begins and ends at the fault."""
        error = await self._error()
        if error is None:
            return []
        place = error.evidence
        warning = ConfigWarning(
            summary="Invalid configuration; using defaults.", details=_reason(error)
        )
        if place is not None and place.file and place.line:
            at = {"line": place.line, "column": place.column or 1}
            warning = ConfigWarning(
                summary=warning.summary,
                details=warning.details,
                path=place.file,
                range={"start": at, "end": at},
            )
        return [warning]

    async def _error(self) -> CoreError | None:
        try:
            await anyio.to_thread.run_sync(self._read)
        except CoreError as error:
            return error
        return None


def _refusal(method: str, params: Any) -> tuple[int, str] | None:
    """Code and beginning of a method's refusal; None for one that takes any configuration."""
    thread = getattr(params, "thread_id", None)
    if method == "thread/start":
        return INVALID_REQUEST, "failed to load configuration: "
    if method == "mcpServerStatus/list":
        live = thread is not None and params.server_name is not None
        return None if live else (INTERNAL, RELOAD)
    if method == "plugin/uninstall" and "@" in params.plugin_id:
        return None  # one of this machine: what it writes, it reads itself
    if method in _ALWAYS or (method in _WITHOUT_THREAD and thread is None):
        return INTERNAL, RELOAD
    return None


def _reason(error: CoreError) -> str:
    return error.message.removeprefix(RELOAD)
