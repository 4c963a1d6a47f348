"""How a broken state is written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.integration.explain.world import World

Build = Callable[[World], Iterator[str]]


@dataclass(frozen=True)
class State:
    """A broken state.

    Attributes:
        build: Breaks a world, yields the command line's words after `explain`, and then takes
            the outside cause away; it may yield once more where mending gives another name.
        stop: Id of the check where the path must end.
        finding: Words that must be in what it found.
        mends: Words of the way out that must be offered.
        typed: That way out is a command line, which the test types.
        who: Who can take it.
        outcome, after: How the path ends, and how it ends once mended.
    """

    build: Build
    stop: str
    finding: str
    mends: str
    typed: bool
    who: str
    outcome: str
    after: str

    @property
    def name(self) -> str:
        return self.build.__name__


TABLE: list[State] = []


def state(
    stop: str,
    finding: str,
    mends: str = "",
    *,
    typed: bool = False,
    who: str = "you",
    outcome: str = "stopped",
    after: str = "works",
) -> Callable[[Build], Build]:
    """Put a state into the table."""

    def note(build: Build) -> Build:
        TABLE.append(State(build, stop, finding, mends, typed, who, outcome, after))
        return build

    return note
