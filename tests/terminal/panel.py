"""The real panel on a pseudo-terminal: keys in, and the screen as a person sees it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyte

from tests.conftest import REPO
from tests.perf.terminal import ANSWERS, Terminal

PATIENCE = 20.0
"""Seconds that anything may take on a busy machine."""
MARK = "PANEL_UNDER_TEST"
"""Environment variable that the panel and its servers carry, so that strays are found."""


ESCAPE = b"\x1b[27u"
"""The key in the kitty protocol: unlike a bare ESC it is never the beginning of another one."""


class PanelTerminal(Terminal):
    """`python -m tui` with a screen of `columns` and `rows`."""

    def __init__(
        self,
        *words: str,
        environ: Mapping[str, str],
        cwd: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._drawn = 0
        self._gone: int | None = None
        command = [sys.executable, "-m", "tui", *words]
        super().__init__(
            command, environ=environ, columns=columns, rows=rows, cwd=cwd, answers=ANSWERS
        )

    @property
    def screen(self) -> pyte.Screen:
        """What the terminal shows; drawn when somebody looks, for that takes its time."""
        self._stream.feed(bytes(self.output[self._drawn :]))
        self._drawn = len(self.output)
        return self._screen

    @property
    def lines(self) -> list[str]:
        """What is on the screen, right ends trimmed."""
        return [line.rstrip() for line in self.screen.display]

    def line(self, *words: str) -> str:
        """The first line of the screen with all those words in it, or ""."""
        return next((line for line in self.lines if all(word in line for word in words)), "")

    @property
    def squeezed(self) -> str:
        """All that is on the screen without blanks and marks, as if no line had been broken."""
        return "".join("".join(self.screen.display).replace("▌", "").split())

    def until(self, seen: Callable[[], Any], timeout: float = PATIENCE) -> float:
        """Read until `seen` is true; the seconds that it took."""
        began = time.monotonic()
        while not seen():
            left = began + timeout - time.monotonic()
            if left <= 0 or (not self.read(min(left, 0.5)) and self.status() is not None):
                shown = "\n".join(self.lines)
                raise AssertionError(f"not seen in {timeout:.1f} s; on the screen:\n{shown}")
        return time.monotonic() - began

    def shows(self, *words: str, timeout: float = PATIENCE) -> str:
        """Wait until one line has all those words; the line."""
        self.until(lambda: self.line(*words), timeout)
        return self.line(*words)

    def settle(self, quiet: float = 0.08, limit: float = 2.0) -> None:
        """Read until nothing has been painted for `quiet` seconds; clocks may tick on."""
        end = time.monotonic() + limit
        while self.read(quiet) and time.monotonic() < end:
            pass

    def type(self, keys: str, quiet: float = 0.08) -> None:
        """Type one key after the other, each when what the one before painted has come."""
        for key in keys:
            self.press(key.encode())
            self.settle(quiet)

    def status(self) -> int | None:
        """The wait status once the panel has ended; None before."""
        if self._gone is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self._gone = status
        return self._gone

    def ended(self, timeout: float = PATIENCE) -> int:
        """Wait for the end of the panel; its exit status, negative for a signal."""
        end = time.monotonic() + timeout
        while self.status() is None:
            if time.monotonic() > end:
                shown = "\n".join(self.lines)
                raise AssertionError(f"still runs after {timeout:.1f} s:\n{shown}")
            if not self.hung_up:
                self.read(0.02)
            else:
                os.sched_yield()
        return os.waitstatus_to_exitcode(self._gone or 0)

    hung_up = False

    def hang_up(self) -> None:
        """Close the terminal's window: the panel gets SIGHUP, and its terminal is gone."""
        self.hung_up = True
        os.close(self._fd)

    def kill(self, number: int) -> None:
        """Send the panel a signal."""
        os.kill(self.pid, number)

    def end(self, grace: float = 5.0) -> int:
        """End it, if a test has left it running."""
        try:
            if self.status() is None:
                if not self.hung_up:
                    return super().end(grace)
                os.kill(self.pid, signal.SIGKILL)
                _, self._gone = os.waitpid(self.pid, 0)
        finally:
            if not self.hung_up:
                self.hung_up = True
                try:
                    os.close(self._fd)
                except OSError:
                    pass
        return self._gone or 0


def panel_environ(home: Path, mark: str = "", **more: str) -> dict[str, str]:
    """The environment of a panel whose every folder is below `home`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(REPO), os.environ.get("PYTHONPATH")))),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TEXTUAL_ANIMATIONS": "none",
        "NO_PROXY": "127.0.0.1,localhost",
        **({MARK: mark} if mark else {}),
        **more,
    }


def marked(mark: str) -> dict[int, str]:
    """Command lines of all processes that carry the mark, by process id (Linux)."""
    wanted = f"{MARK}={mark}\0".encode()
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if wanted in (folder / "environ").read_bytes() + b"\0":
                words = (folder / "cmdline").read_bytes().split(b"\0")
                found[int(folder.name)] = b" ".join(words).decode(errors="replace")
        except OSError:
            continue
    return found
