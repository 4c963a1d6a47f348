"""Reading the effective servers: configuration, plugins and account together, off the loop."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread

from core.config.model import Loaded
from core.config.paths import Home
from core.config.server_entry import ServerEntry
from core.errors import CoreError
from core.mcp.servers import ServerSet
from core.mcp.spec import ServerSpec
from core.protocol.facts import Problem
from core.seams import DeclaredServers, HostedServer, HostedServers, ServerDeclarations

HOSTED_DEADLINE = 5.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What was found at one moment.

    Attributes:
        specs: In byte order of their names.
        problems: Of plugins whose servers could not be read.
    """

    loaded: Loaded
    specs: tuple[ServerSpec, ...]
    problems: tuple[Problem, ...] = ()


class Configs(Protocol):
    """Loads the configuration of a directory; cheap, called in threads."""

    def load(
        self, cwd: Path | None = None, overrides: Mapping[str, Any] | None = None
    ) -> Loaded: ...


@dataclass(frozen=True, kw_only=True)
class ServerSource:
    """Where servers are read from."""

    configs: Configs
    home: Home
    declarations: ServerDeclarations
    hosted: HostedServers
    environ: Mapping[str, str]

    async def loaded(
        self, cwd: Path | None = None, overrides: Mapping[str, Any] | None = None
    ) -> Loaded:
        """The configuration alone."""
        return await anyio.to_thread.run_sync(self.configs.load, cwd, overrides)

    async def read(
        self,
        cwd: Path | None = None,
        overrides: Mapping[str, Any] | None = None,
        *,
        account: bool = True,
    ) -> Reading:
        """The servers of a directory; of requests without a thread when it is None.

        Args:
            account: Look for the account's hosted server too, which may take its time.
        """
        hosted = await self._hosted(cwd) if account else None
        return await anyio.to_thread.run_sync(self._read, cwd, overrides, hosted)

    async def trial(self, cwd: Path | None, name: str, entry: ServerEntry) -> ServerSpec:
        """An entry that need not be in any file, as it would be started for a directory."""

        def make() -> ServerSpec:
            loaded = self.configs.load(cwd, None)
            base = cwd if cwd is not None else self.home.codex_home
            none = DeclaredServers()
            return ServerSet(loaded=loaded, declared=none, environ=self.environ, base=base).trial(
                name, entry
            )

        return await anyio.to_thread.run_sync(make)

    def _read(
        self, cwd: Path | None, overrides: Mapping[str, Any] | None, hosted: HostedServer | None
    ) -> Reading:
        loaded = self.configs.load(cwd, overrides)
        declared = self._declared(cwd)
        found = ServerSet(
            loaded=loaded,
            declared=declared,
            environ=self.environ,
            base=cwd if cwd is not None else self.home.codex_home,
            hosted=hosted,
        )
        return Reading(loaded=loaded, specs=found.specs(), problems=declared.problems)

    def _declared(self, cwd: Path | None) -> DeclaredServers:
        try:
            return self.declarations.declared_servers(cwd)
        except CoreError as error:
            _log.warning("servers of plugins: %s", error)
            return DeclaredServers()

    async def _hosted(self, cwd: Path | None) -> HostedServer | None:
        try:
            with anyio.fail_after(HOSTED_DEADLINE):
                return await self.hosted.hosted_server(cwd)
        except (CoreError, TimeoutError) as error:
            _log.info("the hosted apps server: %s", error)
            return None
