"""What the panel was started with, and where its own files lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


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
    """Jackfield's state folder, as the XDG base directory specification places it."""
    return _xdg(environ, "XDG_STATE_HOME", ".local/state")


def config_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's configuration folder."""
    return _xdg(environ, "XDG_CONFIG_HOME", ".config")


def cache_dir(environ: Mapping[str, str]) -> Path:
    """Jackfield's cache folder."""
    return _xdg(environ, "XDG_CACHE_HOME", ".cache")


def _xdg(environ: Mapping[str, str], name: str, default: str) -> Path:
    # The specification: relative paths in these variables are invalid and ignored.
    named = environ.get(name, "")
    home = environ.get("HOME") or str(Path.home())
    base = Path(named) if named.startswith("/") else Path(home, default)
    return base / "jackfield"
