"""Deadlines whose clock can be stopped: while a person is asked, nobody is late."""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import anyio


class Deadlines:
    """All running deadlines of one connection. Pauses nest: the last `resume` lets time go on."""

    def __init__(self) -> None:
        self._remaining: dict[anyio.CancelScope, float] = {}
        self._pauses = 0

    @contextmanager
    def limit(self, seconds: float | None) -> Generator[anyio.CancelScope]:
        """Cancel the block after so many seconds of running time; None = never."""
        with anyio.CancelScope() as scope:
            if seconds is None:
                yield scope
                return
            self._remaining[scope] = seconds
            if not self._pauses:
                scope.deadline = anyio.current_time() + seconds
            try:
                yield scope
            finally:
                del self._remaining[scope]

    def pause(self) -> None:
        """Stop the clock of all deadlines, and of those that begin meanwhile."""
        self._pauses += 1
        if self._pauses == 1:
            now = anyio.current_time()
            for scope in self._remaining:
                self._remaining[scope] = max(0.0, scope.deadline - now)
                scope.deadline = math.inf

    def resume(self) -> None:
        """Let time go on, with what was left at the pause."""
        if self._pauses == 0:
            return
        self._pauses -= 1
        if self._pauses == 0:
            now = anyio.current_time()
            for scope, seconds in self._remaining.items():
                scope.deadline = now + seconds
