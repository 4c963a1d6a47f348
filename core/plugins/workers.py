"""Threads that read disks: one for each source, so that a dead one holds up nobody.

They are daemons, for a thread that hangs in a dead network mount must not keep the program from
ending. They take turns at computing, so that they do not fight the screen's thread for the
interpreter; a turn that is not given back (its holder waits for a disk) passes to the next.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

import anyio
import anyio.from_thread
import anyio.lowlevel

T = TypeVar("T")

WORK = 0.005
REST = 0.002
LEASE = 0.1


class Turns:
    """Whose turn it is to compute.

    Args:
        resting: Sleep 2 ms after each 5 ms of work, so that the screen can paint.
    """

    def __init__(self, *, resting: bool) -> None:
        self._resting = resting
        self._free = threading.Condition()
        self._holder = 0
        self._heard = 0.0
        self._since = 0.0

    @contextmanager
    def turn(self) -> Generator[Callable[[], None]]:
        """Compute inside; call what is given now and then."""
        self._take()
        try:
            yield self.tick
        finally:
            self._give()

    def tick(self) -> None:
        """Rest when it is time to; wait for a new turn when it has passed to another."""
        now = time.monotonic()
        if self._holder != threading.get_ident():
            self._take()
            return
        self._heard = now
        if self._resting and now - self._since > WORK:
            time.sleep(REST)
            self._heard = self._since = time.monotonic()

    def _take(self) -> None:
        me = threading.get_ident()
        with self._free:
            while self._holder and self._holder != me:
                if time.monotonic() - self._heard > LEASE:
                    break
                self._free.wait(LEASE)
            self._holder = me
            self._heard = self._since = time.monotonic()

    def _give(self) -> None:
        with self._free:
            if self._holder == threading.get_ident():
                self._holder = 0
                self._free.notify()


def start(run: Callable[[], None], name: str) -> None:
    """Run something in a daemon thread of its own."""
    threading.Thread(target=run, name=name, daemon=True).start()


async def in_thread(run: Callable[[], T], *, deadline: float, name: str = "plugins") -> T:
    """The result of a blocking function, run in a daemon thread.

    Args:
        deadline: Seconds. The thread is left to itself after that.

    Raises:
        TimeoutError: It has not come back in time.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []
    done = anyio.Event()
    token = anyio.lowlevel.current_token()

    def work() -> None:
        try:
            outcome.append(run())
        except BaseException as error:
            failure.append(error)
        back(done.set, token)

    start(work, name)
    with anyio.fail_after(deadline):
        await done.wait()
    if failure:
        raise failure[0]
    return outcome[0]


def back(run: Callable[[], object], token: anyio.lowlevel.EventLoopToken) -> None:
    """Run something on the event loop, from a thread; nothing when the loop has ended."""
    try:
        anyio.from_thread.run_sync(run, token=token)
    except (RuntimeError, anyio.RunFinishedError):
        return
