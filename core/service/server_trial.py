"""One server, tried on its own: found, spoken with, its tools listed, and ended again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from core.errors import CoreError
from core.mcp.client.session import ServerHello, Session
from core.mcp.faults import StartFailed
from core.mcp.incoming import ServerSide
from core.mcp.masking import masked_url
from core.mcp.opening import Opened, Opening
from core.mcp.spec import Endpoint, Program, ServerSpec
from core.protocol.jackfield_servers import ServerTested, TestStep
from core.service.server_tables import program_at

STDERR_LINES = 40
GRACE = 0.5
"""Seconds that a server has to end after its input was closed, here as at the end of a panel."""
_TERM = 1.5
_SPARE = 10.0
BYTES_PER_TOKEN = 4

Tell = Callable[[TestStep], None]


class ServerTrial:
    """One test. Nothing of it is left when `run` has returned, however it went.

    Args:
        opening: Of the panel; what it refuses for want of a consent is tried all the same.
        tell: Called with each step as it is done.
    """

    def __init__(self, spec: ServerSpec, opening: Opening, tell: Tell) -> None:
        self._spec, self._tell = spec, tell
        self._opening = replace(opening, watch=_unwatched, refusal=_by_policy)
        self._steps: list[TestStep] = []
        self._session: Session | None = None
        self._hello: ServerHello | None = None
        self._began = 0.0
        self._tools: tuple[str, ...] = ()
        self._tokens = 0

    async def run(self) -> ServerTested:
        """Try it. A failure is a result, and so is the end of the time that a start has."""
        self._began = anyio.current_time()
        limit = 2 * self._spec.start_timeout + _SPARE
        try:
            with anyio.fail_after(limit):
                if fault := await self._look():
                    return self._failed(fault)
                side = ServerSide(name=self._spec.name)
                await self._opening.run(
                    self._spec, side, self._use, greeted=self._greeted, begun=self._begun
                )
        except StartFailed as failed:
            return self._not_started(failed)
        except CoreError as error:
            return self._failed(error.message)
        except TimeoutError:
            return self._failed(f"not done in {limit:g} s")
        return self._result(ok=True)

    # -- steps

    async def _look(self) -> str:
        """Whether there is anything to start; "" when there is."""
        if refused := _by_policy(self._spec):
            return f"blocked: {refused}"
        match self._spec.target:
            case Program() as program:
                return await anyio.to_thread.run_sync(self._find, program)
            case Endpoint(url=url):
                self._step("found", "ok", masked_url(url))
                return ""
            case None:
                return self._spec.reason or "its table cannot be used"

    def _find(self, program: Program) -> str:
        if not os.path.isdir(program.cwd):
            return f"there is no folder {program.cwd}"
        found = program_at(program.argv[0], program.env.get("PATH", ""), program.cwd)
        if found is None:
            return f"no program {program.argv[0]} is found"
        self._step("found", "ok", found)
        return ""

    def _begun(self, session: Session) -> None:
        self._session = session

    def _greeted(self, hello: ServerHello) -> None:
        self._hello = hello
        named = " ".join(
            str(hello.server_info[key]) for key in ("name", "version") if hello.server_info.get(key)
        )
        said = f"{named}, protocol {hello.protocol_version}" if named else hello.protocol_version
        self._step("speaks", "ok", self._spec.secrets.mask(said), ms=self._passed())

    async def _use(self, opened: Opened, tasks: TaskGroup) -> None:
        listing = opened.tools
        self._tools = tuple(listing.items)
        self._tokens = -(-sum(listing.sizes.values()) // BYTES_PER_TOKEN)
        count = len(self._tools)
        words = f"{count} tool{'' if count == 1 else 's'}, ~{self._tokens} tokens"
        if listing.faults:
            words += f"; {listing.faults[0].message}"
        self._step("lists", "care" if listing.faults else "ok", words)
        await self._end(opened.session)

    async def _end(self, session: Session) -> None:
        began = anyio.current_time()
        await session.aclose(GRACE)
        took = anyio.current_time() - began
        if self._spec.transport == "http":
            self._step("ended", "ok", "the session is closed", ms=took * 1000)
        elif took < GRACE:
            self._step("ended", "ok", "by itself, once its input was closed", ms=took * 1000)
        else:
            how = "SIGTERM" if took < _TERM else "SIGKILL"
            self._step("ended", "care", f"only with {how}", ms=took * 1000)

    def _step(self, what: str, outcome: str, text: str, ms: float | None = None) -> None:
        step = TestStep(
            what=what,  # type: ignore[arg-type]
            outcome=outcome,  # type: ignore[arg-type]
            text=text,
            ms=None if ms is None else round(ms, 1),
        )
        self._steps.append(step)
        self._tell(step)

    # -- results

    def _not_started(self, failed: StartFailed) -> ServerTested:
        reason = self._spec.secrets.mask(failed.reason)
        return self._failed(reason, sign_in=bool(failed.auth))

    def _failed(self, reason: str, *, sign_in: bool = False) -> ServerTested:
        done = {step.what for step in self._steps}
        what = next(each for each in ("found", "speaks", "lists", "ended") if each not in done)
        self._step(what, "care" if sign_in else "failed", reason, ms=self._passed())
        return self._result(ok=False, reason=reason, sign_in=sign_in)

    def _passed(self) -> float:
        return (anyio.current_time() - self._began) * 1000

    def _result(self, *, ok: bool, reason: str = "", sign_in: bool = False) -> ServerTested:
        tail = self._session.tail if self._session is not None else ()
        return ServerTested(
            ok=ok,
            steps=tuple(self._steps),
            reason=reason,
            sign_in=sign_in,
            tools=self._tools,
            tokens=self._tokens,
            stderr=tuple(self._spec.secrets.mask(line) for line in tail[-STDERR_LINES:]),
            ms=round(self._passed(), 1),
        )


def _unwatched(spec: ServerSpec, session: Session) -> Session:
    return session


def _by_policy(spec: ServerSpec) -> str:
    return "" if spec.usable else spec.reason or spec.standing
