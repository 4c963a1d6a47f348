"""Sees to it that no process of ours outlives us, however we end.

A small shell in a session of its own holds the read end of a pipe; we tell it each process group
that we start and each that has ended. The pipe closes with us, even by `kill -9`: the shell then
ends every group it still holds.
"""

from __future__ import annotations

import logging
import os
import subprocess
import threading
from contextlib import suppress

logger = logging.getLogger(__name__)

# Only what POSIX sh has: in dash, `kill -TERM -123` is an error, `kill -s TERM -- -123` is not.
_SCRIPT = """
trap '' HUP INT TERM QUIT PIPE
held=' '
while read -r word group; do
    case $word in
    hold) held="$held$group " ;;
    drop) case $held in *" $group "*) held="${held%%" $group "*} ${held#*" $group "}" ;; esac ;;
    esac
done
[ -n "${held# }" ] || exit 0
for group in $held; do
    kill -s TERM -- "-$group"
    kill -s CONT -- "-$group"
done
sleep "$1"
for group in $held; do kill -s KILL -- "-$group"; done
"""
_ENDS_WITHIN = 2.0


class Reaper:
    """Holds process group ids until they are dropped; thread-safe; starts with the first one.

    Where no shell can be started the panel works on without this net, and the log says so.
    `pause` is the time between TERM and KILL, in seconds.
    """

    def __init__(self, shell: str = "/bin/sh", *, pause: float = 1.0) -> None:
        self._shell, self._pause = shell, pause
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._held: set[int] = set()
        self._usable = True

    @property
    def pid(self) -> int | None:
        """Of the shell, while it runs."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the shell unless it runs; blocks for milliseconds, so call it in a thread."""
        with self._lock:
            self._ready()

    def hold(self, group: int) -> None:
        """End `group` when we are gone. Blocks only while the shell is started."""
        with self._lock:
            self._held.add(group)
            self._tell(f"hold {group}\n")

    def drop(self, group: int) -> None:
        """`group` has ended; its number may belong to a stranger from now on."""
        with self._lock:
            if group in self._held:
                self._held.remove(group)
                self._tell(f"drop {group}\n")

    def close(self) -> None:
        """Close the pipe and wait for the shell, which takes the pause when it holds something.

        It stays closed: a start that was given up and is told late needs no other shell.
        """
        with self._lock:
            process, self._process = self._process, None
            self._usable = False
        if process is None or process.stdin is None:
            return
        with suppress(OSError):
            process.stdin.close()
        try:
            process.wait(self._pause + _ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _tell(self, line: str) -> None:
        for _ in range(2):
            process = self._ready()
            if process is None or process.stdin is None:
                return
            try:
                os.write(process.stdin.fileno(), line.encode())
                return
            except OSError:
                # Somebody killed the shell: a new one is told everything, this line included.
                self._forget(process)
                line = "".join(f"hold {group}\n" for group in sorted(self._held))

    def _ready(self) -> subprocess.Popen[bytes] | None:
        if self._process is None and self._usable:
            try:
                self._process = subprocess.Popen(
                    [self._shell, "-c", _SCRIPT, "jackfield-reaper", f"{self._pause:g}"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    cwd="/",
                    env={"PATH": "/usr/bin:/bin"},
                    bufsize=0,
                )
                if self._process.stdin is not None:
                    # A stopped shell must never stop us.
                    os.set_blocking(self._process.stdin.fileno(), False)
            except OSError as error:
                self._usable = False
                logger.warning("No reaper: %s cannot be started (%s)", self._shell, error.strerror)
        return self._process

    def _forget(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        process.kill()
        process.wait()
        self._process = None
