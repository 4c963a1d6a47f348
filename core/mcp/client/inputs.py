"""Results that ask for more before there is an answer (MCP 2026-07-28, "Multi Round-Trip").

`resultType: "input_required"` names requests of the server; their results go along when the request
is made once more, with the server's `requestState` as it was. The questions are put where requests
of older servers arrive, so that whoever answers those answers these.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

import anyio

from core.errors import CoreError, InternalError

MOST_ROUNDS = 10
MOST_INPUTS = 32
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25

Ask = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Makes the request once more, with these members over its parameters."""

Put = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]
"""Has one request of the server answered. Raises CoreError when it is refused."""


class Waiting:
    """One question on its way to whoever answers it."""

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self._result: dict[str, Any] = {}
        self._error: CoreError | None = None

    def answer(self, message: dict[str, Any]) -> None:
        """Settle it by the `result` or `error` member of an answer; the first one counts."""
        if self.settled.is_set():
            return
        if "error" in message:
            said = message["error"].get("message", "refused")
            self._error = InternalError(f"the server asks for what is not done here: {said}")
        else:
            self._result = message["result"] or {}
        self.settled.set()

    def fail(self, error: CoreError) -> None:
        """The connection is gone."""
        if not self.settled.is_set():
            self._error = error
            self.settled.set()

    async def outcome(self) -> dict[str, Any]:
        """The result, or the error raised."""
        await self.settled.wait()
        if self._error is not None:
            raise self._error
        return self._result


def wants_more(result: dict[str, Any]) -> bool:
    """It is no answer yet."""
    return result.get("resultType") == "input_required"


async def completed(result: dict[str, Any], ask: Ask, put: Put) -> dict[str, Any]:
    """The answer in the end, after as many rounds as the server wants.

    Raises:
        InternalError: It never ends, or what it asks for is refused or cannot be understood.
    """
    pause = _FIRST_PAUSE
    for _ in range(MOST_ROUNDS):
        if not wants_more(result):
            return result
        more: dict[str, Any] = {}
        if isinstance(state := result.get("requestState"), str):
            more["requestState"] = state
        if requests := _requests(result):
            more["inputResponses"] = await _responses(requests, put)
            pause = _FIRST_PAUSE
        elif not more:
            raise InternalError("the server asks for input and does not say which")
        else:
            await anyio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)
        result = await ask(more)
    if wants_more(result):
        raise InternalError(f"the server asked for input {MOST_ROUNDS} times without an answer")
    return result


def _requests(result: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    given: Any = result.get("inputRequests")
    if not isinstance(given, dict):
        return {}
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for key, value in cast("dict[str, Any]", given).items():
        request = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        method, params = request.get("method"), request.get("params")
        if not isinstance(method, str):
            raise InternalError(f"the server asks for input {key!r} without a method")
        found[key] = method, cast("dict[str, Any]", params) if isinstance(params, dict) else {}
    if len(found) > MOST_INPUTS:
        raise InternalError(f"the server asks for more than {MOST_INPUTS} inputs at once")
    return found


async def _responses(
    requests: dict[str, tuple[str, dict[str, Any]]], put: Put
) -> dict[str, dict[str, Any]]:
    """All side by side; the first that is refused ends the others."""
    answers: dict[str, dict[str, Any]] = {}
    refused: list[CoreError] = []

    async def one(key: str, method: str, params: dict[str, Any]) -> None:
        try:
            answers[key] = await put(method, params)
        except CoreError as error:
            refused.append(error)
            tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        for key, (method, params) in requests.items():
            tasks.start_soon(one, key, method, params)
    if refused:
        raise refused[0]
    return {key: answers[key] for key in requests}
