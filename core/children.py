"""Children of ours as the system shows them: how they end, and signals for their groups."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import anyio

_POLL = 0.1


def peek(popen: subprocess.Popen[bytes]) -> int | None:
    """The exit code without reaping, where the system can tell it."""
    if popen.returncode is not None or not hasattr(os, "waitid"):
        return popen.poll()
    try:
        info = os.waitid(os.P_PID, popen.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return popen.poll()
    if info is None:
        return None
    return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status


async def exit_of(pid: int) -> None:
    """Wait until a child of ours has ended, or for a moment where only asking again helps."""
    with _exit_descriptor(pid) as fd:
        if fd is None:
            await anyio.sleep(_POLL)
        else:
            await anyio.wait_readable(fd)


@contextmanager
def _exit_descriptor(pid: int) -> Generator[int | None]:
    """A descriptor that becomes readable when the process ends; None where there is none.

    A new one for each wait: two tasks cannot wait for the same descriptor.
    """
    if sys.platform == "darwin":
        queue = select.kqueue()
        try:
            event = select.kevent(
                pid,
                filter=select.KQ_FILTER_PROC,
                flags=select.KQ_EV_ADD | select.KQ_EV_ONESHOT,
                fflags=select.KQ_NOTE_EXIT,
            )
            try:
                queue.control([event], 0)
            except OSError:
                yield None
            else:
                yield queue.fileno()
        finally:
            queue.close()
        return
    try:
        fd = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield fd
    finally:
        os.close(fd)


def signal_group(group: int, number: int) -> bool:
    """False when the group has no member left (or none that we may touch)."""
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True
