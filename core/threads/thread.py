"""A thread: a working directory, the configuration it runs with, its servers, its listeners."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from core.config.model import Loaded
from core.errors import CoreError
from core.mcp.elicitation import Answer, Question
from core.mcp.runtime import McpRuntime
from core.mcp.surroundings import Told
from core.protocol.rows import ThreadRow
from core.scope import RequestScope
from core.threads.policy import ThreadPolicy
from core.threads.settings import Settings

if TYPE_CHECKING:  # the panel's thread needs none of the wire's models
    from core.protocol.mcp import McpServerElicitationRequest
    from core.protocol.threads import ThreadInfo

STARTUP = "mcpServer/startupStatus/updated"
STATUS = "thread/status/changed"
_ANSWERS = ("accept", "decline", "cancel")


class Thread:
    """Loaded until it is archived or the core ends.

    Attributes:
        overrides: Configuration of the request that started it, over all files.
        loaded: The configuration of its start or last reload.
        mine: It is the panel's own.
        runtime: Set right after the thread has been made.
    """

    runtime: McpRuntime

    def __init__(
        self,
        thread_id: str,
        *,
        cwd: Path,
        policy: ThreadPolicy,
        settings: Settings,
        loaded: Loaded,
        overrides: Mapping[str, Any] | None = None,
        mine: bool = False,
    ) -> None:
        self.id, self.cwd, self.policy = thread_id, cwd, policy
        self.settings, self.loaded, self.overrides, self.mine = settings, loaded, overrides, mine
        self._listeners: dict[int, RequestScope] = {}
        self._withheld: list[tuple[str, Any]] | None = []
        self._waiting = 0

    # -- listeners

    def subscribe(self, scope: RequestScope) -> None:
        """This connection hears of the thread from now on."""
        self._listeners[scope.caller.connection] = scope

    def unsubscribe(self, connection: int) -> bool:
        """False when it did not listen."""
        return self._listeners.pop(connection, None) is not None

    def heard_by(self, connection: int) -> bool:
        """This connection listens."""
        return connection in self._listeners

    def notify(self, method: str, params: Any) -> None:
        """Tell all listeners; what comes before `release` waits for it."""
        if self._withheld is not None:
            self._withheld.append((method, params))
            return
        for scope in list(self._listeners.values()):
            scope.notify(method, params)

    def release(self) -> None:
        """The thread is known to its client: what was withheld goes out."""
        withheld, self._withheld = self._withheld or [], None
        for method, params in withheld:
            self.notify(method, params)

    @property
    def _heard(self) -> bool:
        """Somebody listens, or may come to."""
        return self._withheld is not None or bool(self._listeners)

    def told(self, told: Told) -> None:
        """A startup state of one of its servers."""
        if not self._heard:
            return
        from core.protocol.mcp import McpServerStartupStatusUpdated

        self.notify(
            STARTUP,
            McpServerStartupStatusUpdated.model_validate(
                {
                    "threadId": self.id,
                    "name": told.spec.name,
                    "environmentId": told.spec.environment_id,
                    "status": told.status,
                    "error": told.error,
                    "failureReason": told.failure_reason,
                }
            ),
        )

    # -- questions of servers

    async def ask(self, server: str, environment_id: str | None, question: Question) -> Answer:
        """Ask the first listener that answers requests; see `core.mcp.elicitation.Asker`.

        An answer that cannot be understood, an error and nobody to ask count as a refusal.
        """
        from core.protocol.mcp import McpServerElicitationRequest

        request = McpServerElicitationRequest.model_validate(
            {
                "threadId": self.id,
                "serverName": server,
                "environmentId": environment_id,
                "mode": question.mode,
                "_meta": question.meta,
                "message": question.message,
                "requestedSchema": question.schema,
                "url": question.url,
                "elicitationId": question.elicitation_id,
            }
        )
        self._waiting += 1
        if self._waiting == 1:
            self._tell_status()
        try:
            return await self._answer(request)
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._tell_status()

    async def _answer(self, request: McpServerElicitationRequest) -> Answer:
        for scope in list(self._listeners.values()):
            try:
                said = await scope.ask("mcpServer/elicitation/request", request)
            except LookupError:
                continue
            except CoreError:
                break
            return answer_of(said)
        return Answer(action="decline")

    @property
    def status(self) -> dict[str, Any]:
        """As the wire has it."""
        if self._waiting:
            return {"type": "active", "activeFlags": ["waitingOnApproval"]}
        return {"type": "idle"}

    def _tell_status(self) -> None:
        from core.protocol.threads import ThreadStatusChanged

        self.notify(STATUS, ThreadStatusChanged(thread_id=self.id, status=self.status))

    # -- what others see

    def info(self, *, now: float, version: str, originator: str) -> ThreadInfo:
        """As clients see it."""
        return self.settings.info(
            self.id, now=now, version=version, originator=originator, status=self.status
        )

    def row(self) -> ThreadRow:
        """As the panel sees it."""
        root = self.loaded.project_root
        return ThreadRow(
            id=self.id,
            cwd=str(self.cwd),
            trusted=self.loaded.trusted,
            project_root=str(root) if root is not None else None,
            mine=self.mine,
        )


def answer_of(said: Any) -> Answer:
    """A client's answer to a question; what is none counts as a refusal."""
    if not isinstance(said, dict):
        return Answer(action="decline")
    given = cast("dict[str, Any]", said)
    action: Any = given.get("action")
    if action not in _ANSWERS:
        return Answer(action="decline")
    return Answer(action=action, content=given.get("content"), meta=given.get("_meta"))
