"""How the panel's servers are authorised, looked up beside everything else."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

import anyio

from core.mcp.auth_status import AuthJudge
from core.mcp.board import ServerBoard
from core.mcp.spec import Endpoint, ServerSpec

AT_ONCE = 8

_log = logging.getLogger(__name__)


class Judging:
    """Looks up what is wanted, and writes it into the rows. `run` is its task.

    Args:
        specs: The servers as they were last loaded.
    """

    def __init__(
        self, judge: AuthJudge, board: ServerBoard, specs: Callable[[], Mapping[str, ServerSpec]]
    ) -> None:
        self._judge, self._board, self._specs = judge, board, specs
        self._wanted: set[str] = set()
        self._more = anyio.Event()

    def want(self, names: Iterable[str], *, anew: bool = False) -> None:
        """Look these up; servers that are no endpoints are passed over.

        Args:
            anew: What their servers said before is not trusted.
        """
        specs = self._specs()
        for name in names:
            spec = specs.get(name)
            if spec is not None and isinstance(spec.target, Endpoint):
                if anew:
                    self.forget(spec.target.url)
                self._wanted.add(name)
                self._more.set()

    def forget(self, url: str) -> None:
        """The next look asks the server."""
        self._judge.probe.forget(url)

    async def run(self) -> None:
        """Until cancelled."""
        limiter = anyio.CapacityLimiter(AT_ONCE)
        while True:
            await self._more.wait()
            self._more = anyio.Event()
            names, self._wanted = self._wanted, set()
            async with anyio.create_task_group() as tasks:
                for name in names:
                    tasks.start_soon(self._look, name, limiter)

    async def _look(self, name: str, limiter: anyio.CapacityLimiter) -> None:
        spec = self._specs().get(name)
        if spec is None:
            return
        async with limiter:
            try:
                self._board.set_auth(name, await self._judge.state(spec))
            except Exception:
                # The boundary of a background look-up: it must not take the panel down.
                _log.exception("how %s is authorised", name)
