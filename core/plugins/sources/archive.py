"""Unpacks a foreign tarball with our own checks: plain files and directories below one folder."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable
from pathlib import PurePosixPath

FILES = 50_000
BYTES = 512 << 20
_PIECE = 1 << 20


class BadArchive(Exception):
    """The archive cannot be unpacked, or must not be."""


def unpack(
    archive: str,
    target: str,
    *,
    files: int = FILES,
    size: int = BYTES,
    tick: Callable[[], None] = lambda: None,
) -> int:
    """Unpack a gzipped tarball into the new directory `target`; how many files.

    Args:
        files, size: More entries, or more bytes in all, are refused.
        tick: Called for every entry; may raise to give up.

    Raises:
        BadArchive: Not a tarball; or an entry that is a link or device, leaves the target, or is
            there twice. Something may have been unpacked by then.
    """
    os.makedirs(target)
    unpacking = _Unpacking(target, files, size)
    try:
        with tarfile.open(archive, "r:gz") as opened:
            for member in opened:
                tick()
                unpacking.take(opened, member)
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise BadArchive(str(error) or type(error).__name__) from None
    return unpacking.files


class _Unpacking:
    def __init__(self, target: str, files: int, size: int) -> None:
        self._target = target
        self._most_files, self._most_bytes = files, size
        self._bytes = 0
        self._entries = 0
        self.files = 0

    def take(self, opened: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        """One entry."""
        parts = _parts(member)
        self._entries += 1
        self._bytes += max(0, member.size)
        if self._entries > self._most_files or self._bytes > self._most_bytes:
            raise BadArchive("the archive is too large")
        path = "/".join([self._target, *parts])
        if member.isdir():
            os.makedirs(path, exist_ok=True)
            return
        if not parts:
            raise BadArchive(f"plugin bundle tar entry `{member.name}` has no name")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        source = opened.extractfile(member)
        if source is None:
            raise BadArchive(f"plugin bundle tar entry `{member.name}` is no file")
        mode = 0o755 if member.mode & 0o111 else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(path, flags, mode)
        except FileExistsError:
            raise BadArchive(f"plugin bundle tar entry `{member.name}` is there twice") from None
        with os.fdopen(descriptor, "wb") as stream:
            while piece := source.read(_PIECE):
                stream.write(piece)
        self.files += 1


def _parts(member: tarfile.TarInfo) -> tuple[str, ...]:
    """Steps of an entry's path, none of which leads upwards."""
    name = member.name
    if member.issym() or member.islnk():
        raise BadArchive(f"plugin bundle tar entry `{name}` is a link")
    if not (member.isfile() or member.isdir()):
        raise BadArchive(f"plugin bundle tar entry `{name}` is neither file nor directory")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise BadArchive(f"plugin bundle tar entry `{name}` escapes extraction root")
    return path.parts
