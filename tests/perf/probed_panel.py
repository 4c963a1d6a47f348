"""The real panel with a probe in its event loop: `python -m tests.perf.probed_panel FILE`.

Every gap between two ticks above a millisecond is written to FILE when the panel is left: seconds
since the process's start, seconds of the gap.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import anyio
from textual import work

from tui import __main__ as entry
from tui import launch
from tui.app import JackfieldApp

TICK = 0.001


class Probed(JackfieldApp):
    """Ticks while it runs."""

    CSS_PATH: ClassVar = [Path(launch.__file__).with_name("styles") / "app.tcss"]

    gaps: list[tuple[float, float]]

    def on_load(self) -> None:
        """Begin."""
        self.gaps = []
        self.probe()

    @work(group="probe")
    async def probe(self) -> None:
        """Note each tick that comes late."""
        last = time.perf_counter()
        while True:
            await anyio.sleep(TICK)
            now = time.perf_counter()
            if now - last > 2 * TICK:
                self.gaps.append((now, now - last - TICK))
            last = now


def main() -> None:
    """As the panel's own entry; the file is written at the end."""
    file = Path(sys.argv[1])
    made: list[Probed] = []

    def keep(*given: Any, **more: Any) -> Probed:
        app = Probed(*given, **more)
        made.append(app)
        return app

    launch.__dict__["JackfieldApp"] = keep
    try:
        entry.run(["--yes", *sys.argv[2:]])
    finally:
        file.write_text(json.dumps([app.gaps for app in made]))


if __name__ == "__main__":
    main()
