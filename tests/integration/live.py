"""A whole core over real files and processes, and everything that it tells."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core import method_table as methods
from core.client.contract import CoreClient
from core.compose import open_core
from core.deps import real_deps
from core.ports import Deps
from core.protocol import jackfield as wire
from core.protocol.events import Event, StateChanged
from core.protocol.rows import DOMAINS, Domain
from tests.fakes.ports import MemorySecrets
from tests.fakes.seen import Seen

PATIENCE = 20.0


@dataclass
class Live:
    """What a core has told since it was opened, event by event, and its rows as they stand.

    Attributes:
        events: All of them, in order, none folded into another.
    """

    client: CoreClient
    events: Seen[Event] = field(default_factory=Seen[Event])
    tables: dict[Domain, dict[str, Any]] = field(
        default_factory=lambda: {domain: {} for domain in DOMAINS}
    )

    def take(self, event: Event) -> None:
        """A listener of the hub."""
        if isinstance(event, StateChanged):
            rows = self.tables[event.domain]
            rows.update((row.id, row) for row in event.upserted)
            for key in event.removed:
                rows.pop(key, None)
        self.events.append(event)

    async def until(self, met: Callable[[], Any], seconds: float = PATIENCE) -> None:
        """Wait for events until it is so."""
        await self.events.until(met, seconds)

    async def start(self, *, consent_all: bool = False) -> None:
        await self.client.call(
            methods.JACKFIELD_PANEL_START, wire.PanelStartParams(consent_all=consent_all)
        )

    async def refresh(self, domain: Domain, *, forced: bool = True) -> str:
        params = wire.RefreshParams(domain=domain, forced=forced)
        return (await self.client.call(methods.JACKFIELD_REFRESH, params)).refresh_id

    async def switch(self, kind: Any, id: str, enabled: bool) -> wire.SwitchResult:
        params = wire.SwitchParams(kind=kind, id=id, enabled=enabled)
        return await self.client.call(methods.JACKFIELD_SWITCH, params)

    def server(self, name: str) -> Any:
        """The row of a server; its `status` is "" while there is none."""
        return self.tables["servers"].get(name, _NOBODY)


@dataclass(frozen=True)
class _Nobody:
    status: str = ""
    reason: str = ""


_NOBODY = _Nobody()


@asynccontextmanager
async def live(deps: Deps) -> AsyncGenerator[Live]:
    """A core and what it tells."""
    async with open_core(deps) as core:
        here = Live(core.client())
        core.hub.listen(here.take)
        yield here


def deps_of(home: Path, cwd: Path, system_dir: Path, **more: str) -> Deps:
    """Real everything, but for the keyring and the system's folder."""
    environ: Mapping[str, str] = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "NO_PROXY": "127.0.0.1,localhost",
        **more,
    }
    deps = real_deps(environ, cwd)
    return replace(deps, secrets=MemorySecrets(), system_dir=system_dir)
