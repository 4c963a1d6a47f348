"""Where the manifest of a plugin lies, and why one cannot be used.

Rules as observed in Codex 0.171.0. A broken manifest hides those that come after it.
"""

from __future__ import annotations

import os
import stat

import msgspec

from core.plugins import json_fast
from core.plugins.json_fast import member
from core.plugins.json_shape import ANY, read_exactly
from core.plugins.json_tokens import JsonFault
from core.plugins.layout import (
    AGENT_PLUGINS_FILE,
    BOM,
    CLASSIC_MANIFESTS,
    os_reason,
    read_file,
)


class ManifestFault(msgspec.Struct, frozen=True):
    """Why a manifest cannot be used.

    Attributes:
        rule: `read`, `symlink`, `encoding`, `json`, `type`, `schema`.
        message: What is wrong, without a final stop.
        line, column: 1-based, column in bytes; 0 when there is no place.
    """

    path: str
    rule: str
    message: str
    line: int = 0
    column: int = 0


class FoundManifest(msgspec.Struct, frozen=True, gc=False):
    """The manifest file that counts. `stamp`: time, size and number of the file."""

    path: str
    format: str
    stamp: tuple[int, int, int]


def find_manifest(root: str) -> FoundManifest | ManifestFault | None:
    """The manifest that counts below `root`, or None when there is none."""
    path = f"{root}/{AGENT_PLUGINS_FILE}"
    status = _look(path)
    if status is not None:
        if isinstance(status, str) or not stat.S_ISREG(status.st_mode):
            return _not_a_file(path, status)
        if is_agent_plugins(path):
            return FoundManifest(path, "agent-plugins", _stamp(status))
    for directory, format in CLASSIC_MANIFESTS:
        folder = f"{root}/{directory}"
        status = _look(folder)
        if status is None:
            continue
        path = f"{folder}/plugin.json"
        if isinstance(status, str) or not stat.S_ISDIR(status.st_mode):
            return _not_a_file(path, status)
        status = _look(path)
        if status is None:
            continue
        if isinstance(status, str) or not stat.S_ISREG(status.st_mode):
            return _not_a_file(path, status)
        return FoundManifest(path, format, _stamp(status))
    return None


def _stamp(status: os.stat_result) -> tuple[int, int, int]:
    # The change time, for the other one can be set back.
    return status.st_ctime_ns, status.st_size, status.st_ino


def _look(path: str) -> os.stat_result | str | None:
    """What lies there, links not followed; None when nothing does, why it cannot be told."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        return os_reason(error)


def _not_a_file(path: str, status: os.stat_result | str) -> ManifestFault:
    if isinstance(status, str):
        return ManifestFault(path, "read", status)
    if stat.S_ISLNK(status.st_mode):
        return ManifestFault(path, "symlink", "it is reached through a symlink")
    return ManifestFault(path, "read", "it is no regular file in a directory")


AGENT_SCHEMAS = "https://agent-plugins.org/schemas/"


def is_agent_plugins(path: str) -> bool:
    """Whether a root `plugin.json` claims the Agent Plugins format."""
    try:
        data = read_file(path)
    except OSError:
        return False
    if AGENT_SCHEMAS.encode() not in data.replace(b"\\/", b"/"):
        return False
    value = json_fast.decode(data)
    if value is json_fast.SUSPECT:
        try:
            value = read_exactly(data, ANY)
        except (JsonFault, UnicodeDecodeError):
            return False
    schema = member(value, "$schema")
    return isinstance(schema, str) and schema.startswith(AGENT_SCHEMAS)


def text_fault(data: bytes, path: str) -> ManifestFault | None:
    """What is wrong with the encoding."""
    if data.startswith(BOM):
        return ManifestFault(path, "encoding", "it begins with a byte order mark", 1, 1)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return ManifestFault(path, "encoding", "it is not UTF-8", line)
    return None
