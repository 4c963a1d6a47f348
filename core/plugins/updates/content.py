"""What a plugin's directory holds, as digests: the same version may have another content.

Only what an install would copy counts. A copy in use grows files of its own (byte code, packages),
so a file that only the copy has is a difference only where no tool is known to put such.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FILES = 20_000
BYTES = 256 << 20
_PIECE = 1 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_MIGRATED = ".codex-plugin/migrated-command-skills"
_SUBSTITUTE = ".codex-plugin/plugin.json"
_GROWN = frozenset(
    {
        "__pycache__",
        "node_modules",
        ".venv",
        "venv",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".cache",
        ".DS_Store",
    }
)


class TooBig(Exception):
    """More than is compared: over 20,000 files or 256 MiB."""


@dataclass(frozen=True)
class Content:
    """Digests by path below the root, with `/` between steps."""

    files: Mapping[str, bytes]

    @property
    def digest(self) -> str:
        """One SHA-256 over everything, in hex."""
        whole = hashlib.sha256()
        for path in sorted(self.files):
            whole.update(os.fsencode(path) + b"\0" + self.files[path])
        return whole.hexdigest()


class ContentReader:
    """Reads directories; a file whose time, size and number are as before is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int, int, int], bytes]] = {}

    def read(self, root: str, tick: Callable[[], None] = lambda: None) -> Content:
        """Everything below `root`, `.git` and what an install makes up aside. Blocks.

        Args:
            tick: Called for every file.

        Raises:
            OSError: Something cannot be read.
            TooBig: There is too much of it.
        """
        files: dict[str, bytes] = {}
        pending, total = [""], 0
        while pending:
            here = pending.pop()
            with os.scandir(f"{root}/{here}" if here else root) as entries:
                found = list(entries)
            for entry in found:
                tick()
                path = f"{here}/{entry.name}" if here else entry.name
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git" and path != _MIGRATED:
                        pending.append(path)
                elif entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_size
                    if len(files) >= FILES or total > BYTES:
                        raise TooBig(root)
                    files[path] = self._file(entry.path, status)
        return Content(files)

    def _file(self, path: str, status: os.stat_result) -> bytes:
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
        known = self._known.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        runs = b"x" if status.st_mode & stat.S_IXUSR else b"-"
        digest = hashlib.sha256(runs)
        with os.fdopen(os.open(path, _READ), "rb") as stream:
            while piece := stream.read(_PIECE):
                digest.update(piece)
        self._known[path] = (stamp, digest.digest())
        return digest.digest()


def difference(source: Content, copy: Content) -> list[str]:
    """Paths in which a copy differs from what it would be copied from now, sorted."""
    found = [path for path, digest in source.files.items() if copy.files.get(path) != digest]
    found += [path for path in copy.files if path not in source.files and not _is_grown(path)]
    return sorted(found)


def _is_grown(path: str) -> bool:
    return path == _SUBSTITUTE or not _GROWN.isdisjoint(path.split("/"))
