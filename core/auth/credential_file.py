"""Codex's `.credentials.json`: every entry of others stays as it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec

from core.auth.grants import Grant, file_entry, of_file_entry
from core.config.files import os_reason
from core.config.replace import Changed, replace_file
from core.errors import InternalError
from core.protocol.facts import Evidence

_TRIES = 5
_MOST_BYTES = 16 << 20
Entries = dict[str, Any]


class CredentialFile:
    """The file store. All methods block; those that write need the lock of the store."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seen: tuple[tuple[int, ...], Entries] | None = None
        self._written: str | None = None

    def wrote(self, content: bytes | None) -> bool:
        """Whether it is what was written last here."""
        return self._written is not None and self._written == _digest(content)

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self._file

    def get(self, key: str) -> Grant | None:
        """An entry, or None. Raises InternalError for a file that cannot be read."""
        entry = self._entries().get(key)
        if entry is None:
            return None
        grant = of_file_entry(cast("Any", entry)) if isinstance(entry, dict) else None
        if grant is None:
            raise self._unreadable(f"the entry of {key.partition('|')[0]} is damaged")
        return grant

    def put(self, grant: Grant) -> None:
        """Store an entry in place of the one that is there. Raises InternalError."""

        def change(entries: Entries) -> Entries:
            return {**entries, grant.key: file_entry(grant)}

        self._change(change)

    def remove(self, key: str) -> bool:
        """Take an entry out, and the file with the last one; False when there was none."""
        if key not in self._entries():
            return False
        self._change(lambda entries: {k: v for k, v in entries.items() if k != key})
        return True

    def _entries(self) -> Entries:
        try:
            status = os.stat(self._file)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(os_reason(error)) from None
        stamp = (status.st_ino, status.st_mtime_ns, status.st_size, status.st_ctime_ns)
        if self._seen is None or self._seen[0] != stamp:
            self._seen = (stamp, self._parsed(self._content() or b"{}"))
        return self._seen[1]

    def _content(self) -> bytes | None:
        try:
            with open(self._file, "rb") as stream:
                content = stream.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(os_reason(error)) from None
        if len(content) > _MOST_BYTES:
            raise self._unreadable("it is too large")
        return content

    def _parsed(self, content: bytes) -> Entries:
        try:
            value = msgspec.json.decode(content)
        except (msgspec.DecodeError, RecursionError):
            raise self._unreadable("it is no JSON") from None
        if not isinstance(value, dict):
            raise self._unreadable("it is no JSON object")
        return cast("Entries", value)

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        target = os.path.realpath(self._file)
        for _ in range(_TRIES):
            before = self._content()
            after = change(self._parsed(before) if before is not None else {})
            try:
                self._write(target, before, after)
            except Changed:
                continue
            except OSError as error:
                reason = os_reason(error)
                raise InternalError(
                    f"failed to write OAuth tokens to {self._file.name}: {reason}",
                    evidence=Evidence(file=str(self._file)),
                ) from None
            self._seen = None
            return
        raise InternalError(f"somebody else keeps writing {self._file.name}")

    def _write(self, target: str, before: bytes | None, after: Entries) -> None:
        if before is not None:
            os.chmod(target, 0o600)
            if not after:
                self._written = _digest(None)
                os.unlink(target)
                return
        elif not after:
            return
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        ordered = {key: after[key] for key in sorted(after)}
        content = msgspec.json.encode(ordered)
        self._written = _digest(content)
        replace_file(target, before, content)

    def _unreadable(self, reason: str) -> InternalError:
        return InternalError(
            f"{self._file.name} cannot be read: {reason}",
            evidence=Evidence(file=str(self._file)),
        )


def _digest(content: bytes | None) -> str:
    return "" if content is None else sha256(content).hexdigest()
