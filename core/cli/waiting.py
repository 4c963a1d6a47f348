"""Waiting for a person: a line on stdin, a sign-in in a browser."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from core.channels import Subscription
from core.protocol.events import LoginCompleted

_CHUNK = 4096
_MOST = 65536


class StdinLines:
    """Lines of stdin as a person types or pastes them; not echoed on a terminal.

    Nothing may have been read from `sys.stdin` before, nor be read after.
    """

    def __init__(self) -> None:
        self._got = b""
        self._ended = False

    async def next(self) -> str | None:
        """The next line, None at the end of the input; cancellable."""
        number = sys.stdin.fileno()
        with _unechoed(number):
            while b"\n" not in self._got and not self._ended and len(self._got) < _MOST:
                try:
                    await anyio.wait_readable(number)
                except PermissionError:
                    pass  # a plain file or a device: it is always ready
                chunk = os.read(number, _CHUNK)
                self._ended = not chunk
                self._got += chunk
        line, _, self._got = self._got.partition(b"\n")
        return None if self._ended and not line else line.decode("utf-8", "replace")


async def line_from_stdin() -> str | None:
    """The next line and no other, see `StdinLines.next`."""
    return await StdinLines().next()


@contextmanager
def _unechoed(number: int) -> Generator[None]:
    if not os.isatty(number):
        yield
        return
    import termios

    before = termios.tcgetattr(number)
    silent = list(before)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(number, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
        print(file=sys.stderr)


async def login_ended(events: Subscription, login_id: str) -> LoginCompleted:
    """How a sign-in ended; the subscription must be older than the sign-in."""
    async for event in events:
        if isinstance(event, LoginCompleted) and event.login_id == login_id:
            return event
    raise RuntimeError("the core ended before the sign-in did")
