"""Writes settings: minimal edits of the user's config.toml, whole or not at all."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import anyio

from core.config.backup import Backups
from core.config.cooked import cooked, with_absolute_paths
from core.config.edit_judge import judge, refuse_broken
from core.config.edit_plan import INVALID, Edit, Plan, Segments, apply_edits, equivalent
from core.config.edit_text import TextEditor
from core.config.files import Unreadable, os_reason, read_bytes
from core.config.merge import at, has
from core.config.replace import Changed, file_lock, replace_file
from core.config.store import ConfigStore
from core.config.toml.fault import TomlFault, codex_place_of, place_of
from core.config.toml.read import NotUtf8, TomlText, decode, read_toml
from core.config.toml.render import Unwritable
from core.config.version import jsonable, version_of
from core.errors import ConfigWriteError, InternalError
from core.ports import Deps
from core.protocol.facts import Evidence

_TRIES = 5
_REMEMBERED = 200
Outcome = Literal["kept", "rewritten", "lost"]


@dataclass(frozen=True, slots=True)
class Undo:
    """How to take a write back: the very bytes while nobody else has written, else edits."""

    file: str
    edits: tuple[Edit, ...]
    before: bytes | None = field(repr=False)
    after: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """A write that is on disk.

    Attributes:
        file: As it was asked for; symlinks not resolved.
        version: Of the layer now.
        changed: False when everything was already so and the file was left alone.
    """

    file: Path
    version: str
    changed: bool
    plan: Plan
    undo: Undo


class ConfigEditor:
    """Edits config.toml under a lock of ours and never loses what others wrote.

    Args:
        store: Loads what is judged besides the file itself.
        deps: `state_dir` for lock and copies; `read_only` refuses every write.
    """

    def __init__(self, store: ConfigStore, deps: Deps, backups: Backups | None = None) -> None:
        self._store = store
        self._deps = deps
        self.backups = backups or Backups(deps.state_dir, deps.clock.now)
        self._written: dict[str, bytes] = {}
        self._lately: deque[tuple[str, Plan]] = deque(maxlen=_REMEMBERED)

    async def write(
        self,
        edits: Sequence[Edit],
        *,
        expected_version: str | None = None,
        file: Path | None = None,
        tolerant: bool = False,
        project_file: bool = False,
    ) -> WriteResult:
        """Apply all edits or none.

        Args:
            edits: In order; later ones see earlier ones.
            expected_version: Refuse when the file says something else by now.
            file: Must be the user's config.toml.
            tolerant: Faults that are there already do not stand in the way.
            project_file: `file` may be a project's config.toml.

        Raises:
            ConfigWriteError: Refused; the file is untouched.
            InternalError: The file is broken TOML, or cannot be written.
        """
        job = partial(
            self.write_now,
            edits,
            expected_version=expected_version,
            file=file,
            tolerant=tolerant,
            project_file=project_file,
        )
        return await anyio.to_thread.run_sync(job)

    def write_now(
        self,
        edits: Sequence[Edit],
        *,
        expected_version: str | None = None,
        file: Path | None = None,
        tolerant: bool = False,
        project_file: bool = False,
    ) -> WriteResult:
        """As `write`, in the calling thread."""
        path = self._path(file, project_file=project_file)
        target = os.path.realpath(path)
        with file_lock(self._deps.state_dir, target):
            for _ in range(_TRIES):
                try:
                    return self._once(path, target, edits, expected_version, tolerant=tolerant)
                except Changed:
                    continue
        raise InternalError(f"{path} keeps being written by somebody else; nothing was changed")

    def is_own(self, file: str, content: bytes | None) -> bool:
        """Whether a file's content is what we wrote last."""
        return content is not None and self._written.get(os.path.realpath(file)) == content

    def _path(self, file: Path | None, *, project_file: bool) -> str:
        own = str(self._store.home.config_file)
        if self._deps.read_only:
            raise ConfigWriteError("Jackfield runs read-only", "configLayerReadonly")
        if file is None or os.path.realpath(file) == os.path.realpath(own):
            return own
        if project_file and file.name == "config.toml" and file.parent.name == ".codex":
            return str(file)
        message = "Only writes to the user config are allowed"
        raise ConfigWriteError(message, "configLayerReadonly")

    def _once(
        self,
        path: str,
        target: str,
        edits: Sequence[Edit],
        expected_version: str | None,
        *,
        tolerant: bool,
    ) -> WriteResult:
        before = _read(path, target)
        read = _parse(path, before)
        loaded = self._store.load()
        if not tolerant:
            refuse_broken(loaded)
        if expected_version is not None and expected_version != self._version(path, read.value):
            raise ConfigWriteError(
                "Configuration was modified since last read. Fetch latest version and retry.",
                "configVersionConflict",
            )
        plan = apply_edits(read.value, edits)
        if path == str(self._store.home.config_file):
            judge(plan, read.value, loaded, tolerant=tolerant)
        after = _edited(read, plan).encode("utf-8")
        changed = bool(plan.changes) and after != before
        if changed:
            self.backups.before_write(path, before)
            # Before it is to be seen: whoever reads it back knows then that it is ours.
            self._lately.append((target, plan))
            try:
                _replace(path, target, before, after)
            except BaseException:
                self._lately.remove((target, plan))
                raise
            self._written[target] = after
        undo = Undo(path, plan.undo, before, after)
        version = self._version(path, plan.tree)
        return WriteResult(Path(path), version, changed, plan, undo)

    def _version(self, path: str, value: dict[str, Any]) -> str:
        home = str(self._store.home.home)
        return version_of(cooked(with_absolute_paths(value, os.path.dirname(path), home)))

    async def take_back(self, undo: Undo) -> WriteResult:
        """Undo a write; what others have written since stays.

        Raises:
            ConfigWriteError, InternalError: As `write`.
        """
        return await anyio.to_thread.run_sync(partial(self._take_back, undo))

    def _take_back(self, undo: Undo) -> WriteResult:
        project = undo.file != str(self._store.home.config_file)
        self._path(Path(undo.file), project_file=project)
        target = os.path.realpath(undo.file)
        with file_lock(self._deps.state_dir, target):
            present = _read(undo.file, target)
            if present == undo.after and undo.before is not None:
                try:
                    _replace(undo.file, target, present, undo.before)
                except Changed:
                    pass
                else:
                    return self._taken_back(undo, target)
        return self.write_now(undo.edits, file=Path(undo.file), tolerant=True, project_file=project)

    def _taken_back(self, undo: Undo, target: str) -> WriteResult:
        content = undo.before or b""
        self._written[target] = content
        read = _parse(undo.file, content)
        plan = Plan(read.value, (), (), ())
        again = Undo(undo.file, (), undo.after, content)
        version = self._version(undo.file, read.value)
        return WriteResult(Path(undo.file), version, True, plan, again)

    async def recheck(self, result: WriteResult) -> Outcome:
        """Read back a write after a while; call it about two seconds later.

        Codex takes no lock: a writer that had read the file before us and wrote after us has
        undone our change without seeing it. That is mended once. A value that is neither ours
        nor the old one was somebody's choice and stays, and so does what we have written since.
        """
        return await anyio.to_thread.run_sync(partial(self._recheck, result))

    def _recheck(self, result: WriteResult) -> Outcome:
        if not result.changed:
            return "kept"
        path = result.undo.file
        try:
            present = _read(path, os.path.realpath(path))
            value = _parse(path, present).value
        except (InternalError, ConfigWriteError):
            return "lost"
        old = _tree_of(result.undo.before)
        changes = self._still_wanted(result, os.path.realpath(path))
        if all(_value(value, segments) == wanted for segments, wanted in changes):
            return "kept"
        if any(_value(value, segments) != _value(old, segments) for segments, _ in changes):
            return "lost"
        edits = [Edit.at(*segments, value=_json(wanted)) for segments, wanted in changes]
        try:
            own = path == str(self._store.home.config_file)
            self.write_now(edits, file=Path(path), tolerant=True, project_file=not own)
        except (InternalError, ConfigWriteError):
            return "lost"
        return "rewritten"

    def _still_wanted(self, result: WriteResult, target: str) -> list[tuple[Segments, Any]]:
        """Changes of a write that no later write of ours has changed again."""
        plans = [plan for file, plan in list(self._lately) if file == target]
        place = next((n for n, plan in enumerate(plans) if plan is result.plan), len(plans))
        later = [path for plan in plans[place + 1 :] for path, _ in plan.changes]
        return [
            (path, wanted)
            for path, wanted in result.plan.changes
            if not any(_overlap(path, other) for other in later)
        ]


def _overlap(one: Segments, other: Segments) -> bool:
    """One path is the other, or leads to it."""
    short = min(len(one), len(other))
    return one[:short] == other[:short]


def _json(value: Any) -> Any:
    return None if value is None else jsonable(value)


def _value(tree: dict[str, Any], segments: tuple[str, ...]) -> Any:
    return at(tree, segments) if has(tree, segments) else None


def _tree_of(content: bytes | None) -> dict[str, Any]:
    try:
        return read_toml(decode(content or b"")).value
    except (TomlFault, NotUtf8):
        return {}


def _read(path: str, target: str) -> bytes | None:
    try:
        return read_bytes(target)
    except Unreadable as error:
        message = f"failed to load configuration: Failed to read config file {path}: {error}"
        raise InternalError(message, evidence=Evidence(file=path, layer="user")) from None


def _parse(path: str, content: bytes | None) -> TomlText:
    """The file, or a refusal that says where it is broken."""
    try:
        text = decode(content or b"")
    except NotUtf8 as error:
        message = f"failed to load configuration: Failed to read config file {path}: {error}"
        raise InternalError(message, evidence=Evidence(file=path, layer="user")) from None
    try:
        return read_toml(text)
    except TomlFault as fault:
        told, seen = codex_place_of(text, fault.offset), place_of(text, fault.offset)
        evidence = Evidence(file=path, line=seen.line, column=seen.column, layer="user")
        message = f"{path}:{told.line}:{told.column}: {fault.reason}"
        raise InternalError(f"failed to load configuration: {message}", evidence=evidence) from None


def _edited(read: TomlText, plan: Plan) -> str:
    """The changed text, read back and compared before anybody sees it."""
    editor = TextEditor(read)
    try:
        for segments, value in plan.changes:
            if value is None:
                editor.clear(segments)
            else:
                editor.set(segments, value)
        result = read_toml(editor.text)
    except Unwritable as error:
        raise ConfigWriteError(f"invalid value: {error}", INVALID) from None
    except (TomlFault, LookupError) as error:
        raise InternalError(f"this file cannot be edited safely: {error}") from None
    if not equivalent(result.value, plan.tree):
        raise InternalError("this file cannot be edited safely; nothing was changed")
    return editor.text


def _replace(path: str, target: str, before: bytes | None, after: bytes) -> None:
    try:
        if before is None:
            os.makedirs(os.path.dirname(target), exist_ok=True)
        replace_file(target, before, after)
    except Unreadable as error:
        raise InternalError(f"failed to persist config.toml: {error}") from None
    except OSError as error:
        message = f"failed to persist config.toml: {os_reason(error)}"
        raise InternalError(message, evidence=Evidence(file=path, layer="user")) from None
