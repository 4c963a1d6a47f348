"""jackfield/server/test, end and traffic: servers tried, ended and listened to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import anyio

from core.errors import InvalidRequest
from core.mcp.traffic_log import TrafficLog
from core.ports import Deps
from core.protocol.events import Event, OperationProgress
from core.protocol.jackfield import Done, IdParams, NameParams
from core.protocol.jackfield_servers import (
    ServerTested,
    ServerTestParams,
    TestStep,
    TrafficLine,
    TrafficParams,
    TrafficResult,
)
from core.scope import RequestScope
from core.service.dispatch import Handler
from core.service.panel_servers import PanelServers
from core.service.server_trial import ServerTrial
from core.service.servers import ServersService
from core.threads.manager import ThreadManager

MOST_TRAFFIC = 2_000


class RunningServers:
    """What runs, or is to run for a moment only.

    Args:
        tables: Reads what a test is to try.
        emit: For the steps of tests.
    """

    def __init__(
        self,
        deps: Deps,
        tables: ServersService,
        threads: ThreadManager,
        running: PanelServers,
        traffic: TrafficLog,
        emit: Callable[[Event], None],
    ) -> None:
        self._deps, self._tables, self._emit = deps, tables, emit
        self._threads, self._running, self._traffic = threads, running, traffic
        self._tests: dict[str, anyio.CancelScope] = {}

    def handlers(self) -> dict[str, Handler]:
        return {
            "jackfield/server/test": self.test,
            "jackfield/server/test/cancel": self.cancel_test,
            "jackfield/server/end": self.end,
            "jackfield/server/traffic": self.traffic,
        }

    async def test(self, params: ServerTestParams, scope: RequestScope) -> ServerTested:
        """Start a server in isolation, list its tools, and end it; asking for it is the consent.

        Raises:
            InvalidRequest: The table cannot be used at all, or the id is taken.
        Emits: `OperationProgress` with each step.
        """
        if params.id in self._tests:
            raise InvalidRequest(f"test {params.id!r} is running already")
        draft = await self._tables.draft(params)
        if draft.entry is None:
            raise InvalidRequest(draft.fault)
        scope_ = self._tests[params.id] = anyio.CancelScope()
        told = partial(self._tell, params.id, params.name)
        told("running", "")
        outcome = "cancelled"
        try:
            with scope_:
                spec = await self._threads.source.trial(self._deps.cwd, params.name, draft.entry)
                opening = self._threads.opening(self._running.panel.caller, threaded=True)
                trial = ServerTrial(spec, opening, partial(_step_told, told))
                result = await trial.run()
                outcome = "done" if result.ok else "failed"
                return result
            return ServerTested(ok=False, cancelled=True, reason="cancelled")
        finally:
            self._tests.pop(params.id, None)
            told(outcome, "")

    def _tell(self, id: str, name: str, state: str, note: str) -> None:
        at = self._deps.clock.now()
        self._emit(
            OperationProgress(
                at=at, id=f"test-{id}", subject=name, verb="test", state=state, note=note
            )
        )

    async def cancel_test(self, params: IdParams, scope: RequestScope) -> Done:
        """End a test; what it started is ended. Raises InvalidRequest when it does not run."""
        running = self._tests.get(params.id)
        if running is None:
            raise InvalidRequest("this test does not run any more")
        running.cancel()
        return Done()

    async def end(self, params: NameParams, scope: RequestScope) -> Done:
        """End a server that no file names any more. Raises InvalidRequest for any other."""
        if not self._running.is_left_over(params.name):
            raise InvalidRequest(f"{params.name} is configured; disable it, or cancel its start")
        self._running.end(params.name)
        return Done()

    async def traffic(self, params: TrafficParams, scope: RequestScope) -> TrafficResult:
        """What has passed between us and a server, and what it wrote beside the protocol."""
        limit = max(1, min(params.limit, MOST_TRAFFIC))
        lines, lost = self._traffic.since(params.name, params.after, limit)
        return TrafficResult(
            lines=tuple(
                TrafficLine(
                    number=line.number,
                    at=line.at,
                    kind=line.kind,  # type: ignore[arg-type]
                    method=line.method,
                    text=line.text,
                    ms=line.ms,
                    bytes=line.size,
                )
                for line in lines
            ),
            lost=lost,
            names=tuple(self._traffic.names()),
        )


def _step_told(told: Callable[[str, str], None], step: TestStep) -> None:
    told("running", f"{step.what}: {step.text}")
