"""Sockets in the file system: where one may lie, who listens on it, who calls."""

from __future__ import annotations

import fcntl
import os
import socket
import stat
import struct
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.errors import CoreError

SCHEME = "unix:"
LONGEST = 103
"""Bytes of a path; the smallest that a system allows."""
_BACKLOG = 64
_PRIVATE = 0o700


def socket_path(url: str) -> Path:
    """The absolute path in `unix:PATH` or `unix://PATH`.

    Raises:
        ValueError: It names none; the text says why.
    """
    text = url.removeprefix(SCHEME)
    text = text[2:] if text.startswith("//") else text
    if text == url or not text:
        raise ValueError(f"`{url}` is not {SCHEME}PATH")
    path = Path(os.path.abspath(os.path.expanduser(text)))
    if len(os.fsencode(path)) > LONGEST:
        raise ValueError(f"the path of a socket has at most {LONGEST} bytes: {path}")
    return path


@contextmanager
def listening(path: Path) -> Generator[socket.socket]:
    """A listening socket that only this user can reach; its file is gone afterwards.

    A lock beside it says that somebody listens, so that the socket of one that was killed is taken
    over, and that of one that lives never. Blocks for a moment.

    Raises:
        CoreError: The folder is open to others, somebody listens there, or something else lies
            there; `message` says which.
    """
    try:
        _private_folder(path.parent)
        lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise CoreError(f"cannot listen on {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CoreError(f"another app-server listens on {path}") from None
        with _bound(path) as bound:
            yield bound
    finally:
        os.close(lock)


@contextmanager
def _bound(path: Path) -> Generator[socket.socket]:
    _clear(path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        try:
            made.bind(str(path))
            ours = path.lstat().st_ino
            path.chmod(0o600)
            made.listen(_BACKLOG)
        except OSError as error:
            raise CoreError(f"cannot listen on {path}: {error.strerror}") from None
        made.setblocking(False)
        try:
            yield made
        finally:
            with suppress(OSError):
                if path.lstat().st_ino == ours:
                    path.unlink()


def _private_folder(folder: Path) -> None:
    """Make the folder, or see that it is this user's own.

    Raises:
        CoreError: Others can get in.
    """
    with suppress(FileExistsError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE)
    found = folder.stat()
    if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & ~_PRIVATE:
        raise CoreError(
            f"{folder} is open to others (mode {stat.S_IMODE(found.st_mode):04o}); a socket must "
            "lie in a folder of yours with mode 0700",
            hint=f"chmod 700 {folder}, or name a new folder",
        )


def _clear(path: Path) -> None:
    """Remove a socket that nobody listens on; whoever calls has the lock."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise CoreError(f"{path} is in the way: it is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tried:
        tried.settimeout(1.0)
        try:
            tried.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError:
            pass  # it listens, and is busy
    raise CoreError(f"another program listens on {path}")


def peer_uid(connection: socket.socket) -> int | None:
    """The user on the other side, as the system knows it; None where it does not tell.

    Linux: SO_PEERCRED (unix(7)); macOS: LOCAL_PEERCRED (unix(4)).
    """
    try:
        if sys.platform == "linux":
            raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            return struct.unpack("iII", raw)[1]
        raw = connection.getsockopt(0, 1, 76)
        return struct.unpack_from("II", raw)[1]
    except (OSError, struct.error):
        return None


def connect_socket(path: Path) -> socket.socket:
    """A connection to whoever listens there, not blocking from now on. Blocks for a moment.

    Raises:
        CoreError: Nobody does, or somebody of another user.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(5.0)
        made.connect(str(path))
        if peer_uid(made) != os.geteuid():
            raise CoreError(f"who listens on {path} is another user")
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise CoreError(f"nobody answers on {path}: {error.strerror or 'timed out'}") from None
    except BaseException:
        made.close()
        raise
    return made
