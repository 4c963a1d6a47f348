"""However the panel ends, nothing that it has started outlives it by more than three seconds."""

from __future__ import annotations

import shlex
import signal
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.conftest import note_missing
from tests.fakes.mcp_stdio import argv
from tests.fakes.processes import lives
from tests.integration.everything import EVERYTHING, npx_command
from tests.terminal.homes import been_here, server_table, write_config
from tests.terminal.panel import PanelTerminal, marked, panel_environ

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SOON = 3.0
"""Seconds after which no process carries the mark, and in which a quit has ended."""
ENDINGS: dict[str, tuple[Callable[[PanelTerminal], object], int]] = {
    "q": (lambda panel: panel.press(b"q"), 0),
    "SIGTERM": (lambda panel: panel.kill(signal.SIGTERM), 128 + signal.SIGTERM),
    "SIGHUP": (lambda panel: panel.kill(signal.SIGHUP), 128 + signal.SIGHUP),
    "terminal closed": (lambda panel: panel.hang_up(), 128 + signal.SIGHUP),
    "kill -9": (lambda panel: panel.kill(signal.SIGKILL), -signal.SIGKILL),
}
"""How the panel is ended, and the exit status that follows."""


def commands() -> dict[str, list[str]]:
    """A launcher with a child; one that ignores EOF and TERM; one with a deaf child; one that never
    gets up; a real one behind npx."""
    fake = shlex.join(argv())
    here = {
        "launched": ["sh", "-c", f"{fake}; true"],
        "stubborn": argv("stubborn"),
        "orphan": argv("orphan"),
        "sleeper": ["sh", "-c", "sleep 600; true"],
    }
    if everything := npx_command():
        here["everything"] = [*everything, "stdio"]
    else:
        note_missing(EVERYTHING)
    return here


def helpers_of(pid: int) -> list[psutil.Process]:
    """What the panel itself has started: servers' launchers and the reaper."""
    return psutil.Process(pid).children(recursive=True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_nothing_is_left_three_seconds_after(ending: str, home: Path, tmp_path: Path) -> None:
    been_here(home)
    mark = uuid.uuid4().hex
    servers = commands()
    write_config(
        home / ".codex", *(server_table(name, command, mark) for name, command in servers.items())
    )
    with PanelTerminal("--yes", environ=panel_environ(home, mark), cwd=tmp_path) as panel:
        panel.shows("Marketplaces")
        panel.press(b"4")
        for name in servers.keys() - {"sleeper"}:
            panel.shows(name, "connected")
        panel.shows("sleeper", "starting")
        assert len(marked(mark)) > len(servers) + 2, "the children of launchers count too"
        started = helpers_of(panel.pid)
        reaper = [it for it in started if "jackfield-reaper" in it.cmdline()]
        assert len(reaper) == 1
        end, status = ENDINGS[ending]
        end(panel)
        began = time.monotonic()
        while left := {pid: said for pid, said in marked(mark).items() if lives(pid)}:
            assert time.monotonic() - began < SOON, left
            panel.status()
            if not panel.hung_up:
                panel.read(0.02)
        assert panel.ended(SOON) == status
        while alive := [it.pid for it in started if lives(it.pid)]:
            assert time.monotonic() - began < SOON + 1, alive
