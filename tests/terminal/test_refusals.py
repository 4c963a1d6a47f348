"""Where a full screen cannot be shown, one plain sentence says so and what to do instead."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.panel import PATIENCE, PanelTerminal, panel_environ

COMMAND = [sys.executable, "-m", "tui"]


@pytest.mark.parametrize(("term", "named"), [("dumb", "TERM=dumb"), ("", "no TERM")])
def test_a_terminal_that_cannot_place_text_gets_a_sentence(
    home: Path, tmp_path: Path, term: str, named: str
) -> None:
    environ = panel_environ(home, TERM=term)
    with PanelTerminal(environ=environ, cwd=tmp_path) as panel:
        panel.shows(named)
        assert panel.ended() == 2
        assert "jackfieldlist,explain,doctor" in panel.squeezed
        assert b"\x1b" not in panel.output
    assert not (home / ".local" / "state" / "jackfield").exists(), "nothing was started"


@pytest.mark.parametrize("missing", ["stdin", "stdout", "stderr", "all"])
def test_without_a_terminal_on_every_stream_it_is_a_sentence_too(
    home: Path, tmp_path: Path, missing: str
) -> None:
    ours, theirs = pty.openpty()
    try:
        streams = {
            name: subprocess.PIPE if missing in (name, "all") else theirs
            for name in ("stdin", "stdout", "stderr")
        }
        done = subprocess.Popen(COMMAND, env=panel_environ(home), cwd=tmp_path, **streams)  # type: ignore[call-overload]
        out, err = done.communicate(timeout=PATIENCE)
        os.set_blocking(ours, False)
        try:
            shown = os.read(ours, 100_000)
        except OSError:
            shown = b""
        said = (out or b"") + (err or b"") + shown
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert b"the panel needs a terminal on input, output and stderr" in said
    assert b"\x1b" not in said and said.strip().count(b"\n") == 0


def test_the_demo_is_refused_the_same_way(home: Path, tmp_path: Path) -> None:
    environ = panel_environ(home, TERM="dumb")
    with PanelTerminal("demo", environ=environ, cwd=tmp_path) as panel:
        panel.shows("TERM=dumb")
        assert panel.ended() == 2
