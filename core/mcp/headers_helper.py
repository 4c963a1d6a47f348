"""`http_headers_helper`: a shell command that prints the headers of a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import anyio

from core.mcp.faults import StartFailed
from core.ports import Clock
from core.process import Processes, RanTooLong, SpawnFailed

DEADLINE = 30.0
KEPT = 300.0
"""Seconds for which one run serves all requests."""
_LIMIT = 1 << 18


@dataclass
class _Kept:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    headers: dict[str, str] | None = field(default=None, repr=False)
    until: float = 0.0


class HeadersHelper:
    """Runs helpers, each command once at a time, and keeps what they printed for a while."""

    def __init__(self, processes: Processes, environ: Mapping[str, str], clock: Clock) -> None:
        self._processes, self._environ, self._clock = processes, environ, clock
        self._kept: dict[tuple[str, str], _Kept] = {}

    async def headers(self, command: str, cwd: str) -> dict[str, str]:
        """What `command` prints.

        Raises:
            StartFailed: It failed, took too long or printed something else.
        """
        kept = self._kept.setdefault((command, cwd), _Kept())
        async with kept.lock:
            if kept.headers is None or kept.until <= self._clock.monotonic():
                kept.headers = None
                kept.headers = await self._run(command, cwd)
                kept.until = self._clock.monotonic() + KEPT
            return dict(kept.headers)

    def forget(self, command: str, cwd: str) -> None:
        """What it printed was refused: run it again the next time."""
        if kept := self._kept.get((command, cwd)):
            kept.headers = None

    async def _run(self, command: str, cwd: str) -> dict[str, str]:
        try:
            done = await self._processes.run(
                ["/bin/sh", "-c", command],
                env=self._environ,
                cwd=cwd,
                deadline=DEADLINE,
                limit=_LIMIT,
            )
        except RanTooLong:
            said = f"MCP HTTP headers helper timed out after {DEADLINE:g}s"
            raise StartFailed(said, f"the headers helper did not end in {DEADLINE:g} s") from None
        except SpawnFailed as failed:
            raise StartFailed(f"{failed.message}", f"headers helper: {failed.message}") from None
        if done.exit_code != 0:
            how = (
                f"exit status: {done.exit_code}"
                if done.exit_code > 0
                else f"signal: {-done.exit_code}"
            )
            last = f" — {done.stderr[-1]}" if done.stderr else ""
            raise StartFailed(
                f"MCP HTTP headers helper exited with status {how}",
                f"the headers helper: {how}{last}",
            )
        return _object_of_strings(done.stdout)


def _object_of_strings(printed: bytes) -> dict[str, str]:
    try:
        value: Any = json.loads(printed)
    except ValueError:
        value = None
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        if all(isinstance(each, str) for each in found.values()):
            return found
    raise StartFailed(
        "MCP HTTP headers helper must output a JSON object of strings",
        "the headers helper printed no JSON object of strings",
    )
