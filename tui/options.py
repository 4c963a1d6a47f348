"""What the panel was started with, and where its own files lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOG = "jackfield.log"
FIRST_START = "first-start"
"""In the state folder: the panel has told once what it reads, writes and starts."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line as a value.

    Attributes:
        demo: Show the embedded world.
        connect: Where the core runs: a command that speaks the app-server protocol, or
            `unix:PATH`; "" = in this process.
        read_only: Refuse every write to files that are not ours.
        consent_all: Start servers without asking first.
        ascii: Draw with ASCII only.
        theme: A theme's name; None = as the terminal's background says.
        cursor: Show the terminal's own cursor on the selected row.
        keys: The person's own keys, by command id.
        settings_fault: Why the person's settings are not used in part or whole, or "".
        cwd: Working directory of the panel's thread; absolute.
        environ: The process environment, `--home` already in it.
    """

    cwd: Path
    environ: Mapping[str, str] = field(repr=False)
    demo: bool = False
    connect: str = ""
    read_only: bool = False
    consent_all: bool = False
    ascii: bool = False
    theme: str | None = None
    cursor: bool = False
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    settings_fault: str = ""


def state_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's state folder."""
    return _folder(environ, "XDG_STATE_HOME", ".local/state")


def config_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's configuration folder."""
    return _folder(environ, "XDG_CONFIG_HOME", ".config")


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's folder of what can be made again."""
    return _folder(environ, "XDG_CACHE_HOME", ".cache")


def _folder(environ: Mapping[str, str], variable: str, usual: str) -> Path:
    # XDG base directory specification: relative values are ignored.
    named = environ.get(variable, "")
    home = environ.get("HOME") or str(Path.home())
    base = Path(named) if named.startswith("/") else Path(home, usual)
    return base / "jackfield"
