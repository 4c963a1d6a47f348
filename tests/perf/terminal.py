"""A program on a pseudo-terminal, driven and timed from outside, as a person's terminal would."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

# Background colour, device attributes, synchronised output.
ANSWERS: Mapping[bytes, bytes] = {
    b"\x1b]11;?": b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
}

LONGEST = 512  # bytes of the longest thing that is waited for


class Terminal:
    """Runs a command on a pty; everything it writes is read at once and kept as bytes.

    Attributes:
        started: Clock (`time.perf_counter`) when the process was made.
        output: All that it has written.

    Args:
        answers: Questions of the program and what the terminal says to them, once each.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        columns: int = 120,
        rows: int = 40,
        cwd: Path | None = None,
        answers: Mapping[bytes, bytes] | None = None,
    ) -> None:
        self.output = bytearray()
        self._questions = dict(answers or {})
        self._ended = False
        self.started = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            try:
                # Here, so that the program never sees another size.
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
                if cwd is not None:
                    os.chdir(cwd)
                os.execvpe(command[0], list(command), dict(environ))
            finally:
                os._exit(127)

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

    def wait_for(
        self, wanted: bytes | re.Pattern[bytes], *, since: int = 0, timeout: float = 20.0
    ) -> float:
        """Seconds on the clock when `wanted` had appeared in the output after byte `since`."""
        pattern = re.compile(re.escape(wanted)) if isinstance(wanted, bytes) else wanted
        end = time.perf_counter() + timeout
        searched = max(0, since)
        while pattern.search(self.output, searched) is None:
            searched = max(searched, len(self.output) - LONGEST)
            left = end - time.perf_counter()
            if left <= 0 or not self.read(left):
                tail = bytes(self.output[-2000:])
                raise TimeoutError(f"{wanted!r} did not appear in {timeout} s; last: {tail!r}")
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
        if self._questions:
            self._answer()
        return bool(chunk)

    def _answer(self) -> None:
        for question, answer in list(self._questions.items()):
            if question in self.output:
                del self._questions[question]
                os.write(self._fd, answer)

    def drain(self, quiet: float, most: float = 10.0) -> None:
        """Read until nothing has come for `quiet` seconds, for `most` seconds at most."""
        end = time.perf_counter() + most
        while time.perf_counter() < end and self.read(quiet):
            pass

    def watch(self, seconds: float) -> int:
        """Read for that long; how many bytes came."""
        before, end = len(self.output), time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            self.read(left)
        return len(self.output) - before

    def cpu(self) -> float:
        """Seconds of processor time that its threads have used (Linux); 0 elsewhere."""
        return cpu_seconds(self.pid)

    def end(self, grace: float = 5.0) -> int:
        """Ask it to go, then make it; returns the wait status."""
        if self._ended:
            return 0
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
                    self._ended = True
                    return status
                self.read(0.02)
        return 0


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and of its threads that live; 0 where it cannot be told."""
    total = 0
    for task in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(task.read_text().split()[0])
        except (OSError, IndexError, ValueError):
            continue
    return total / 1e9


def memory(pid: int) -> tuple[float, float]:
    """RSS and PSS of a process in MB (Linux); zeros elsewhere."""
    found = {"Rss": 0, "Pss": 0}
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in found:
                found[name] = int(rest.split()[0])
    except (OSError, IndexError, ValueError):
        pass
    return found["Rss"] / 1000, found["Pss"] / 1000


def settle(pid: int, quiet: float = 0.3, most: float = 15.0) -> None:
    """Wait until a process has used no processor time for that many seconds."""
    end = time.perf_counter() + most
    used = ticks(pid)
    while time.perf_counter() < end:
        time.sleep(quiet)
        before, used = used, ticks(pid)
        if used - before < 0.015:
            return


def ticks(pid: int) -> float:
    """Seconds of processor time that a process has used, its ended threads too (Linux)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
