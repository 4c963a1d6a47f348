"""What we remember of plugins, in our own state folder: pins, and where copies came from.

One file for each Codex home: `plugins-HASH.json`, 0600, written whole under a lock.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from core.config.files import os_reason
from core.config.replace import Changed, file_lock, replace_file
from core.errors import InternalError
from core.protocol.facts import Evidence

SCHEMA = 1


class Pin(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A plugin that is to stay as it is. `version`: name of its directory in the cache."""

    version: str
    at: float = 0.0


class CopyNote(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Where the copy in the cache came from, for sources that cannot be looked at.

    Attributes:
        version: Name of its directory; a copy of another name is not the one that is meant.
        commit: Full id, or "".
        claims: What its entry said of the source then.
    """

    version: str
    commit: str = ""
    claims: str = ""


class FormerRef(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The `ref` of a marketplace before it was pinned; None where it had none."""

    ref: str | None
    pinned: str


class Book(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole file. Keys are plugin ids, and marketplace names in `refs`."""

    schema_version: int = SCHEMA
    codex_home: str = ""
    pins: dict[str, Pin] = {}
    copies: dict[str, CopyNote] = {}
    refs: dict[str, FormerRef] = {}


class _Head(msgspec.Struct, rename="camel"):
    schema_version: int


class Ledger:
    """Reads and changes the book of one Codex home; every call blocks."""

    def __init__(self, state_dir: Path, codex_home: Path) -> None:
        self._state_dir = state_dir
        self._home = str(codex_home)
        digest = hashlib.sha256(os.fsencode(self._home)).hexdigest()[:24]
        self.file = state_dir / f"plugins-{digest}.json"
        self._known: tuple[tuple[int, int, int], Book] | None = None

    def read(self) -> Book:
        """The book; an empty one when there is none, or none that can be read."""
        try:
            status = os.stat(self.file)
        except OSError:
            return self._empty()
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if self._known is None or self._known[0] != stamp:
            with suppress(OSError):
                self._known = (stamp, self._decoded(self.file.read_bytes()) or self._empty())
        return self._known[1] if self._known is not None else self._empty()

    def _empty(self) -> Book:
        return Book(codex_home=self._home)

    def _decoded(self, data: bytes) -> Book | None:
        try:
            book = msgspec.json.decode(data, type=Book)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return book if book.schema_version == SCHEMA else None

    def change(self, edit: Callable[[Book], Book]) -> Book:
        """Change the book as it is by now, whoever else has changed it meanwhile.

        A file that cannot be read is kept beside the new one, as `.broken`.

        Raises:
            InternalError: It cannot be written, or a newer Jackfield has written it.
        """
        target = str(self.file)
        try:
            self._state_dir.mkdir(parents=True, exist_ok=True)
            with file_lock(self._state_dir, target):
                data = self._bytes()
                before = self._decoded(data) if data is not None else self._empty()
                if before is None:
                    self._put_aside(data or b"")
                    data, before = None, self._empty()
                after = edit(before)
                if after != before or data is None:
                    replace_file(target, data, msgspec.json.encode(after))
                return after
        except Changed:
            raise InternalError(f"{target} was changed by another program") from None
        except OSError as error:
            message = f"cannot write {target}: {os_reason(error)}"
            raise InternalError(message, evidence=Evidence(file=target)) from None

    def _bytes(self) -> bytes | None:
        try:
            return self.file.read_bytes()
        except FileNotFoundError:
            return None

    def _put_aside(self, data: bytes) -> None:
        with suppress(msgspec.MsgspecError):
            if msgspec.json.decode(data, type=_Head).schema_version > SCHEMA:
                place = Evidence(file=str(self.file))
                raise InternalError(f"{self.file} is of a newer Jackfield", evidence=place)
        os.replace(self.file, f"{self.file}.broken")


def with_pin(book: Book, plugin_id: str, pin: Pin | None) -> Book:
    """The book with a pin, or without."""
    pins = {key: value for key, value in book.pins.items() if key != plugin_id}
    if pin is not None:
        pins[plugin_id] = pin
    return msgspec.structs.replace(book, pins=pins)


def with_note(book: Book, plugin_id: str, note: CopyNote | None) -> Book:
    """The book with what is known of a copy, or without."""
    copies = {key: value for key, value in book.copies.items() if key != plugin_id}
    if note is not None:
        copies[plugin_id] = note
    return msgspec.structs.replace(book, copies=copies)


def with_ref(book: Book, name: str, former: FormerRef | None) -> Book:
    """The book with a marketplace's former ref, or without."""
    refs = {key: value for key, value in book.refs.items() if key != name}
    if former is not None:
        refs[name] = former
    return msgspec.structs.replace(book, refs=refs)
