"""What the panel was started with, and where its own files lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOG = "jackfield.log"


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line as a value.

    Attributes:
        demo: Show the embedded world.
        read_only: Refuse every write to files that are not ours.
        consent_all: Start servers without asking first.
        ascii: Draw with ASCII only.
        theme: A theme's name; None = as the terminal's background says.
        cwd: Working directory of the panel's thread; absolute.
        environ: The process environment, `--home` already in it.
    """

    cwd: Path
    environ: Mapping[str, str] = field(repr=False)
    demo: bool = False
    read_only: bool = False
    consent_all: bool = False
    ascii: bool = False
    theme: str | None = None


def state_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's state folder (XDG base directory specification: relative values are ignored)."""
    named = environ.get("XDG_STATE_HOME", "")
    home = environ.get("HOME") or str(Path.home())
    base = Path(named) if named.startswith("/") else Path(home, ".local/state")
    return base / "jackfield"
