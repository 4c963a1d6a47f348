"""The Codex home: is it there, whose is it, and who else may read or write its files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.config.paths import Home
from core.protocol.facts import Evidence
from core.protocol.jackfield_doctor import Check, Verdict

LOW_SPACE = 200 * 1024 * 1024
"""Bytes; below this an install may fail in its middle."""


def home_checks(home: Home, own_folders: Mapping[str, Path]) -> Iterator[Check]:
    """Of the home, its secret files, its configuration and our own folders. Blocks.

    Args:
        own_folders: Jackfield's folders by name.
    """
    yield from _home_itself(home.codex_home)
    for name, file in (("auth", home.auth_file), ("credentials", home.credentials_file)):
        yield from _secret_file(name, file)
    yield from _trusted_file("config", home.config_file)
    yield from _trusted_file("system-config", home.system_config_file)
    yield from _trusted_file("requirements", home.requirements_file)
    yield from _space(home.codex_home)
    for name, folder in own_folders.items():
        yield from _own_folder(name, folder)


def _check(
    id: str, verdict: Verdict, finding: str, path: Path | None = None, fix: str = ""
) -> Check:
    evidence = Evidence(file=str(path)) if path is not None else Evidence()
    return Check(id=id, area="home", verdict=verdict, finding=finding, evidence=evidence, fix=fix)


def _home_itself(folder: Path) -> Iterator[Check]:
    try:
        found = folder.stat()
    except FileNotFoundError:
        yield _check(
            "home.exists",
            "note",
            "there is no Codex home yet",
            folder,
            "it is made by Codex at its first start; CODEX_HOME names another one",
        )
        return
    except OSError as error:
        yield _check("home.exists", "fault", f"{error.strerror or error}", folder)
        return
    if not stat.S_ISDIR(found.st_mode):
        yield _check("home.exists", "fault", "it is no folder", folder, "name another CODEX_HOME")
        return
    if not os.access(folder, os.R_OK | os.X_OK):
        yield _check("home.exists", "fault", "it cannot be read", folder, f"chmod u+rwx {folder}")
    elif not os.access(folder, os.W_OK):
        yield _check("home.exists", "warning", "nothing can be written in it", folder)
    else:
        yield _check("home.exists", "ok", "the Codex home can be read and written", folder)
    yield from _owner("home.owner", folder, found)
    if stat.S_IMODE(found.st_mode) & 0o002:
        yield _check(
            "home.mode", "fault", "everybody may write in it", folder, f"chmod o-w {folder}"
        )


def _owner(id: str, path: Path, found: os.stat_result) -> Iterator[Check]:
    if not hasattr(os, "geteuid") or found.st_uid in (os.geteuid(), 0):
        return
    yield _check(id, "fault", f"it belongs to another user (uid {found.st_uid})", path)


def _secret_file(name: str, file: Path) -> Iterator[Check]:
    id = f"home.mode.{name}"
    try:
        found = file.stat()
    except FileNotFoundError:
        return
    except OSError as error:
        yield _check(id, "unknown", f"{error.strerror or error}", file)
        return
    mode = stat.S_IMODE(found.st_mode)
    yield from _owner(id, file, found)
    if mode & 0o077:
        said = f"others may read or write this file with secrets (mode {mode:04o})"
        yield _check(id, "fault", said, file, f"chmod 600 {file}")
    elif not os.access(file, os.R_OK):
        yield _check(id, "fault", "it cannot be read", file, f"chmod 600 {file}")
    else:
        yield _check(id, "ok", "only its owner can read it", file)


def _trusted_file(name: str, file: Path) -> Iterator[Check]:
    """Whoever can write the configuration can have programs started as this user."""
    id = f"home.mode.{name}"
    try:
        found = file.stat()
    except OSError:
        return
    yield from _owner(id, file, found)
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o002:
        yield _check(
            id, "fault", "everybody may write it, and it names programs to start", file,
            f"chmod o-w {file}",
        )  # fmt: skip
    elif mode & 0o020:
        yield _check(
            id, "warning", "its group may write it, and it names programs to start", file,
            f"chmod g-w {file}",
        )  # fmt: skip


def _space(folder: Path) -> Iterator[Check]:
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return
    if free < LOW_SPACE:
        said = f"only {free // (1024 * 1024)} MiB are free on its disk"
        yield _check("home.space", "warning", said, folder, "make room before installing anything")


def _own_folder(name: str, folder: Path) -> Iterator[Check]:
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    if not os.access(there, os.W_OK | os.X_OK):
        yield _check(
            f"jackfield.{name}",
            "warning",
            f"Jackfield's {name} folder cannot be written",
            folder,
            "consents, backups and the log are not kept",
        )
