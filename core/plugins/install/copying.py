"""Copies of foreign directories: files and directories only, links and devices left out."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress

from core.errors import InternalError
from core.plugins.layout import os_reason

_PIECE = 1 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
FAILED = "failed to install plugin: "


def copy_tree(
    source: str, target: str, *, without: str = "", tick: Callable[[], None] = lambda: None
) -> None:
    """Copy what `source` holds into the new directory `target`; permissions of files are kept.

    Symbolic links are left out, and so is what is neither file nor directory, and the right to
    run as somebody else.

    Args:
        without: A directory that may lie in `source` and is left out: the one that is staged in.
        tick: Called for every file; may raise to give up.

    Raises:
        InternalError: In the words of Codex 0.171.0; `target` may then exist in part.
    """
    left_out = _number(without)
    pending = [(source, target)]
    while pending:
        here, there = pending.pop()
        if there != target:
            _make(there)
        try:
            with os.scandir(here) as entries:
                found = list(entries)
        except OSError as error:
            raise _failed("read plugin source directory", error) from None
        for entry in found:
            tick()
            path = f"{there}/{entry.name}"
            if entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if left_out is None or _number(entry.path) != left_out:
                    pending.append((entry.path, path))
            elif entry.is_file(follow_symlinks=False):
                _copy_file(entry.path, path)


def _number(path: str) -> tuple[int, int] | None:
    with suppress(OSError):
        if path:
            status = os.lstat(path)
            return status.st_dev, status.st_ino
    return None


def _make(path: str) -> None:
    try:
        os.mkdir(path)
    except OSError as error:
        raise _failed("create plugin target directory", error) from None


def _copy_file(source: str, target: str) -> None:
    try:
        read = os.open(source, _READ)
        try:
            status = os.fstat(read)
            if not stat.S_ISREG(status.st_mode):
                return
            write = os.open(target, _WRITE, 0o600)
            with os.fdopen(read, "rb", closefd=False) as one, os.fdopen(write, "wb") as other:
                shutil.copyfileobj(one, other, _PIECE)
                os.fchmod(other.fileno(), stat.S_IMODE(status.st_mode) & 0o777)
        finally:
            os.close(read)
    except OSError as error:
        raise _failed("copy plugin file", error) from None


def _failed(what: str, error: OSError) -> InternalError:
    return InternalError(f"{FAILED}failed to {what}: {os_reason(error)}")
