"""Our own small state files: written whole, 0600, one writer at a time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(file: Path) -> Generator[None]:
    """Hold the lock beside `file`; other panels wait. Makes the folder when it is missing."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def replace_file(file: Path, text: str) -> None:
    """Put `text` in the place of the file, all at once; others can never read it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(name, file)
    except BaseException:
        os.unlink(name)
        raise
