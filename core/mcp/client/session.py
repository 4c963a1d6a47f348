"""What the MCP layer sees of a connection: raw JSON and our errors, whatever the transport."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.errors import CoreError


@dataclass(frozen=True, kw_only=True)
class ServerHello:
    """What the server said of itself: the result of `initialize`, or of `server/discover`."""

    protocol_version: str
    server_info: dict[str, Any]
    capabilities: dict[str, Any]
    instructions: str | None = None
    raw: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, kw_only=True)
class CloseReason:
    """How a connection ended; exactly one of the first four is set, or none when we closed it.

    Attributes:
        exit_code: Of a process that ended; negative = killed by that signal.
        http_status: That ended the session.
        errno: Of a failed spawn or connect (`text` has its words and the subject).
        broken: The protocol was broken: what the other side sent.
        text: One line for people, without secrets.
        tail: Last lines of stderr and of stdout lines that were no JSON, oldest first.
        host: Of an HTTP server.
        challenge: `WWW-Authenticate` headers of a 401 or 403.
        retry_after: Seconds, from `Retry-After`.
        body: First 2,000 characters of an HTTP error answer.
    """

    exit_code: int | None = None
    http_status: int | None = None
    errno: int | None = None
    broken: str | None = None
    text: str = ""
    tail: tuple[str, ...] = ()
    host: str = ""
    challenge: tuple[str, ...] = ()
    retry_after: float | None = None
    body: str = ""


class SessionClosed(CoreError):
    """The connection is gone, or never came to be."""

    def __init__(self, reason: CloseReason) -> None:
        super().__init__(reason.text or "Transport closed")
        self.reason = reason


class HttpFailed(CoreError):
    """One request was answered with an HTTP error; the session may still be good."""

    def __init__(self, reason: CloseReason) -> None:
        super().__init__(reason.text)
        self.reason = reason


class DeadlinePassed(CoreError):
    """No answer in time; `notifications/cancelled` was sent and the session is still good."""

    def __init__(self, method: str, seconds: float) -> None:
        super().__init__(f"timed out awaiting {method} after {seconds:g}s")
        self.method, self.seconds = method, seconds


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A notification (`id` None) or a request of the server, raw."""

    method: str
    params: dict[str, Any]
    id: int | str | None = None


OnNotice = Callable[[Incoming], None]
"""Called at once, on the event loop, with a notification that names one request as its own."""


class Session(Protocol):
    """One connection to one server. Owned by one task for its life; `request` may be called
    from any task. Server requests must be answered with `respond`.
    """

    async def open(self, *, deadline: float) -> ServerHello:
        """Start or connect, and shake hands. Raises SessionClosed, HttpFailed, DeadlinePassed,
        PeerError.
        """
        ...

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        deadline: float | None,
        meta: dict[str, Any] | None = None,
        on_notice: OnNotice | None = None,
    ) -> dict[str, Any]:
        """The `result` of the answer. `deadline`: seconds, None = for ever; its clock stands
        still between `pause_deadlines` and `resume_deadlines`. `on_notice` gets notifications
        that carry this request's progress token, or its id as subscription id; they do not come
        by `incoming` then. Cancelling the caller sends `notifications/cancelled`. Raises
        SessionClosed, HttpFailed, DeadlinePassed, PeerError.
        """
        ...

    async def notify(self, method: str, params: dict[str, Any] | None = None) -> None: ...

    async def respond(
        self, id: int | str, *, result: Any = None, error: dict[str, Any] | None = None
    ) -> None: ...

    @property
    def incoming(self) -> AsyncIterator[Incoming]:
        """Notifications and requests of the server, bounded; ends when the connection does."""
        ...

    def pause_deadlines(self) -> None: ...

    def resume_deadlines(self) -> None: ...

    async def closed(self) -> CloseReason:
        """Wait until the connection has ended, and say how. Seen within 1 s for processes and
        open streams.
        """
        ...

    @property
    def pid(self) -> int | None: ...

    @property
    def heard_at(self) -> float:
        """Monotonic seconds of the last byte from the server."""
        ...

    @property
    def tail(self) -> tuple[str, ...]:
        """Last lines of stderr and of non-JSON stdout, oldest first; bounded."""
        ...

    async def aclose(self, grace: float = 0.5) -> None:
        """End in three steps (stdin closed, TERM, KILL; DELETE for HTTP); never raises."""
        ...
