"""The part of a core that a panel's first rows need: marketplaces and plugins from disk.

Two steps: what was on the shelf the last time needs next to no modules; what the disk says now
needs a quarter of those of the whole core. A panel shows rows before the rest is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from core.channels import EventHub
from core.config.paths import Home
from core.errors import CoreError
from core.plugins.shelf import PluginShelf
from core.ports import Deps
from core.protocol.events import Event, PluginsChanged
from core.protocol.jackfield import NoParams, StatusResult
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.problems import ProblemBoard
from core.service.rows import RowsService
from core.version import VERSION

if TYPE_CHECKING:
    from core.plugin_part import PluginPart


class Early:
    """Owners of what is read from disk, and the methods that need nothing else.

    Attributes:
        shown: Set once there are plugin rows, or it is known that there are none yet.
    """

    def __init__(self, deps: Deps, overrides: Mapping[str, Any] | None = None) -> None:
        self.deps, self._overrides = deps, overrides
        self.hub = hub = EventHub()
        self.home = Home.of(deps)
        self.shelf = PluginShelf(deps, self.home.codex_home, hub.emit)
        self.problems = ProblemBoard(hub, deps.clock)
        self.rows = RowsService(
            {
                "marketplaces": self.shelf.marketplaces,
                "plugins": self.shelf.plugins,
                "problems": self.problems.owner,
            },
            hub,
        )
        self.shown = anyio.Event()
        self._part: PluginPart | None = None
        self._loading = anyio.Lock()
        self._reading: anyio.Event | None = None
        self._failure: CoreError | None = None
        hub.listen(self._happened)

    def handlers(self) -> list[Mapping[str, Handler]]:
        """Of the methods that can be answered without the rest."""
        return [
            self.rows.handlers(),
            self.problems.handlers(),
            {"jackfield/status": self._status},
        ]

    def _happened(self, event: Event) -> None:
        if isinstance(event, PluginsChanged):
            self.shown.set()

    @property
    def part(self) -> PluginPart:
        """Configuration, account and plugin catalog; loads their modules when they are not."""
        if self._part is None:
            from core.plugin_part import PluginPart

            self._part = PluginPart(self.deps, self.home, self.shelf, self.hub, self._overrides)
        return self._part

    async def load(self) -> PluginPart:
        """The same, its modules loaded in a thread."""
        async with self._loading:
            if self._part is None:
                await anyio.to_thread.run_sync(import_module, "core.plugin_part")
            return self.part

    async def read(self) -> None:
        """Read marketplaces and plugins once; whoever asks later waits for the same reading.

        Raises:
            CoreError: As `PluginCatalog.refresh`.
        """
        if self._reading is None:
            self._reading = anyio.Event()
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._from_last_time)
                    part = await self.load()
                    await part.catalog.refresh()
            except* CoreError as errors:
                self._failure = next(e for e in errors.exceptions if isinstance(e, CoreError))
            finally:
                self.shown.set()
                self._reading.set()
        await self._reading.wait()
        if self._failure is not None:
            raise self._failure

    async def _from_last_time(self) -> None:
        with anyio.move_on_after(1.0):
            await self.shelf.show_last()

    async def _status(self, params: NoParams, scope: RequestScope) -> StatusResult:
        """Where this core works."""
        deps, home = self.deps, self.home
        store = (await self.load()).config
        loaded = await anyio.to_thread.run_sync(partial(store.load, deps.cwd))
        root = loaded.project_root
        return StatusResult(
            home=str(home.home),
            codex_home=str(home.codex_home),
            cwd=str(deps.cwd),
            project_root=str(root) if root is not None else None,
            trusted=loaded.trusted,
            version=VERSION,
            read_only=deps.read_only,
            config_file=str(home.config_file),
            state_dir=str(deps.state_dir),
        )
