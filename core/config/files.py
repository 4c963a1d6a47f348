"""Reads configuration files, once per change, and remembers what was good last."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
import time
from dataclasses import dataclass

from core.config.toml.fault import TomlFault
from core.config.toml.read import NotUtf8, TomlText, decode, read_toml

MAX_BYTES = 64 * 1024 * 1024
_RACY_NS = 50_000_000

Signature = tuple[int, ...] | None
"""Of a file: changes when the file does. None when there is none."""


class Unreadable(Exception):
    """A file is there and cannot be read; the text is the real one's."""


def os_reason(error: OSError) -> str:
    """`No such file or directory (os error 2)`."""
    number = error.errno or 0
    return f"{os.strerror(number)} (os error {number})"


def signature(path: str) -> Signature:
    """Cheap; a file that cannot be looked at has one too."""
    try:
        status = os.stat(path)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        return (-(error.errno or 1),)
    except ValueError:
        return None  # no file has such a name: a NUL, or what the system's encoding lacks
    return (
        status.st_mtime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
        status.st_ctime_ns,
        status.st_mode,
    )


def read_bytes(path: str) -> bytes | None:
    """The content of a regular file; None when there is none.

    Raises:
        Unreadable: Directory, pipe, no permission, too big.
    """
    try:
        # A pipe that somebody put in the file's place must not hold us up.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise Unreadable(os_reason(error)) from None
    except ValueError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Unreadable(f"path `{path}` is not a file")
        if status.st_size > MAX_BYTES:
            raise Unreadable(f"larger than {MAX_BYTES // (1024 * 1024)} MiB")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise Unreadable(os_reason(error)) from None
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class Source:
    """What a file said when it was last read.

    Attributes:
        path: As asked for; symlinks are not resolved.
        read: Its text and value, None when absent or faulty.
        good: The last text that could be read, for display while `read` is None.
        fault: TOML fault, with `text` to point into.
        unreadable: Why it could not be read at all, or "".
        text: The faulty text.
        digest: Of the content; "" when absent.
    """

    path: str
    read: TomlText | None = None
    good: TomlText | None = None
    fault: TomlFault | None = None
    unreadable: str = ""
    text: str = ""
    digest: str = ""

    @property
    def exists(self) -> bool:
        """Something lies there, readable or not."""
        return bool(self.read or self.fault or self.unreadable)


class Sources:
    """Keeps one `Source` per path; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[Signature, bool, Source]] = {}

    def get(self, path: str) -> Source:
        """The source, read anew when the file has changed since."""
        now = signature(path)
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept[0] == now and kept[1]:
                return kept[2]
        # A file written a moment ago can be written again within one tick of its clock.
        settled = now is None or time.time_ns() - now[0] > _RACY_NS
        source = self._read(path, kept[2] if kept else None)
        with self._lock:
            self._kept[path] = (now, settled, source)
        return source

    def _read(self, path: str, before: Source | None) -> Source:
        good = before.good if before else None
        try:
            data = read_bytes(path)
            if data is None:
                return Source(path)
            digest = hashlib.sha256(data).hexdigest()
            if before is not None and before.digest == digest:
                return before
            text = decode(data)
        except (Unreadable, NotUtf8) as error:
            return Source(path, good=good, unreadable=str(error))
        try:
            read = read_toml(text)
        except TomlFault as fault:
            return Source(path, good=good, fault=fault, text=text, digest=digest)
        return Source(path, read=read, good=read, digest=digest)
