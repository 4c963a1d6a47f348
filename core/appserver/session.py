"""One client's session: the handshake, and from each line to what has to be done for it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec

from core.appserver.following import Following
from core.appserver.greeting import Greeting
from core.appserver.opening import Opening
from core.appserver.order import Lanes
from core.appserver.outgoing import Outgoing
from core.appserver.params import NotJson, parse_params
from core.appserver.questions import Questions
from core.errors import CoreError, InternalError, InvalidRequest, core_error_in
from core.method_table import INITIALIZE, JACKFIELD_SUBSCRIBE, METHODS
from core.methods import Method
from core.protocol.initialize import InitializeParams
from core.protocol.jackfield_wire import PANEL_ABILITY, ErrorMore, SubscribeResult
from core.protocol.jsonrpc import Answer, Notification, Refusal, Request, encode_value, parse_line
from core.scope import Caller, RequestScope
from core.service.dispatch import Encoded
from core.threads.policy import CODEX, PANEL

Job = Callable[[], Awaitable[None]]

logger = logging.getLogger(__name__)


class Session:
    """Reads a client's lines one after the other; what takes time is returned as a job.

    Attributes:
        following: Tells the client of events once it wants to know; somebody has to run it.
    """

    def __init__(
        self, opening: Opening, outgoing: Outgoing, greeting: Greeting, *, connection: int = 1
    ) -> None:
        self.questions = Questions(outgoing)
        self.following = Following(outgoing)
        self._opening = opening
        self._outgoing = outgoing
        self._greeting = greeting
        self._connection = connection
        self._served: dict[str, Method[Any, Any]] = {INITIALIZE.name: INITIALIZE}
        self._lanes = Lanes()
        self._caller: Caller | None = None
        self._experimental = False
        self._unwanted: frozenset[str] = frozenset()

    async def ready_for(self, line: bytes) -> None:
        """Wait until a line can be taken: for most, until the core stands."""
        if len(self._served) > 1:
            return
        if self._opening.hasty and self._opening.core is None:
            message = parse_line(line)
            if isinstance(message, Request) and message.method == INITIALIZE.name:
                return
        handlers, _ = await self._opening.wait()
        served = {INITIALIZE.name, *handlers.methods}
        if self._opening.hub is not None:
            served.add(JACKFIELD_SUBSCRIBE.name)
        self._served = {name: method for name, method in METHODS.items() if name in served}

    def take(self, line: bytes) -> Job | None:
        """What a line asks for, or None when it is settled already."""
        match parse_line(line):
            case Request() as request:
                return self._request(request)
            case Answer() | Refusal() as answer:
                self.questions.answered(answer)
            case Notification() | None:
                pass  # `initialized` changes nothing, and bad lines get no answer
        return None

    def notify(self, method: str, params: Any) -> None:
        """A notification, unless this client does not want to hear of it."""
        if method not in self._unwanted:
            self._outgoing.notify(method, params)

    def _request(self, request: Request) -> Job | None:
        try:
            method = self._method(request.method)
            params = parse_params(method, request.params)
            if method is INITIALIZE:
                return self._initialize(request, params)
            caller = self._admit(method)
        except NotJson:
            return None
        except CoreError as error:
            self._refuse(request, error)
            return None
        if method is JACKFIELD_SUBSCRIBE:
            return lambda: self._subscribe(request)
        place = self._lanes.place(method.name)
        return lambda: self._handle(request, params, caller, place)

    def _method(self, name: str) -> Method[Any, Any]:
        if (method := self._served.get(name)) is not None:
            return method
        listed = ", ".join(f"`{known}`" for known in self._served)
        raise InvalidRequest(f"Invalid request: unknown variant `{name}`, expected one of {listed}")

    def _initialize(self, request: Request, params: InitializeParams) -> Job:
        if self._caller is not None:
            raise InvalidRequest("Already initialized")
        answer = self._greeting.answer(params.client_info)
        raw: dict[str, Any] = msgspec.json.decode(request.params)
        capabilities = params.capabilities
        if capabilities is not None:
            self._experimental = capabilities.experimental_api
            self._unwanted = frozenset(capabilities.opt_out_notification_methods or ())
        able: dict[str, Any] = raw.get("capabilities") or {}
        panel = able.get(PANEL_ABILITY) is True
        self._caller = Caller(
            policy=PANEL if panel else CODEX,
            name=params.client_info.name,
            version=params.client_info.version,
            capabilities={} if panel else able,
            connection=self._connection,
        )
        self._outgoing.answer(request.id, encode_value(answer))
        return self._warn

    async def _warn(self) -> None:
        _, gate = await self._opening.wait()
        for warning in await gate.warnings():
            self.notify("configWarning", warning)

    async def _subscribe(self, request: Request) -> None:
        if (hub := self._opening.hub) is not None:
            await self.following.begin(hub)
        result = SubscribeResult(
            methods=tuple(self._served),
            version=self._greeting.version,
            read_only=self._opening.read_only,
        )
        self._outgoing.answer(request.id, encode_value(result))

    def _admit(self, method: Method[Any, Any]) -> Caller:
        if self._caller is None:
            raise InvalidRequest("Not initialized")
        if method.experimental and not self._experimental:
            raise InvalidRequest(f"{method.name} requires experimentalApi capability")
        return self._caller

    async def _handle(
        self,
        request: Request,
        params: Any,
        caller: Caller,
        place: AbstractAsyncContextManager[None],
    ) -> None:
        later = _AfterAnswer()
        scope = RequestScope(
            caller=caller, notify=self.notify, ask=self.questions.ask, after_answer=later
        )
        async with place:
            try:
                handlers, gate = await self._opening.wait()
                if caller.policy is not PANEL:
                    await gate.check(request.method, params)
                result = await handlers.handle(request.method, params, scope)
                body = result.body if isinstance(result, Encoded) else encode_value(result)
            except Exception as error:  # the task boundary: whatever it is, it gets an answer
                self._refuse(request, _told(request.method, error))
            else:
                self._outgoing.answer(request.id, body)
            later.answered()

    def _refuse(self, request: Request, error: CoreError) -> None:
        if self._caller is not None and self._caller.policy is PANEL:
            error = _with_more(error)
        self._outgoing.refuse(request.id, error)


class _AfterAnswer:
    """Keeps functions until the answer has been queued; from then on runs them at once."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] | None = []

    def __call__(self, do: Callable[[], None]) -> None:
        if self._waiting is None:
            do()
        else:
            self._waiting.append(do)

    def answered(self) -> None:
        waiting, self._waiting = self._waiting, None
        for do in waiting or ():
            do()


def _told(method: str, error: Exception) -> CoreError:
    """What the client is told of a failure, one out of a group of tasks included."""
    if (known := core_error_in(error)) is not None:
        return known
    logger.error("%s failed", method, exc_info=error)
    return InternalError("internal error")


def _with_more(error: CoreError) -> CoreError:
    """The same error, with what only a panel can make use of in its `data`."""
    more = ErrorMore(
        words=error.words if error.words != error.message else "",
        hint=error.hint,
        evidence=error.evidence,
        data=msgspec.UNSET if error.data is None else error.data,
    )
    return CoreError(error.message, code=error.code, data=more)
