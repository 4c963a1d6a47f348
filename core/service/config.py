"""config/read, config/value/write, config/batchWrite; the layers' rows; switches and undo."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from core.config.edit import ConfigEditor, Undo, WriteResult
from core.config.edit_plan import Edit
from core.config.merge import at, has
from core.config.model import Loaded
from core.config.overridden import overridden
from core.config.store import ConfigStore
from core.config.switching import Switched, Switcher
from core.config.watch import Change, FileWatch
from core.errors import CoreError, InvalidRequest
from core.ports import Deps
from core.protocol.events import Event, FileChanged, Notice
from core.protocol.facts import Evidence
from core.protocol.rows import ConfigRow
from core.scope import RequestScope
from core.service.config_rows import config_rows
from core.service.dispatch import Handler
from core.snapshot import SnapshotOwner

if TYPE_CHECKING:
    from core.protocol.base import NoParams
    from core.protocol.config import (
        ConfigBatchWriteParams,
        ConfigReadParams,
        ConfigReadResult,
        ConfigRequirementsReadResult,
        ConfigValueWriteParams,
        ConfigWriteResult,
    )

log = logging.getLogger(__name__)

READ_BACK_SECONDS = 2.0
_UNDO_KEPT = 100


@dataclass(frozen=True, slots=True)
class ConfigDelta:
    """What a change of the configuration comes to.

    Attributes:
        loaded: The configuration now.
        tables: Top-level keys whose effective value differs from before.
        ours: We wrote it.
        reload: The writer wants loaded threads to take it up at once.
        legible: A file that could not be read can be read now, or the other way round.
        seen: The watch has seen it, before whoever wrote it could tell.
        problems: Domains that have other problems now.
    """

    loaded: Loaded
    tables: frozenset[str]
    ours: bool
    reload: bool = False
    legible: bool = False
    seen: bool = False
    problems: frozenset[str] = frozenset()


Listener = Callable[[ConfigDelta], Awaitable[None]]


class ConfigService:
    """The configuration towards clients; `run` must be running for outside edits to be seen.

    Args:
        store, editor: Read and write.
        deps: Clock; `cwd` chooses the project layers of the rows.
        emit: Takes state events and occurrences.
        also: Further files to watch; a change is told by `FileChanged` only.
    """

    def __init__(
        self,
        store: ConfigStore,
        editor: ConfigEditor,
        deps: Deps,
        emit: Callable[[Event], None],
        also: Sequence[Path] = (),
    ) -> None:
        self._store = store
        self._editor = editor
        self._deps = deps
        self._emit = emit
        self._also = tuple(str(path) for path in also)
        self.owner: SnapshotOwner[ConfigRow] = SnapshotOwner("config", emit)
        self._switcher = Switcher(store, editor, deps.cwd)
        self._listeners: list[Listener] = []
        self._current: Loaded | None = None
        self._undo: dict[str, tuple[Undo, WriteResult]] = {}
        self._fresh = anyio.Event()
        self._pending: list[Change] = []
        self._unchecked: list[tuple[float, WriteResult]] = []
        self._to_check = anyio.Event()
        self._reading = anyio.Lock()
        self._watch = FileWatch(self._on_changes, editor.is_own)

    def handlers(self) -> dict[str, Handler]:
        return {
            "config/read": self.read,
            "config/value/write": self.value_write,
            "config/batchWrite": self.batch_write,
            "configRequirements/read": self.requirements_read,
        }

    def listen(self, listener: Listener) -> None:
        """Call `listener` after every change that may matter, one change at a time."""
        self._listeners.append(listener)

    async def load(self, cwd: Path | None = None) -> Loaded:
        """The configuration now; disk work happens in a thread."""
        return await anyio.to_thread.run_sync(lambda: self._store.load(cwd))

    async def refresh(
        self, *, ours: bool = False, reload: bool = False, seen: bool = False
    ) -> Loaded:
        """Read again and tell everybody what differs.

        Emits: `ConfigChanged` when a layer's row differs.
        """
        async with self._reading:
            ticket = self.owner.begin()
            loaded = await self.load(self._deps.cwd)
            before, self._current = self._current, loaded
            self.owner.publish(ticket, config_rows(loaded), at=self._deps.clock.now())
            await self._watch.watch(self._watched(loaded))
        changed = before is None or before.fingerprint != loaded.fingerprint
        if before is not None and (changed or reload):
            delta = ConfigDelta(
                loaded,
                _differing(before.value, loaded.value),
                ours,
                reload,
                legible=_illegible(before) != _illegible(loaded),
                seen=seen,
                problems=frozenset(p.domain for p in {*before.problems} ^ {*loaded.problems}),
            )
            for listener in self._listeners:
                await self._guarded(listener, delta)
        return loaded

    async def _guarded(self, work: Callable[..., Awaitable[object]], *args: object) -> None:
        """What follows from a change: a failure of one thing is told and stops no other."""
        try:
            await work(*args)
        except Exception as error:
            known = isinstance(error, CoreError)
            log.warning("after a change of the configuration: %s", error, exc_info=not known)
            text = error.words if known else "a part of Jackfield failed; the log says more"
            at = self._deps.clock.now()
            self._emit(Notice(at=at, area="config", about="config.toml", text=text, tone="bad"))

    def _watched(self, loaded: Loaded) -> list[str]:
        home = self._store.home
        files = [str(layer.file) for layer in loaded.layers if layer.file is not None]
        return [*files, str(home.requirements_file), *self._also]

    async def run(self) -> None:
        """Watch the files and read our own writes back; until cancelled."""
        await self.refresh(seen=True)
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch.run)
            group.start_soon(self._follow)
            group.start_soon(self._read_back)

    def _on_changes(self, changes: list[Change]) -> None:
        self._pending.extend(changes)
        self._fresh.set()

    async def _follow(self) -> None:
        while True:
            await self._fresh.wait()
            self._fresh = anyio.Event()
            changes, self._pending = self._pending, []
            for change in changes:
                self._emit(
                    FileChanged(file=change.path, ours=change.ours, at=self._deps.clock.now())
                )
            if any(change.path not in self._also for change in changes):
                ours = all(change.ours for change in changes)
                await self._guarded(partial(self.refresh, ours=ours, seen=True))

    async def _read_back(self) -> None:
        clock = self._deps.clock
        while True:
            while self._unchecked:
                due, result = self._unchecked[0]
                await clock.sleep(due - clock.monotonic())
                # Taken back meanwhile: it is no longer ours to defend.
                if self._unchecked and self._unchecked[0][1] is result:
                    self._unchecked.pop(0)
                    await self._guarded(self._check, result)
            self._to_check = anyio.Event()
            await self._to_check.wait()

    async def _check(self, result: WriteResult) -> None:
        outcome = await self._editor.recheck(result)
        if outcome == "kept":
            return
        key = ", ".join(sorted(".".join(path) for path, _ in result.plan.changes))
        text = (
            f"another program had undone {key}: written once more"
            if outcome == "rewritten"
            else f"another program has changed {key} since: left as it is"
        )
        self._emit(
            Notice(
                area="config",
                about=key,
                text=text,
                tone="care",
                evidence=Evidence(file=result.undo.file, layer="user"),
                at=self._deps.clock.now(),
            )
        )
        await self.refresh(ours=True)

    async def read(self, params: ConfigReadParams, scope: RequestScope) -> ConfigReadResult:
        """The effective configuration, leniently: what is wrong is left out."""
        from core.protocol.config import ConfigReadResult

        return await anyio.to_thread.run_sync(
            lambda: ConfigReadResult.model_validate(self._told(params))
        )

    def _told(self, params: ConfigReadParams) -> dict[str, Any]:
        from core.config import wire

        if params.cwd is not None and not Path(params.cwd).is_absolute():
            cwd: Path | None = self._deps.cwd / params.cwd
        else:
            cwd = Path(params.cwd) if params.cwd is not None else None
        loaded = self._store.load(cwd)
        return {
            "config": wire.effective_config(loaded),
            "origins": wire.origins(loaded),
            "layers": wire.layers(loaded) if params.include_layers else None,
        }

    async def requirements_read(
        self, params: NoParams, scope: RequestScope
    ) -> ConfigRequirementsReadResult:
        """What an administrator requires."""
        from core.config import wire
        from core.protocol.config import ConfigRequirementsReadResult

        loaded = await self.load()
        return ConfigRequirementsReadResult(requirements=wire.requirements(loaded))

    async def value_write(
        self, params: ConfigValueWriteParams, scope: RequestScope
    ) -> ConfigWriteResult:
        """One edit of the user's config.toml."""
        edit = Edit(params.key_path, params.value, params.merge_strategy)
        return await self._write([edit], params.expected_version, params.file_path)

    async def batch_write(
        self, params: ConfigBatchWriteParams, scope: RequestScope
    ) -> ConfigWriteResult:
        """Several edits, all or none."""
        edits = [Edit(edit.key_path, edit.value, edit.merge_strategy) for edit in params.edits]
        return await self._write(
            edits,
            params.expected_version,
            params.file_path,
            reload=params.reload_user_config,
        )

    async def _write(
        self,
        edits: Sequence[Edit],
        expected_version: str | None,
        file_path: str | None,
        *,
        reload: bool = False,
    ) -> ConfigWriteResult:
        from core.protocol.config import ConfigWriteResult

        file = Path(file_path) if file_path is not None else None
        result = await self.write(
            edits, expected_version=expected_version, file=file, reload=reload
        )
        above = overridden(result.plan.paths, await self.load())
        return ConfigWriteResult(
            status="ok" if above is None else "okOverridden",
            version=result.version,
            file_path=str(result.file),
            overridden_metadata=above,
        )

    async def write(
        self,
        edits: Sequence[Edit],
        *,
        expected_version: str | None = None,
        file: Path | None = None,
        tolerant: bool = False,
        reload: bool = False,
    ) -> WriteResult:
        """Write, tell everybody, and read back after two seconds.

        Args:
            tolerant: Faults that are there already do not stand in the way.
            reload: Loaded threads take it up at once.

        Raises:
            ConfigWriteError, InternalError: Nothing was written.
        """
        await self._known()
        result = await self._editor.write(
            edits, expected_version=expected_version, file=file, tolerant=tolerant
        )
        await self._written(result, reload=reload)
        return result

    async def _known(self) -> None:
        """What a change is told against has been read."""
        if self._current is None:
            await self.refresh()

    async def _written(self, result: WriteResult, *, reload: bool = False) -> None:
        if result.changed:
            due = self._deps.clock.monotonic() + READ_BACK_SECONDS
            self._unchecked.append((due, result))
            self._to_check.set()
        await self.refresh(ours=True, reload=reload)

    async def switch_plugin(
        self, plugin_id: str, enabled: bool, *, force: bool = False
    ) -> tuple[Switched, str | None]:
        """Turn a plugin on or off; with the token that takes it back."""
        await self._known()
        return await self._after(await self._switcher.plugin(plugin_id, enabled, force=force))

    async def switch_server(
        self, name: str, enabled: bool, *, plugin_id: str | None = None, force: bool = False
    ) -> tuple[Switched, str | None]:
        """Turn an MCP server on or off; with the token that takes it back."""
        await self._known()
        switched = await self._switcher.server(name, enabled, plugin_id=plugin_id, force=force)
        return await self._after(switched)

    async def switch_app(
        self, app_id: str, enabled: bool, *, force: bool = False
    ) -> tuple[Switched, str | None]:
        """Turn an app on or off; with the token that takes it back."""
        await self._known()
        return await self._after(await self._switcher.app(app_id, enabled, force=force))

    async def switch_app_tool(
        self, app_id: str, tool: str, enabled: bool, *, force: bool = False
    ) -> tuple[Switched, str | None]:
        """Turn an app's tool on or off; with the token that takes it back."""
        await self._known()
        return await self._after(await self._switcher.app_tool(app_id, tool, enabled, force=force))

    async def switch_server_tool(
        self,
        server: str,
        tool: str,
        enabled: bool,
        *,
        plugin_id: str | None = None,
        force: bool = False,
    ) -> tuple[Switched, str | None]:
        """Turn a server's tool on or off; with the token that takes it back."""
        await self._known()
        switched = await self._switcher.server_tool(
            server, tool, enabled, plugin_id=plugin_id, force=force
        )
        return await self._after(switched)

    async def _after(self, switched: Switched) -> tuple[Switched, str | None]:
        result = switched.result
        if result is None or not result.changed:
            return switched, None
        token = self.undoable(result)
        await self._written(result)
        return switched, token

    def undoable(self, result: WriteResult) -> str | None:
        """The token that takes a write back; None when it has changed nothing."""
        if not result.changed:
            return None
        token = secrets.token_hex(8)
        self._undo[token] = (result.undo, result)
        while len(self._undo) > _UNDO_KEPT:
            self._undo.pop(next(iter(self._undo)))
        return token

    async def undo(self, token: str) -> WriteResult:
        """Take a switch back; once, and only while nobody has changed the same value.

        Raises:
            InvalidRequest: Used already, or the value is another one by now.
        """
        found = self._undo.get(token)
        if found is None:
            raise InvalidRequest("this can no longer be undone")
        undo, result = found
        loaded = await self.load()
        for path, wanted in result.plan.changes:
            present = at(loaded.user.written, path) if has(loaded.user.written, path) else None
            if present != wanted:
                raise InvalidRequest(f"{'.'.join(path)} has been changed since")
        taken_back = await self._editor.take_back(undo)
        self._undo.pop(token, None)
        self._unchecked = [waiting for waiting in self._unchecked if waiting[1] is not result]
        await self._written(taken_back)
        return taken_back


def _illegible(loaded: Loaded) -> frozenset[str]:
    broken = [layer.problem for layer in loaded.layers if layer.active]
    broken.append(loaded.requirements.broken)
    return frozenset(problem.id for problem in broken if problem is not None)


def _differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> frozenset[str]:
    keys = before.keys() | after.keys()
    return frozenset(key for key in keys if before.get(key) != after.get(key))
