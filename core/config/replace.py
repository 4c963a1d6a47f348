"""Replaces a file that others write too: under our lock, whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Generator
from pathlib import Path

from core.config.files import os_reason, read_bytes
from core.errors import InternalError

LOCK_SECONDS = 5.0
_LOCK_STEP = 0.01
_STALE_SECONDS = 60.0
_NEW_MODE = 0o600


class Changed(Exception):
    """Somebody else wrote the file after we had read it."""


@contextlib.contextmanager
def file_lock(state_dir: Path, target: str) -> Generator[None]:
    """Hold our lock on a file. It keeps our own processes apart; Codex takes none.

    The lock lies among our own files, never beside the target.

    Raises:
        InternalError: It could not be had within five seconds.
    """
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:24]
    folder = state_dir / "locks"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InternalError(f"cannot lock {target}: {os_reason(error)}") from None
    try:
        _wait_for(descriptor, target)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, target: str) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EINTR):
                raise InternalError(f"cannot lock {target}: {os_reason(error)}") from None
        if time.monotonic() > deadline:
            raise InternalError(f"another Jackfield is busy with {target}")
        time.sleep(_LOCK_STEP)


def replace_file(target: str, before: bytes | None, after: bytes) -> None:
    """Put `after` in the place of `before`, keeping mode and owner; durable when it returns.

    Args:
        target: Real path: symlinks are already resolved.
        before: What was read; None when there was no file.

    Raises:
        Changed: The file holds something else by now.
        OSError: It cannot be written.
    """
    folder, name = os.path.split(target)
    _sweep(folder, name)
    temporary = os.path.join(folder, f".{name}.jackfield-{secrets.token_hex(6)}")
    status = _status(target)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600)
    try:
        try:
            _write_all(descriptor, after)
            _take_after(descriptor, status)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if read_bytes(target) != before:
            raise Changed
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _status(target: str) -> os.stat_result | None:
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _take_after(descriptor: int, status: os.stat_result | None) -> None:
    """Mode and owner of the file that is replaced; private when there was none."""
    if status is None:
        os.fchmod(descriptor, _NEW_MODE)
        return
    if (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        # Giving a file away needs privileges; without them it would change hands silently.
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _sweep(folder: str, name: str) -> None:
    """Remove what a killed process of ours may have left there."""
    prefix = f".{name}.jackfield-"
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.startswith(prefix):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _STALE_SECONDS:
                        os.unlink(entry.path)
