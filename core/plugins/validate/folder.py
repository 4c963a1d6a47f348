"""Walks a folder once: links, special files, sizes, depth, names. Follows no link."""

from __future__ import annotations

import os
import stat
from collections import defaultdict

from core.plugins.layout import os_reason, read_file
from core.plugins.validate.report import LARGEST, LARGEST_TEXT, Report, size, special

DEEPEST = 64
ENTRIES = 200_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__"})
"""Folders whose insides are nobody's plugin."""


class Walk:
    """One walk. Attributes say what it came to.

    Attributes:
        deep: Folders that go deeper than 64.
    """

    def __init__(self, root: str, report: Report) -> None:
        self._root = root
        self._real = os.path.realpath(root)
        self._report = report
        self._count = 0
        self.deep: list[str] = []

    def run(self) -> None:
        """Look at everything below the root."""
        level = [(self._root, 0)]
        while level:
            folder, depth = level.pop()
            if depth > DEEPEST:
                self.deep.append(folder)
                self._report.add("too-deep", folder, f"more than {DEEPEST} folders deep")
                continue
            level += [(inner, depth + 1) for inner in self._scan(folder)]
            self._report.tick()

    def _scan(self, folder: str) -> list[str]:
        inner: list[str] = []
        names: dict[str, list[str]] = defaultdict(list)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._count += 1
                    if self._count > ENTRIES:
                        self._report.whole = False
                        self._report.add(
                            "stopped", self._root, f"more than {ENTRIES:,} files; the rest was left"
                        )
                        return []
                    names[entry.name.casefold()].append(entry.name)
                    if self._entry(entry):
                        inner.append(entry.path)
        except OSError as error:
            self._report.add("unreadable", folder, f"it cannot be read: {os_reason(error)}")
        for same in names.values():
            if len(same) > 1:
                told = ", ".join(sorted(same))
                self._report.add(
                    "case-collision", folder, f"names that differ in case only: {told}"
                )
        return sorted(inner, reverse=True)

    def _entry(self, entry: os.DirEntry[str]) -> bool:
        """Judge one; True for a folder to go into."""
        path = entry.path
        if not _is_utf8(entry.name):
            shown = os.fsencode(entry.name).decode("utf-8", "replace")
            self._report.add("file-name", os.path.dirname(path), f"a name is no UTF-8: {shown}")
            return False
        if entry.is_symlink():
            self._link(path)
            return False
        if entry.is_dir(follow_symlinks=False):
            return entry.name not in _SKIPPED
        status = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            self._report.add("special-file", path, f"it is {special(status.st_mode)}, no file")
        elif status.st_size > LARGEST:
            self._report.add("file-too-large", path, size(status.st_size))
        elif entry.name.endswith(".toml") and status.st_size <= LARGEST_TEXT:
            _check_toml(path, self._report)
        return False

    def _link(self, path: str) -> None:
        target = os.readlink(path)
        real = os.path.realpath(path)
        report = self._report
        if not os.path.lexists(real) or not os.path.exists(path):
            report.add("symlink-broken", path, f"the link leads nowhere: {target}")
        elif real == self._real or self._real.startswith(f"{real.rstrip('/')}/"):
            report.add("symlink", path, f"the link leads back to where it is: {target}")
        elif real.startswith(f"{self._real}/"):
            report.add("symlink", path, f"a link to {target}")
        else:
            report.add("symlink-outside", path, f"the link leads out of the folder: {target}")


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_toml(path: str, report: Report) -> None:
    from core.config.toml.fault import TomlFault, place_of
    from core.config.toml.read import NotUtf8, decode, read_toml

    with report.part(path):
        try:
            text = decode(read_file(path))
        except NotUtf8 as error:
            report.add("toml", path, str(error))
            return
        try:
            read_toml(text)
        except TomlFault as fault:
            place = place_of(text, fault.offset)
            message = f"no TOML: {fault.reason}"
            report.add("toml", path, message, line=place.line, column=place.column)
