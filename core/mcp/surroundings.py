"""What the connections of one thread share, and what they tell of themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.mcp.elicitation import Approvals, Asker
from core.mcp.faults import StartFailed, startup_text
from core.mcp.opening import Opening
from core.mcp.sandbox import Sandboxing
from core.mcp.spec import ServerSpec
from core.ports import Clock
from core.protocol.events import Event

if TYPE_CHECKING:
    from core.mcp.connection import Connection


@dataclass(frozen=True, kw_only=True)
class Told:
    """A startup state for clients: `starting`, `ready`, `failed`, `cancelled`."""

    spec: ServerSpec
    status: str
    failed: StartFailed | None = None

    @property
    def error(self) -> str | None:
        """Text of the `error` member."""
        if self.failed is None:
            return None
        return startup_text(self.spec.name, self.failed, self.spec.start_timeout)

    @property
    def failure_reason(self) -> str | None:
        again = self.failed is not None and self.failed.auth == "again"
        return "reauthenticationRequired" if again else None


@dataclass(frozen=True, kw_only=True)
class Past:
    """One state of a server's history; `at` in seconds since the epoch."""

    status: str
    reason: str
    at: float


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What the connections of one thread share.

    Attributes:
        changed: A state or a list changed: rows are to be made anew.
        told: For the clients that watch the thread.
        emit: For the panel's activity; None where nobody looks.
        sandboxing: What calls are bound to; None where no calls are made.
        ping_every: Seconds between two pings of HTTP servers; 0 = never.
    """

    thread_id: str
    opening: Opening
    clock: Clock
    changed: Callable[[Connection], None]
    told: Callable[[Told], None]
    approvals: Approvals = Approvals()
    asker: Asker | None = None
    emit: Callable[[Event], None] | None = None
    sandboxing: Sandboxing | None = None
    ping_every: float = 30.0
