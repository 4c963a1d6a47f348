"""jackfield/doctor: all areas at once; one that does not answer holds up none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import anyio
import anyio.to_thread

from core.config.paths import Home
from core.doctor.home_files import home_checks
from core.doctor.machine import keyring_checks, machine_checks, network_checks
from core.doctor.programs import Started, command_checks, version_checks, wanted
from core.errors import CoreError
from core.mcp.spec import Program
from core.plugins.sources.git import GitFailed
from core.ports import Deps
from core.protocol.facts import Problem
from core.protocol.jackfield_doctor import Area, Check, DoctorParams, DoctorResult, Verdict
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.mcp.effective import Reading, ServerSource
    from core.plugins.catalog import PluginCatalog
    from core.process import Processes
    from core.protocol.rows import MarketplaceRow, PluginRow

DEADLINE = 20.0
Looks = Callable[[], Awaitable[Iterable[Check]]]
_SEVERITY: dict[str, Verdict] = {
    "error": "fault",
    "warning": "warning",
    "note": "note",
    "ok": "ok",
}
_AREAS: dict[str, Area] = {"config": "configuration", "servers": "servers"}


class Git(Protocol):
    """Asks a git server."""

    async def commit(self, url: str, ref: str | None) -> str: ...


class DoctorService:
    """Starts no server, writes nothing, and asks nobody on the network unless told to."""

    def __init__(
        self,
        deps: Deps,
        source: ServerSource,
        catalog: PluginCatalog,
        processes: Processes,
        git: Git,
    ) -> None:
        self._deps, self._source = deps, source
        self._catalog, self._processes, self._git = catalog, processes, git
        self._reading = anyio.Lock()

    def handlers(self) -> dict[str, Handler]:
        return {"jackfield/doctor": self.doctor}

    async def doctor(self, params: DoctorParams, scope: RequestScope) -> DoctorResult:
        """Look everything over."""
        looks: dict[Area, Looks] = {
            "home": self._home,
            "configuration": self._configuration,
            "plugins": self._plugins,
            "servers": self._servers,
            "programs": lambda: self._programs(online=params.online),
            "keyring": self._keyring,
            "network": self._network,
            "machine": self._machine,
        }
        found: dict[Area, list[Check]] = {}

        async def look(area: Area) -> None:
            found[area] = await _within(area, looks[area])

        async with anyio.create_task_group() as tasks:
            for area in looks:
                tasks.start_soon(look, area)
        return DoctorResult(checks=tuple(check for area in looks for check in found[area]))

    async def _home(self) -> list[Check]:
        deps = self._deps
        own = {"state": deps.state_dir, "config": deps.config_dir, "cache": deps.cache_dir}
        home = Home.of(deps)
        return await anyio.to_thread.run_sync(
            lambda: list(home_checks(home, own)), abandon_on_cancel=True
        )

    async def _read(self) -> Reading:
        return await self._source.read(self._deps.cwd, account=False)

    async def _configuration(self) -> list[Check]:
        loaded = await self._source.loaded(self._deps.cwd)
        checks = [_of_problem(problem) for problem in loaded.problems]
        if not checks:
            checks.append(
                Check(
                    id="configuration.sound",
                    area="configuration",
                    verdict="ok",
                    finding="every file of the configuration is sound",
                )
            )
        if loaded.trusted is False:
            checks.append(
                Check(
                    id="configuration.trust",
                    area="configuration",
                    verdict="note",
                    finding=f"the folder {loaded.project_root or self._deps.cwd} is not trusted: "
                    "its own configuration does not count",
                )
            )
        return checks

    async def _plugins(self) -> list[Check]:
        markets, plugins = await self._rows()
        found = {p.id: p for row in (*markets, *plugins) for p in row.problems}
        return [_of_problem(problem) for problem in found.values()] or [
            Check(
                id="plugins.sound",
                area="plugins",
                verdict="ok",
                finding=f"{len(markets)} marketplaces and {len(plugins)} plugins, all readable",
            )
        ]

    async def _rows(self) -> tuple[list[MarketplaceRow], list[PluginRow]]:
        catalog = self._catalog
        async with self._reading:
            if catalog.plugins.current.phase != "final":
                await catalog.refresh()
        markets, plugins = catalog.marketplaces.current.rows, catalog.plugins.current.rows
        return list(markets.values()), list(plugins.values())

    async def _servers(self) -> list[Check]:
        reading = await self._read()
        checks = [_of_problem(problem) for problem in reading.problems]
        programs: list[Started] = []
        for spec in reading.specs:
            checks += [_of_problem(problem) for problem in spec.problems]
            if spec.standing == "usable" and isinstance(spec.target, Program):
                program = spec.target
                programs.append(
                    Started(
                        server=spec.name,
                        command=program.argv[0],
                        cwd=program.cwd,
                        path=program.env.get("PATH", ""),
                        origin=spec.origin,
                        missing=tuple(n for n in program.env_names if n not in program.env),
                    )
                )
        checks += await anyio.to_thread.run_sync(
            lambda: list(command_checks(programs)), abandon_on_cancel=True
        )
        return checks or [
            Check(
                id="servers.sound",
                area="servers",
                verdict="ok",
                finding="every configured server's program is there",
            )
        ]

    async def _programs(self, *, online: bool) -> list[Check]:
        markets, plugins = await self._rows()
        sources = [row for row in markets if row.source == "git"]
        kinds = {row.source_kind for row in plugins if row.installed or row.configured}
        programs = wanted(git=bool(sources) or "git" in kinds, npm="npm" in kinds)
        looked = version_checks(self._processes, programs, self._deps.environ)
        checks = [check async for check in looked]
        return [*checks, *await self._answering(sources)] if online else checks

    async def _answering(self, sources: Sequence[MarketplaceRow]) -> list[Check]:
        """Whether the servers of git marketplaces answer, and let us in."""
        found: dict[str, Check] = {}

        async def ask(row: MarketplaceRow) -> None:
            said, verdict = "its git server answers", _SEVERITY["ok"]
            try:
                await self._git.commit(row.origin, row.ref)
            except GitFailed as error:
                said, verdict = str(error), _SEVERITY["error"]
            found[row.id] = Check(
                id=f"programs.git:{row.name}",
                area="programs",
                verdict=verdict,
                finding=f"{row.name}: {said}",
                evidence=row.evidence,
                fix="" if verdict == "ok" else "see whether git ls-remote works there",
            )

        async with anyio.create_task_group() as tasks:
            for row in sources:
                tasks.start_soon(ask, row)
        return [found[row.id] for row in sources]

    async def _keyring(self) -> list[Check]:
        credentials = Home.of(self._deps).credentials_file
        return [check async for check in keyring_checks(self._deps.secrets, credentials)]

    async def _network(self) -> list[Check]:
        return list(network_checks(self._deps.environ))

    async def _machine(self) -> list[Check]:
        return list(machine_checks(self._deps))


async def _within(area: Area, look: Looks) -> list[Check]:
    try:
        with anyio.fail_after(DEADLINE):
            return list(await look())
    except TimeoutError:
        said = f"no answer within {DEADLINE:.0f} s"
    except CoreError as error:
        said = error.message
    return [Check(id=f"{area}.looked", area=area, verdict="unknown", finding=said)]


def _of_problem(problem: Problem) -> Check:
    codex = f"; Codex {problem.codex}" if problem.codex else ""
    subject = f"{problem.subject}: " if problem.subject else ""
    return Check(
        id=f"problem:{problem.id}",
        area=_AREAS.get(problem.domain, "plugins"),
        verdict=_SEVERITY[problem.severity],
        finding=f"{subject}{problem.message}{codex}",
        evidence=problem.evidence,
        fix=problem.hint,
    )
