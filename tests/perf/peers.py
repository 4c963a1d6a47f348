"""App-servers side by side: ours and, where it is installed, the real one; asked over stdio."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

CODEX = "JACKFIELD_CODEX"
"""Environment variable that names the real program; otherwise it is looked for on PATH."""


@dataclass(frozen=True)
class Kind:
    """A program that can serve, list and be measured: `command` and the verb's words."""

    name: str
    command: tuple[str, ...]
    version: str = ""

    def words(self, *verb: str) -> list[str]:
        """The command line of a verb."""
        return [*self.command, *verb]


JACKFIELD = Kind("jackfield", (sys.executable, "-m", "tui"))


def codex() -> Kind | None:
    """The real one, or None where there is none.

    The native program itself, for its launcher is a process of another language that would be
    measured with it.
    """
    named = os.environ.get(CODEX) or shutil.which("codex")
    if not named or not Path(named).exists():
        return None
    program = _native(Path(named)) or Path(named)
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=30)
    return Kind("codex", (str(program),), said.stdout.strip())


def _native(launcher: Path) -> Path | None:
    scope = launcher.resolve().parent.parent.parent  # …/@openai/codex/bin/codex.js
    found = [path for path in scope.glob("codex*/**/bin/codex") if os.access(path, os.X_OK)]
    found += [path for path in scope.glob("codex*/**/codex/codex") if os.access(path, os.X_OK)]
    return found[0] if found else None


class Peer:
    """One running app-server that has been greeted.

    Attributes:
        greeted: Seconds from the process's start to the answer of `initialize`.
    """

    def __init__(self, kind: Kind, environ: Mapping[str, str], cwd: Path) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            kind.words("app-server"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            cwd=cwd,
        )
        self._buffer = bytearray()
        self._number = 0
        self.lines = 0
        info = {"name": "bench", "version": "1"}
        capabilities = {"experimentalApi": True}
        self.ask("initialize", {"clientInfo": info, "capabilities": capabilities})
        self._send({"jsonrpc": "2.0", "method": "initialized"})
        self.greeted = time.perf_counter() - began

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def timed(self, method: str, params: Mapping[str, Any], timeout: float = 120.0) -> float:
        """Milliseconds until the whole answer has been read; it is parsed only afterwards."""
        return self._timed(method, params, timeout)[0]

    def ask(self, method: str, params: Mapping[str, Any], timeout: float = 120.0) -> Any:
        """The result of a request. Raises RuntimeError for an error."""
        return json.loads(self._timed(method, params, timeout)[1])["result"]

    def _timed(self, method: str, params: Mapping[str, Any], timeout: float) -> tuple[float, bytes]:
        self._number += 1
        began = time.perf_counter()
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        mark = f'"id":{self._number}'.encode()
        while True:
            line = self._line(began + timeout)
            self.lines += 1
            # Notifications have a method near their beginning; answers are not parsed for it.
            head = line[:200].replace(b" ", b"")
            if mark in head and b'"method"' not in head:
                took = (time.perf_counter() - began) * 1000
                if b'"error"' in head and b'"result"' not in head:
                    raise RuntimeError(f"{method}: {line[:500].decode(errors='replace')}")
                return took, line
            if b'"method"' not in head:
                tail = line[-200:].replace(b" ", b"")
                if mark in tail:  # the id comes last
                    return (time.perf_counter() - began) * 1000, line

    def _line(self, end: float) -> bytes:
        assert self._process.stdout is not None
        fd = self._process.stdout.fileno()
        searched = 0
        while (at := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            left = end - time.perf_counter()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise TimeoutError("no answer")
            chunk = os.read(fd, 1 << 20)
            if not chunk:
                raise OSError(f"it has ended with {self._process.wait()}")
            self._buffer += chunk
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line

    def close(self) -> None:
        """End it as a client does, then for certain."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def ran(command: Sequence[str], environ: Mapping[str, str], cwd: Path) -> float:
    """Milliseconds that a command takes from start to end; its output is read and left."""
    began = time.perf_counter()
    done = subprocess.run(
        command, env=dict(environ), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True
    )
    took = (time.perf_counter() - began) * 1000
    if done.returncode != 0:
        raise OSError(f"{' '.join(command[-3:])} ended with {done.returncode}: {done.stderr!r}")
    return took
