"""`jackfield disable`."""

from __future__ import annotations

from core.cli.switching import arguments
from core.cli.switching import run_disable as run

__all__ = ["arguments", "run"]
