"""The app layer's cache on disk: ours is written, Codex's is only read.

Codex keeps its own below `CODEX_HOME/cache`, one file per account (observed in Codex 0.171.0).
Whichever of the two is newer gives the first rows. A file that cannot be read counts as absent.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha1
from pathlib import Path
from typing import Any

import msgspec

from core.apps.directory import Directory
from core.protocol.app_info import AppInfo
from core.seams import BackendAccount

_SCHEMA = 1
_CODEX_DIRECTORY_SCHEMA = 1
_CODEX_TOOLS_SCHEMA = 4
_UNREADABLE = (OSError, msgspec.MsgspecError, RecursionError)

RawTools = tuple[dict[str, Any], ...]


class _DirectoryFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    schema_version: int
    at: float
    pages: int
    entries: tuple[AppInfo, ...]


class _ToolsFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    schema_version: int
    at: float
    tools: RawTools


class _CodexDirectory(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int
    connectors: tuple[AppInfo, ...]


class _CodexTool(msgspec.Struct, frozen=True, kw_only=True):
    tool: dict[str, Any]


class _CodexTools(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int
    tools: tuple[_CodexTool, ...]


def _digest(value: object) -> str:
    # Names a file as Codex does; nothing is protected by it.
    return sha1(msgspec.json.encode(value), usedforsecurity=False).hexdigest()


class DiskCache:
    """Reads and writes block: call them in a thread.

    Args:
        folder: Below Jackfield's cache directory; made when first written.
        codex_cache: `CODEX_HOME/cache`.
    """

    def __init__(self, folder: Path, codex_cache: Path) -> None:
        self._folder, self._codex = folder, codex_cache

    def load_directory(self, account: BackendAccount) -> Directory | None:
        """The newest directory of this account that a file holds."""
        ours, theirs = self._our_directory(account), self._codex_directory(account)
        return max((it for it in (ours, theirs) if it), key=lambda it: it.at, default=None)

    def load_tools(self, account: BackendAccount) -> tuple[float, RawTools] | None:
        """The newest tool snapshot of this account, with its age as seconds since the epoch."""
        ours, theirs = self._our_tools(account), self._codex_tools(account)
        return max((it for it in (ours, theirs) if it), key=lambda it: it[0], default=None)

    def save_directory(self, account: BackendAccount, directory: Directory) -> None:
        """Keep it for the next start; a disk that cannot be written is no error."""
        content = _DirectoryFile(
            schema_version=_SCHEMA,
            at=directory.at,
            pages=directory.pages,
            entries=directory.entries,
        )
        self._write(self._ours(account, "directory"), content)

    def save_tools(
        self, account: BackendAccount, at: float, tools: Sequence[dict[str, Any]]
    ) -> None:
        """Keep the committed snapshot; a disk that cannot be written is no error."""
        content = _ToolsFile(schema_version=_SCHEMA, at=at, tools=tuple(tools))
        self._write(self._ours(account, "tools"), content)

    def _ours(self, account: BackendAccount, kind: str) -> Path:
        return self._folder / f"{account.identity}-{kind}.json"

    def _write(self, path: Path, content: msgspec.Struct) -> None:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".writing-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.encode(content))
                os.replace(name, path)
            except OSError:
                os.unlink(name)
                raise

    def _our_directory(self, account: BackendAccount) -> Directory | None:
        path = self._ours(account, "directory")
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=_DirectoryFile)
        except FileNotFoundError:
            return None
        except _UNREADABLE:
            return _discard(path)
        if kept.schema_version != _SCHEMA:
            return _discard(path)
        return Directory(entries=kept.entries, pages=kept.pages, at=kept.at)

    def _our_tools(self, account: BackendAccount) -> tuple[float, RawTools] | None:
        path = self._ours(account, "tools")
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=_ToolsFile)
        except FileNotFoundError:
            return None
        except _UNREADABLE:
            return _discard(path)
        if kept.schema_version != _SCHEMA:
            return _discard(path)
        return kept.at, kept.tools

    def _codex_directory(self, account: BackendAccount) -> Directory | None:
        name = _digest({"chatgpt_base_url": account.base_url, **account.key})
        path = self._codex / "codex_app_directory" / f"{name}.json"
        with suppress(*_UNREADABLE):
            at = path.stat().st_mtime
            kept = msgspec.json.decode(path.read_bytes(), type=_CodexDirectory)
            if kept.schema_version == _CODEX_DIRECTORY_SCHEMA:
                return Directory(entries=kept.connectors, pages=0, at=at)
        return None

    def _codex_tools(self, account: BackendAccount) -> tuple[float, RawTools] | None:
        path = self._codex / "codex_apps_tools" / f"{_digest(dict(account.key))}.json"
        with suppress(*_UNREADABLE):
            at = path.stat().st_mtime
            kept = msgspec.json.decode(path.read_bytes(), type=_CodexTools)
            if kept.schema_version == _CODEX_TOOLS_SCHEMA:
                return at, tuple(entry.tool for entry in kept.tools)
        return None


def _discard(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
