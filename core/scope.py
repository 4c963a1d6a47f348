"""Who asks, and the way back to them: one `RequestScope` per request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from core.threads.policy import ThreadPolicy


@dataclass(frozen=True, kw_only=True)
class Caller:
    """A client of the core.

    Attributes:
        policy: What its threads are like; the only thing that tells faces apart.
        name, version: As it introduced itself.
        capabilities: Of its `initialize`, empty for our own faces.
        connection: Unique per connection; threads remember who subscribed to them.
    """

    policy: ThreadPolicy
    name: str = "jackfield"
    version: str = "0"
    capabilities: dict[str, Any] = field(default_factory=dict[str, Any])
    connection: int = 0


def _ignore(method: str, params: Any) -> None:
    """Nobody listens."""


async def _nobody(method: str, params: Any) -> Any:
    raise LookupError("this client answers no requests")


@dataclass(frozen=True, kw_only=True)
class RequestScope:
    """What a handler may do towards the asking connection.

    Attributes:
        caller: Who asks.
        notify: Send a notification (wire name, pydantic model or JSON value). Ordered before
            the answer when called before the handler returns; lossless. May be kept and called
            later, e.g. by a thread whose subscriber this connection is.
        ask: Send a request to the client and wait for its answer.
        after_answer: Run a function once the answer has been queued.
    """

    caller: Caller
    notify: Callable[[str, Any], None] = _ignore
    ask: Callable[[str, Any], Awaitable[Any]] = _nobody
    after_answer: Callable[[Callable[[], None]], None] = lambda do: do()
