"""Which program listens on a port, where this machine tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_LISTENING = "0A"  # TCP_LISTEN, include/net/tcp_states.h
PROC = Path("/proc")


def port_holder(port: int, proc: Path = PROC) -> str:
    """`PID 123 (name)`, or "" when nobody can say: another user's program, not Linux. Blocks."""
    sockets = {f"socket:[{inode}]" for inode in _inodes(port, proc)}
    if not sockets:
        return ""
    for folder in proc.glob("[0-9]*/fd"):
        if any(link in sockets for link in _links(folder)):
            name = _name(folder.parent)
            return f"PID {folder.parent.name}" + (f" ({name})" if name else "")
    return ""


def _links(folder: Path) -> Iterator[str]:
    """Where open files lead; what is closed meanwhile, or not ours to look at, is left out."""
    with suppress(OSError):
        for entry in folder.iterdir():
            with suppress(OSError):
                yield os.readlink(entry)


def _inodes(port: int, proc: Path) -> set[str]:
    found: set[str] = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if len(fields) > 9 and fields[3] == _LISTENING and fields[1].endswith(f":{port:04X}"):
                found.add(fields[9])
    return found


def _name(folder: Path) -> str:
    try:
        return (folder / "comm").read_text().strip()
    except OSError:
        return ""
