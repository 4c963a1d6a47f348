"""What servers send on their own account: requests are answered, notifications handed on."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio

from core.errors import CoreError
from core.mcp.client.session import Incoming, Session
from core.mcp.elicitation import UNPARSABLE, Answer, Approvals, Asker, NotAskable, parse
from core.mcp.shapes import Malformed

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
CANCELLED = "notifications/cancelled"

_log = logging.getLogger(__name__)


def _ignore(message: Incoming) -> None:
    """Nobody listens."""


@dataclass(frozen=True, kw_only=True)
class ServerSide:
    """The other end of a server's own requests and notifications.

    Attributes:
        approvals: What may be asked here.
        asker: Asks the person; None where there is nobody.
        heard: Called with each notification and request, before anything is done about it.
    """

    name: str
    environment_id: str | None = None
    approvals: Approvals = Approvals(ask=False)
    asker: Asker | None = None
    heard: Callable[[Incoming], None] = _ignore

    async def serve(self, session: Session) -> None:
        """Take what comes until the connection ends; questions to the person wait side by side.

        A question that the server takes back is asked no longer, and not answered.
        """
        asked: dict[int | str, anyio.CancelScope] = {}
        async with anyio.create_task_group() as tasks:
            async for message in session.incoming:
                self.heard(message)
                if message.id is not None:
                    scope = asked[message.id] = anyio.CancelScope()
                    tasks.start_soon(self._serve_one, session, message, scope, asked)
                elif message.method == CANCELLED:
                    _take_back(asked, message.params.get("requestId"))

    async def _serve_one(
        self,
        session: Session,
        message: Incoming,
        scope: anyio.CancelScope,
        asked: dict[int | str, anyio.CancelScope],
    ) -> None:
        number = message.id
        if number is None:
            return
        try:
            with scope:
                await self._answer(session, message, number)
        finally:
            if asked.get(number) is scope:
                del asked[number]

    async def _answer(self, session: Session, message: Incoming, number: int | str) -> None:
        try:
            if message.method == "ping":
                await session.respond(number, result={})
            elif message.method == "elicitation/create":
                await self._elicit(session, message.params, number)
            else:
                error = {"code": METHOD_NOT_FOUND, "message": message.method}
                await session.respond(number, error=error)
        except CoreError as error:
            _log.debug("no answer to %s of %s: %s", message.method, self.name, error)

    async def _elicit(self, session: Session, params: dict[str, Any], number: int | str) -> None:
        try:
            question = parse(params)
        except Malformed:
            await session.respond(number, error={"code": INVALID_PARAMS, "message": UNPARSABLE})
            return
        except NotAskable:
            await session.respond(number, result=Answer(action="cancel").result())
            return
        answer = self.approvals.settled(question)
        if answer is None and self.asker is None:
            answer = Answer(action="decline")
        elif answer is None and self.asker is not None:
            session.pause_deadlines()
            try:
                answer = await self.asker.ask(self.name, self.environment_id, question)
            finally:
                session.resume_deadlines()
        await session.respond(number, result=(answer or Answer(action="decline")).result())


def _take_back(asked: dict[int | str, anyio.CancelScope], number: object) -> None:
    if isinstance(number, int | str) and (scope := asked.get(number)) is not None:
        scope.cancel()
