"""The one interface to a core: the panel, the command line and tests use nothing else."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.channels import Subscription
from core.methods import Method

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What the other side offers.

    Attributes:
        methods: Names of methods that can be called.
        name, version: Of the program on the other side.
        read_only: Writes are refused.
        remote: It runs in another process or on another machine.
    """

    methods: frozenset[str]
    name: str
    version: str
    read_only: bool = False
    remote: bool = False

    def lacks(self, method: Method[P, R]) -> str:
        """Why `method` cannot be called, or "" when it can."""
        if method.name in self.methods:
            return ""
        return f"{self.name} {self.version} does not offer it"


class CoreClient(Protocol):
    """Commands in, results and events out. There are no synchronous reads.

    A reader subscribes first, then reads rows, then drops events whose revision is not newer.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    async def call(self, method: Method[P, R], params: P) -> R:
        """Ask and wait.

        Raises:
            CoreError: What the method's handler says; the connection's end as `Unavailable`.
        """
        ...

    def subscribe(self) -> AbstractAsyncContextManager[Subscription]:
        """State (conflated, never lost) and occurrences (bounded) on one iteration."""
        ...

    async def aclose(self) -> None:
        """End the session; idempotent."""
        ...
