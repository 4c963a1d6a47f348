"""Copies of files as they were before our first write of a run, for `jackfield restore`."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from core.config.files import os_reason, read_bytes
from core.config.replace import Changed, file_lock, replace_file
from core.errors import InternalError, InvalidRequest

KEPT = 50
_MANIFEST = "manifest.json"
_CONTENT = "content"


@dataclass(frozen=True, slots=True)
class Backup:
    """One kept copy.

    Attributes:
        id: Sorts by time.
        file: Path that was about to be written.
        taken_at: Seconds since the epoch.
        size: Bytes; None when there was no file, which restoring brings back.
        digest: SHA-256 of the content, "" when there was none.
    """

    id: str
    file: str
    taken_at: float
    size: int | None
    digest: str


class Backups:
    """Keeps the newest 50 below the state folder; one per file and run."""

    def __init__(self, state_dir: Path, now: Callable[[], float] = time.time) -> None:
        self._state_dir = state_dir
        self._folder = state_dir / "backups"
        self._now = now
        self._lock = threading.Lock()
        self._done: set[str] = set()

    def before_write(self, file: str, content: bytes | None) -> Backup | None:
        """Keep `content` unless this run has already kept a copy of `file`.

        Raises:
            InternalError: The copy cannot be made; do not write then.
        """
        with self._lock:
            if file in self._done:
                return None
            made = self._keep(file, content)
            self._done.add(file)
        return made

    def _keep(self, file: str, content: bytes | None) -> Backup:
        now = self._now()
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(now))
        name = f"{stamp}-{int(now * 1e6) % 1_000_000:06d}-{os.getpid()}"
        digest = "" if content is None else hashlib.sha256(content).hexdigest()
        backup = Backup(name, file, now, None if content is None else len(content), digest)
        folder = self._folder / name
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(mode=0o700)
            if content is not None:
                _write_private(folder / _CONTENT, content)
            _write_private(folder / _MANIFEST, _manifest(backup))
        except OSError as error:
            raise InternalError(f"cannot keep a copy of {file}: {os_reason(error)}") from None
        self._prune()
        return backup

    def _prune(self) -> None:
        for backup in self.list()[KEPT:]:
            folder = self._folder / backup.id
            with contextlib.suppress(OSError):
                for name in (_CONTENT, _MANIFEST):
                    (folder / name).unlink(missing_ok=True)
                folder.rmdir()

    def list(self) -> list[Backup]:
        """All copies, the newest first. Folders that are none are passed over."""
        try:
            names = sorted(os.listdir(self._folder), reverse=True)
        except OSError:
            return []
        return [backup for name in names if (backup := _read(self._folder / name)) is not None]

    def restore(self, backup_id: str) -> Backup:
        """Put a file back as it was; what is there now is kept as a copy first.

        Returns:
            The copy of what was replaced.

        Raises:
            InvalidRequest: There is no such copy, or its content is not what was kept.
            InternalError: The file cannot be written.
        """
        backup = next((known for known in self.list() if known.id == backup_id), None)
        if backup is None:
            raise InvalidRequest(f"no backup `{backup_id}`")
        content = None
        if backup.size is not None:
            content = read_bytes(str(self._folder / backup.id / _CONTENT))
            if content is None or hashlib.sha256(content).hexdigest() != backup.digest:
                raise InvalidRequest(f"backup `{backup_id}` is damaged")
        target = os.path.realpath(backup.file)
        with file_lock(self._state_dir, target), self._lock:
            present = read_bytes(target)
            replaced = self._keep(backup.file, present)
            try:
                _put_back(target, present, content)
            except Changed:
                raise InternalError(f"{backup.file} is being written by somebody else") from None
            except OSError as error:
                raise InternalError(f"cannot write {backup.file}: {os_reason(error)}") from None
        return replaced


def _put_back(target: str, present: bytes | None, content: bytes | None) -> None:
    if content is not None:
        replace_file(target, present, content)
    elif present is not None:
        os.unlink(target)


def _manifest(backup: Backup) -> bytes:
    value = {
        "file": backup.file,
        "takenAt": backup.taken_at,
        "size": backup.size,
        "digest": backup.digest,
    }
    return json.dumps(value, indent=1).encode()


def _read(folder: Path) -> Backup | None:
    try:
        value: Any = json.loads((folder / _MANIFEST).read_bytes())
        manifest = cast("dict[str, Any]", value)
        size = manifest["size"]
        return Backup(
            folder.name,
            str(manifest["file"]),
            float(manifest["takenAt"]),
            None if size is None else int(size),
            str(manifest["digest"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
