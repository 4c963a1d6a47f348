"""The switch from one installed copy to the next: one rename, seen whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import os
from contextlib import suppress

from core.errors import InternalError
from core.plugins.install.copying import FAILED
from core.plugins.install.staging import FORMER
from core.plugins.layout import os_reason

_EXCHANGE = 2  # RENAME_EXCHANGE of linux/fs.h
_AT_FDCWD = -100
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}
_OCCUPIED = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


def activate(staged: str, target: str, version: str, staging: str) -> None:
    """Make `staged/VERSION` the only version of the plugin directory `target`.

    Whoever is killed in between leaves the old or the new copy whole; never none.

    Args:
        staged: A directory that holds nothing but the new version.
        staging: What has to leave `target` is moved in here.

    Raises:
        InternalError: In the words of Codex 0.171.0; the old copy is as it was.
    """
    try:
        os.rename(staged, target)
    except OSError as error:
        if error.errno not in _OCCUPIED:
            raise _failed("entry", error) from None
        if os.path.islink(target):
            move_aside(target, staging)
            activate(staged, target, version, staging)
        elif os.path.lexists(f"{target}/{version}"):
            _swap(staged, target, staging)
        else:
            _add(staged, target, version, staging)


def _swap(staged: str, target: str, staging: str) -> None:
    try:
        if exchange(staged, target):
            return
        former = move_aside(target, staging)
        try:
            os.rename(staged, target)
        except OSError:
            os.rename(former, target)
            raise
    except OSError as error:
        raise _failed("updated plugin cache entry", error) from None


def _add(staged: str, target: str, version: str, staging: str) -> None:
    try:
        os.rename(f"{staged}/{version}", f"{target}/{version}")
    except OSError as error:
        raise _failed("updated plugin cache version", error) from None
    with suppress(OSError):
        others = [
            entry.path
            for entry in os.scandir(target)
            if entry.name != version and entry.is_dir(follow_symlinks=False)
        ]
        os.makedirs(f"{staging}/replaced", exist_ok=True)
        for number, path in enumerate(others):
            os.rename(path, f"{staging}/replaced/{number}")


def _failed(what: str, error: OSError) -> InternalError:
    named = f"plugin cache {what}" if what == "entry" else what
    return InternalError(f"{FAILED}failed to activate {named}: {os_reason(error)}")


def move_aside(path: str, staging: str) -> str:
    """Move something into a staging directory, from where a crash brings it back.

    Raises:
        OSError: It stays where it is.
    """
    former = f"{staging}/{FORMER}"
    os.makedirs(former, exist_ok=True)
    moved = f"{former}/{os.path.basename(path)}"
    os.rename(path, moved)
    return moved


def exchange(one: str, other: str) -> bool:
    """Let two paths trade places at once; False where the system cannot do that.

    Raises:
        OSError: It can, but not these two.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None)
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), one, None, other)
