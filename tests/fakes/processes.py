"""What still runs, for tests that must leave nothing behind."""

from __future__ import annotations

import os

import psutil


def lives(pid: int) -> bool:
    """A zombie does not: where nobody reaps orphans, they stay in the table for ever."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def group_lives(group: int) -> bool:
    """Whether any member of a process group is more than a zombie."""
    return any(lives(pid) for pid in _members(group))


def _members(group: int) -> list[int]:
    found: list[int] = []
    for pid in psutil.pids():
        try:
            if os.getpgid(pid) == group:
                found.append(pid)
        except ProcessLookupError:
            continue
    return found
