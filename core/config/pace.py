"""Lets the event loop breathe while a thread works through a big text."""

from __future__ import annotations

import threading
import time

_WORK = 0.005
_REST = 0.002


class Pace:
    """Call `tick` often: off the main thread it rests 2 ms after each 5 ms of work."""

    def __init__(self) -> None:
        self._resting = threading.current_thread() is not threading.main_thread()
        self._since = time.monotonic()

    def tick(self) -> None:
        """Rest when it is time to."""
        if self._resting and time.monotonic() - self._since > _WORK:
            time.sleep(_REST)
            self._since = time.monotonic()
