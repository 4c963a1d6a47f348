"""A terminal whose answer comes late, on a real pty: the answer must not be taken for keys."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

PANEL = """
import sys
from textual.app import App
from textual.events import Key
from tui.driver import patient_driver

class Panel(App):
    def on_ready(self):
        self.set_timer(20, self.exit)
    def on_key(self, event: Key):
        with open(sys.argv[1], "a") as told:
            told.write(event.key + "\\n")
        if event.key == "q":
            self.exit()

Panel(driver_class=patient_driver(b"4\\x1b]11;rgb:12")).run()
"""
LATE = b"12/1515/1b1b\x1b\\"
ATTRIBUTES = b"\x1b[?62;22c"


def drain(master: int) -> bytes:
    try:
        return os.read(master, 65536) if select.select([master], [], [], 0.05)[0] else b""
    except OSError:  # the panel has closed its end
        return b""


@pytest.mark.skipif(sys.platform == "win32", reason="pty")
def test_late_answers_are_eaten_and_keys_before_and_after_them_arrive(tmp_path: Path) -> None:
    told = tmp_path / "keys"
    told.touch()
    master, slave = pty.openpty()
    panel = subprocess.Popen(
        [sys.executable, "-c", PANEL, str(told)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "PYTHONPATH": os.getcwd()},
    )
    os.close(slave)
    try:
        until = time.monotonic() + 20
        seen = b""

        def wait_for(keys: str) -> None:
            while told.read_text() != keys:
                assert time.monotonic() < until, (told.read_text(), seen[-500:])
                drain(master)

        while b"\x1b[?1049h" not in seen:
            assert time.monotonic() < until, seen
            seen += drain(master)
        wait_for("4\n")
        os.write(master, LATE + b"j")
        wait_for("4\nj\n")
        os.write(master, b"\x1b")
        wait_for("4\nj\nescape\n")
        os.write(master, ATTRIBUTES + b"k")
        wait_for("4\nj\nescape\nk\n")
        os.write(master, b"q")
        wait_for("4\nj\nescape\nk\nq\n")
        while panel.poll() is None and time.monotonic() < until:
            drain(master)
        assert panel.returncode == 0
    finally:
        panel.kill()
        panel.wait()
        os.close(master)
