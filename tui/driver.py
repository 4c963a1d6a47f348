"""A driver for slow lines: answers of the terminal that come late are not taken for keys."""

from __future__ import annotations

import os
import select
import time
from typing import Final

from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

from tui.terminal import without_answers

_PATIENCE: Final = 10.0
_ESCAPE: Final = b"\x1b"


def patient_driver(received: bytes) -> type[Driver]:
    """A driver class that begins with what was received before it started.

    Args:
        received: Keys typed ahead, and perhaps the beginning of an answer.
    """

    class PatientDriver(LinuxDriver):
        """Eats the answers to the background query, for ten seconds at most."""

        def run_input_thread(self) -> None:
            self._eat_answers()
            super().run_input_thread()

        def _eat_answers(self) -> None:
            parser = XTermParser(self._debug)

            def pass_on(typed: bytes) -> None:
                text = typed.decode(errors="replace")
                for message in (*(parser.feed(text) if text else ()), *parser.tick()):
                    self.process_message(message)

            held, over = received, False
            until = time.monotonic() + _PATIENCE
            while not (over or self.exit_event.is_set() or time.monotonic() > until):
                typed, held, over = without_answers(held)
                pass_on(typed)
                if over:
                    break
                if select.select([self.fileno], [], [], 0.1)[0]:
                    held += os.read(self.fileno, 4096)
                elif held == _ESCAPE:
                    # Nothing came behind it, so it is the key and not the start of an answer.
                    pass_on(held)
                    held = b""

    return PatientDriver


def usual_driver() -> type[Driver]:
    """What Textual would take by itself on a terminal like this."""
    return LinuxDriver


def holding_driver(base: type[Driver]) -> type[Driver]:
    """A driver class that writes nothing before it is told to, so that a frame stays on show."""

    class HoldingDriver(base):  # type: ignore[misc, valid-type]
        """Keeps what is written until `release`."""

        _held: list[str] | None = None

        def start_application_mode(self) -> None:
            self._held = []
            super().start_application_mode()

        def stop_application_mode(self) -> None:
            self.release()
            super().stop_application_mode()

        def write(self, data: str) -> None:
            if self._held is None:
                super().write(data)
            else:
                self._held.append(data)

        def release(self) -> None:
            """Write what was kept, at once, and all that comes from now on."""
            held, self._held = self._held, None
            if held:
                super().write("".join(held))

    return HoldingDriver
