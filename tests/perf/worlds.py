"""Throw-away homes with an environment that points to nothing but them."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]


@contextmanager
def world() -> Generator[tuple[Path, dict[str, str]]]:
    """An empty home of its own, and the environment that points to it."""
    with tempfile.TemporaryDirectory(prefix="jackfield-bench-") as folder:
        root = Path(folder)
        home = root / "home"
        (home / ".codex").mkdir(parents=True)
        environ = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "PYTHONPATH": str(REPO),
        }
        for kind in ("STATE", "CONFIG", "CACHE"):
            environ[f"XDG_{kind}_HOME"] = str(root / kind.lower())
        (root / "state" / "jackfield").mkdir(parents=True)
        (root / "state" / "jackfield" / "first-start").touch()
        yield root, environ


def codex_home(root: Path) -> Path:
    """The Codex home of a world."""
    return root / "home" / ".codex"


PANEL = (sys.executable, "-m", "tui", "--yes")
"""The command that shows the panel."""
