"""`jackfield restore`: files of others as they were before our first write of a run."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from core.cli.text import safe, table
from core.config.backup import Backup, Backups
from core.deps import real_deps


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `restore` takes."""
    parser.add_argument("id", nargs="?", metavar="ID", help="the copy to put back")
    parser.add_argument("--list", action="store_true", help="show the copies; so does no ID")


def run(given: argparse.Namespace) -> int:
    """Put one copy back, or show which there are."""
    backups = Backups(real_deps(os.environ, Path.cwd()).state_dir)
    if given.id is None or given.list:
        _show(backups.list())
        return 0
    known = {backup.id: backup for backup in backups.list()}
    replaced = backups.restore(given.id)
    print(f"Restored {safe(replaced.file)} as it was on {_when(known[given.id])}.")
    print(f"What was there is kept: jackfield restore {replaced.id}")
    return 0


def _show(backups: list[Backup]) -> None:
    if not backups:
        print("Nothing to restore: Jackfield has changed no file yet.")
        return
    rows = [(backup.id, _when(backup), _size(backup), backup.file) for backup in backups]
    print(table(("ID", "TAKEN", "SIZE", "FILE"), rows))


def _when(backup: Backup) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(backup.taken_at))


def _size(backup: Backup) -> str:
    return "no file" if backup.size is None else f"{backup.size:,} B"
