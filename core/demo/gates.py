"""Doors in the demo world: a source waits before its answer until a test opens its door."""

from __future__ import annotations

import threading
from pathlib import Path

PATIENCE = 60.0


class Gates:
    """By name: `directory/1` … `directory/9`, `workspace/1`, `tools`, `server/NAME`, `install`.

    Doors of programs are files in `folder`, since they are other processes.

    Args:
        folder: Exists; a door is open when a file of its name is in it.
        closed: Doors are closed until they are opened; otherwise all are open.
    """

    def __init__(self, folder: Path, *, closed: bool) -> None:
        self._folder, self._closed = folder, closed
        self._open: set[str] = set()
        self._shut = threading.Condition()
        self._waiting: set[str] = set()
        self._ended = False

    def file(self, name: str) -> str:
        """What a program waits for; "" when its door is open."""
        return str(self._file(name)) if self._closed else ""

    def _file(self, name: str) -> Path:
        return self._folder / name.replace("/", "-")

    def release(self, *names: str) -> None:
        """Open doors, whether or not somebody waits."""
        with self._shut:
            self._open.update(names)
            self._shut.notify_all()
        for name in names:
            self._file(name).touch()

    def hold(self, *names: str) -> None:
        """Close doors of the world's own servers again; a program has passed its door for good."""
        with self._shut:
            self._closed = True
            self._open.difference_update(names)

    def release_all(self) -> None:
        """Open every door for good."""
        with self._shut:
            self._ended = True
            self._shut.notify_all()

    def pass_through(self, name: str) -> None:
        """Wait at a door, in a server's thread."""
        if not self._closed:
            return
        with self._shut:
            self._waiting.add(name)
            self._shut.notify_all()
            self._shut.wait_for(lambda: self._ended or name in self._open, PATIENCE)
            self._waiting.discard(name)

    def wait_for(self, name: str, timeout: float = PATIENCE) -> bool:
        """Block until somebody waits at the door; True when somebody does. Call it in a thread."""
        with self._shut:
            return self._shut.wait_for(lambda: name in self._waiting, timeout)
