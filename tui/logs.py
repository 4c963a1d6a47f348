"""The log file: all that is logged goes there, nothing to the terminal."""

from __future__ import annotations

import logging
import os
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

SIZE = 1_000_000  # bytes; then it is rotated
KEPT = 2
OURS = ("core", "tui")


class PrivateFileHandler(RotatingFileHandler):
    """A rotating log that only its owner can read."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        return os.fdopen(os.open(self.baseFilename, flags, 0o600), "a", encoding="utf-8")


def start_logging(file: Path) -> bool:
    """Send everything to `file`; where that cannot be written, nowhere.

    Of others only warnings are kept: what they tell of their work may hold addresses and secrets.

    Returns:
        Whether there is a log.
    """
    root = logging.getLogger()
    for handler in list(root.handlers):
        root.removeHandler(handler)
    root.setLevel(logging.WARNING)
    for ours in OURS:
        logging.getLogger(ours).setLevel(logging.INFO)
    logging.captureWarnings(True)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handler = PrivateFileHandler(file, maxBytes=SIZE, backupCount=KEPT, errors="replace")
    except OSError:
        root.addHandler(logging.NullHandler())
        return False
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(handler)
    return True
