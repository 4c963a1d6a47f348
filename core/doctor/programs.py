"""Programs that work depends on: are they there, which are they, do they answer."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import anyio

from core.errors import CoreError
from core.process import Processes
from core.protocol.facts import Evidence
from core.protocol.jackfield_doctor import Area, Check, Verdict

DEADLINE = 5.0


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A program of the machine.

    Attributes:
        why: What does not work without it.
        fix: How to get it.
        needed: Something in this home needs it.
    """

    name: str
    why: str
    fix: str
    needed: bool = False


@dataclass(frozen=True, kw_only=True)
class Started:
    """A server's program.

    Attributes:
        path: The `PATH` that it is looked up in.
    """

    server: str
    command: str
    cwd: str
    path: str
    origin: Evidence
    missing: tuple[str, ...] = ()


def wanted(*, git: bool, npm: bool) -> tuple[Wanted, ...]:
    """The programs, and whether this home needs them."""
    return (
        Wanted(name="git", needed=git, why="git marketplaces and plugins", fix="install git"),
        Wanted(name="npm", needed=npm, why="plugins from npm", fix="install Node.js with npm"),
        Wanted(name="codex", why="the agent itself", fix="npm install -g @openai/codex"),
    )


async def version_check(processes: Processes, program: Wanted, environ: Mapping[str, str]) -> Check:
    """Where it is and what it says of itself."""
    found = shutil.which(program.name, path=environ.get("PATH", ""))
    if found is None:
        verdict: Verdict = "fault" if program.needed else "note"
        return _check(
            program.name, verdict, f"{program.name} is not on PATH: needed for {program.why}",
            fix=program.fix,
        )  # fmt: skip
    try:
        done = await processes.run([found, "--version"], env=environ, deadline=DEADLINE, limit=4096)
    except CoreError as error:
        return _check(
            program.name, "warning", f"{program.name} does not start: {error.message}", found
        )
    said = done.stdout.decode("utf-8", "replace").strip().splitlines()
    if done.exit_code != 0 or not said:
        return _check(
            program.name, "warning", f"{program.name} --version ended with {done.exit_code}", found
        )
    words = said[0] if said[0].startswith(program.name) else f"{program.name} {said[0]}"
    return _check(program.name, "ok", words[:80], found)


async def version_checks(
    processes: Processes, programs: Sequence[Wanted], environ: Mapping[str, str]
) -> AsyncGenerator[Check]:
    """All at once; in their order."""
    found: dict[str, Check] = {}

    async def look(program: Wanted) -> None:
        found[program.name] = await version_check(processes, program, environ)

    async with anyio.create_task_group() as tasks:
        for program in programs:
            tasks.start_soon(look, program)
    for program in programs:
        yield found[program.name]


def command_checks(servers: Sequence[Started]) -> Iterator[Check]:
    """Whether each server's program can be found, and has the variables it is to be given."""
    for server in servers:
        found = shutil.which(server.command, path=server.path)
        if found is None:
            yield _check(
                f"command:{server.server}",
                "fault",
                f"{server.server}: {_not_found(server.command)}",
                fix="install it, or write its whole path into `command`",
                evidence=server.origin,
                area="servers",
            )
        for name in server.missing:
            yield _check(
                f"variable:{server.server}:{name}",
                "warning",
                f"{server.server}: the variable {name} is not set",
                fix=f"export {name} before Codex is started",
                evidence=server.origin,
                area="servers",
            )


def _not_found(command: str) -> str:
    if "/" in command:
        return f"{command} is no program"
    return f"{command} is not on PATH"


def _check(
    id: str,
    verdict: Verdict,
    finding: str,
    file: str | None = None,
    *,
    fix: str = "",
    evidence: Evidence | None = None,
    area: Area = "programs",
) -> Check:
    return Check(
        id=f"{area}.{id}",
        area=area,
        verdict=verdict,
        finding=finding,
        evidence=evidence or Evidence(file=file),
        fix=fix,
    )
