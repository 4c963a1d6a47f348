"""A program on a pseudo-terminal, driven and timed from outside, as a person's terminal would."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType


class Terminal:
    """Runs a command on a pty; everything it writes is read at once and kept as bytes."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
        cwd: Path | None = None,
    ) -> None:
        self.started = time.perf_counter()
        self.output = bytearray()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                if cwd is not None:
                    os.chdir(cwd)
                os.execvpe(command[0], list(command), dict(environ))
            finally:
                os._exit(127)
        size = struct.pack("HHHH", rows, columns, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def press(self, keys: bytes) -> float:
        """Type; returns when it was typed."""
        at = time.perf_counter()
        os.write(self._fd, keys)
        return at

    def wait_for(self, text: bytes, *, since: int = 0, timeout: float = 20.0) -> float:
        """Seconds on the clock when `text` had appeared in the output after byte `since`."""
        end = time.perf_counter() + timeout
        while self.output.find(text, max(0, since)) < 0:
            left = end - time.perf_counter()
            if left <= 0 or not self.read(left):
                tail = bytes(self.output[-2000:])
                raise TimeoutError(f"{text!r} did not appear in {timeout} s; last bytes: {tail!r}")
        return time.perf_counter()

    def read(self, timeout: float) -> bool:
        """Take what has been written; False when the program has gone or nothing came."""
        ready, _, _ = select.select([self._fd], [], [], timeout)
        if not ready:
            return False
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:
            return False
        self.output += chunk
        return bool(chunk)

    def drain(self, quiet: float) -> None:
        """Read until nothing has come for `quiet` seconds."""
        while self.read(quiet):
            pass

    def rss(self) -> int:
        """Resident memory in bytes (Linux); 0 elsewhere."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")

    def end(self, grace: float = 5.0) -> int:
        """Ask it to go, then make it; returns the wait status."""
        for signum in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, signum)
            except ProcessLookupError:
                break
            end = time.perf_counter() + grace
            while time.perf_counter() < end:
                done, status = os.waitpid(self.pid, os.WNOHANG)
                if done:
                    os.close(self._fd)
                    return status
                self.read(0.02)
        return 0
