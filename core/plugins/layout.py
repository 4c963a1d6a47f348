"""Where a marketplace file and a plugin manifest may lie in their roots; reading files."""

from __future__ import annotations

import errno
import os
import stat

MARKETPLACE_FILES: tuple[tuple[str, str], ...] = (
    (".agents/plugins/marketplace.json", "codex"),
    (".agents/plugins/api_marketplace.json", "codex-api"),
    (".claude-plugin/marketplace.json", "claude"),
    (".cursor-plugin/marketplace.json", "cursor"),
)
"""Places below a root, the first one that is there counts, and what the format is called."""

BOM = b"\xef\xbb\xbf"

AGENT_PLUGINS_FILE = "plugin.json"
CLASSIC_MANIFESTS: tuple[tuple[str, str], ...] = (
    (".codex-plugin", "codex"),
    (".claude-plugin", "claude"),
    (".cursor-plugin", "cursor"),
)


_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


def read_file(path: str, size: int | None = None) -> bytes:
    """All bytes. `size`: when it is known, asking for it is saved. Raises OSError."""
    handle = os.open(path, _READ)
    try:
        if size is None:
            size = os.fstat(handle).st_size
        data = os.read(handle, size + 1)
        if len(data) <= size:
            return data
        parts = [data]
        while more := os.read(handle, 1 << 20):
            parts.append(more)
        return b"".join(parts)
    finally:
        os.close(handle)


def is_file(path: str) -> bool:
    """A regular file, or a link to one. Never raises."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def is_directory(path: str) -> bool:
    """A directory, or a link to one. Never raises."""
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def marketplace_file(root: str) -> tuple[str, str] | None:
    """Path and format of the one file that counts in `root`, or None."""
    for place, kind in MARKETPLACE_FILES:
        if is_file(path := f"{root}/{place}"):
            return path, kind
    return None


def split_marketplace_path(path: str) -> tuple[str, str] | None:
    """Root and format of a file in one of the four places, or None for a file elsewhere."""
    for place, kind in MARKETPLACE_FILES:
        if path.endswith(f"/{place}"):
            return path[: -len(place) - 1] or "/", kind
    return None


_MUSL = {
    errno.ENAMETOOLONG: "Filename too long",
    errno.ELOOP: "Symbolic link loop",
    errno.EIO: "I/O error",
    errno.EBUSY: "Resource busy",
    errno.EXDEV: "Cross-device link",
    errno.EMFILE: "No file descriptors available",
}
"""Where the C library that Codex is built with has other words than the usual one."""


def os_reason(error: OSError) -> str:
    """An operating system's error as Codex prints it."""
    if error.errno is None:
        return str(error)
    text = _MUSL.get(error.errno) or os.strerror(error.errno)
    return f"{text} (os error {error.errno})"
