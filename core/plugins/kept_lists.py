"""Answers of plugin/list by marketplace, kept while no file that they were made from has changed.

In memory for this process, in Jackfield's own cache folder for the next. Whether a file has changed
is told by its inode, size and change time, which nobody can set back; a list is only kept when all
of them are older than the reading, so that no change can hide in the same tick of the clock.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from core.plugins.layout import AGENT_PLUGINS_FILE, CLASSIC_MANIFESTS
from core.version import VERSION

SCHEMA = 1
OLD_ENOUGH = 50_000_000  # nanoseconds; coarser than any clock of a file system with inodes
FILES_KEPT = 64
_NOTHING = (0, 0, 0)
_DIRECTORY = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_PATH", 0)
Configured = tuple[tuple[str, bool, str | None], ...]
"""Id, enabled and installed copy of each plugin that has a table in the configuration."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """What a list is of, but for the files. `home`: what a leading `~` stands for."""

    path: str
    root: str
    format: str
    managed: str
    home: str

    @property
    def digest(self) -> str:
        """Names its file."""
        return hashlib.sha256("\0".join(msgspec.structs.astuple(self)).encode()).hexdigest()[:24]


class KeptList(msgspec.Struct, frozen=True, array_like=True):
    """A marketplace as it was listed.

    Attributes:
        name, display_name: Of the marketplace.
        base: A directory above all paths; what is short is looked up faster.
        paths: Everything that was looked at, below `base`, parents of what was not there included.
        stamps: Change time, size and inode of each path in turn; zeros where there was nothing.
        wire: Its entry in the answer, JSON.
    """

    schema: int
    version: str
    question: Question
    name: str
    display_name: str | None
    configured: Configured
    base: str
    paths: list[str]
    stamps: list[int]
    wire: bytes

    def holds(self, tick: Callable[[], None]) -> bool:
        """Whether every file is as it was. Blocks."""
        try:
            base = os.open(self.base, _DIRECTORY)
        except OSError:
            return False
        try:
            return self._holds(base, tick)
        finally:
            os.close(base)

    def _holds(self, base: int, tick: Callable[[], None]) -> bool:
        expected = iter(self.stamps)
        stat = os.stat
        for number, path in enumerate(self.paths):
            stamp = next(expected), next(expected), next(expected)
            try:
                status = stat(path, dir_fd=base)
            except OSError:
                if stamp != _NOTHING:
                    return False
            else:
                if (status.st_ctime_ns, status.st_size, status.st_ino) != stamp:
                    return False
            if not number % 64:
                tick()
        return True


class KeptLists:
    """What was listed, by marketplace.

    Args:
        folder: Where the next process finds it; None keeps nothing beyond this one.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[Question, KeptList | None] = {}

    def get(
        self,
        question: Question,
        configured: Callable[[str], Configured],
        tick: Callable[[], None],
    ) -> KeptList | None:
        """What was listed, when the answer would be the same now. Blocks.

        Args:
            configured: Of the marketplace of a name, now.
        """
        if question not in self._known:
            self._known[question] = self._read(question)
        kept = self._known[question]
        if kept is not None and kept.configured == configured(kept.name) and kept.holds(tick):
            return kept
        return None

    def keep(
        self,
        question: Question,
        listed: tuple[str, str | None],
        configured: Configured,
        roots: Iterable[str],
        wire: bytes,
        began: int,
    ) -> None:
        """Keep a list, unless a file may have changed since `began`, nanoseconds. Blocks."""
        paths = [question.path]
        for root in roots:
            paths += _looked_at(root)
        stamps: list[int] = []
        for path in paths:
            stamp = _stamp(path)
            if stamp[0] > began - OLD_ENOUGH:
                return
            stamps += stamp
        base = os.path.commonpath(paths)
        if not all(path.startswith(base) for path in paths):
            return  # a path that was not written the shortest way
        below = [path[len(base) :].lstrip("/") for path in paths]
        kept = KeptList(SCHEMA, VERSION, question, *listed, configured, base, below, stamps, wire)
        self._known[question] = kept
        self._write(kept)

    def _read(self, question: Question) -> KeptList | None:
        if self._folder is None:
            return None
        path = self._folder / f"{question.digest}.bin"
        try:
            kept = msgspec.msgpack.decode(path.read_bytes(), type=KeptList)
        except OSError:
            return None
        except (msgspec.MsgspecError, UnicodeDecodeError):
            with suppress(OSError):
                path.unlink()
            return None
        known = (kept.schema, kept.version, kept.question) == (SCHEMA, VERSION, question)
        return kept if known and len(kept.stamps) == 3 * len(kept.paths) else None

    def _write(self, kept: KeptList) -> None:
        """A failure to do so costs nothing but speed."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".list-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.msgpack.encode(kept))
                os.replace(name, self._folder / f"{kept.question.digest}.bin")
            except OSError:
                with suppress(OSError):
                    os.unlink(name)
            _let_old_ones_go(self._folder)


def _looked_at(root: str) -> Iterator[str]:
    """The paths that say whether a directory has the manifest that it had.

    What is not there needs no path of its own: were it made, its parent would change.
    """
    yield f"{root}/."
    if os.path.lexists(path := f"{root}/{AGENT_PLUGINS_FILE}"):
        yield path
    for directory, _ in CLASSIC_MANIFESTS:
        folder = f"{root}/{directory}"
        path = f"{folder}/plugin.json"
        if os.path.lexists(path):
            yield path
            return
        if os.path.lexists(folder):
            yield folder


def _stamp(path: str) -> tuple[int, int, int]:
    """Of what is there, links followed, as those who read marketplace files follow them."""
    try:
        status = os.stat(path)
    except OSError:
        return _NOTHING
    return status.st_ctime_ns, status.st_size, status.st_ino


def _let_old_ones_go(folder: Path) -> None:
    files = sorted(folder.glob("*.bin"), key=lambda path: path.stat().st_mtime)
    for path in files[:-FILES_KEPT]:
        path.unlink(missing_ok=True)
