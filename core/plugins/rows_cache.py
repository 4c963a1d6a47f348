"""The panel's rows of the last time, so that the first screen waits for no disk walk.

One line for each marketplace, so that reading and writing never hold the interpreter for long.
Only ever a cache: what cannot be read counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from core.protocol.rows import MarketplaceRow, PluginRow

SCHEMA = 1


class _Head(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    schema_version: int
    codex_home: str
    cwd: str


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A marketplace with its plugins; None for what belongs to no marketplace."""

    market: MarketplaceRow | None
    plugins: tuple[PluginRow, ...]


_UNREADABLE = (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class RowsCache:
    """Rows of one Codex home as seen from one working directory."""

    def __init__(self, cache_dir: Path, codex_home: Path, cwd: Path) -> None:
        self._head = _Head(schema_version=SCHEMA, codex_home=str(codex_home), cwd=str(cwd))
        digest = hashlib.sha256(f"{codex_home}\0{cwd}".encode()).hexdigest()[:24]
        self._path = cache_dir / f"plugins-{digest}.jsonl"

    def read(self, tick: Callable[[], None]) -> Iterator[Group]:
        """The groups; fewer, or none, when the file is damaged or of another version."""
        decoder = msgspec.json.Decoder(Group)
        with suppress(*_UNREADABLE), self._path.open("rb") as lines:
            if msgspec.json.decode(lines.readline(), type=_Head) != self._head:
                return
            for line in lines:
                yield decoder.decode(line)
                tick()

    def write(self, groups: Iterable[Group], tick: Callable[[], None]) -> None:
        """Replace the file as a whole; a failure to do so costs nothing but speed."""
        encoder = msgspec.json.Encoder()
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".plugins-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(encoder.encode(self._head) + b"\n")
                    for group in groups:
                        file.write(encoder.encode(group) + b"\n")
                        tick()
                os.replace(name, self._path)
            except OSError:
                with suppress(OSError):
                    os.unlink(name)
