"""What has passed between us and each server of the panel, kept in a bounded ring per server."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from core.mcp.spec import ServerSpec
from core.ports import Clock
from core.protocol.events import Event, ServerHappened, Traffic

MOST_LINES = 1_000
MOST_CHARS = 160 << 10
"""Of one server; older lines give way."""


class Line(NamedTuple):
    """One line of the ring; `raw` is stderr as it came, not masked yet."""

    number: int
    at: float
    kind: str
    method: str = ""
    text: str = ""
    ms: float | None = None
    size: int = 0
    raw: bytes = b""


@dataclass
class _Ring:
    lines: deque[Line] = field(default_factory=deque[Line])
    chars: int = 0
    last: int = 0

    def add(self, **facts: Any) -> None:
        self.last += 1
        line = Line(number=self.last, **facts)
        self.lines.append(line)
        self.chars += _weight(line)
        while len(self.lines) > MOST_LINES or (self.chars > MOST_CHARS and len(self.lines) > 1):
            self.chars -= _weight(self.lines.popleft())


def _weight(line: Line) -> int:
    return len(line.text) + len(line.raw) + 64


class TrafficLog:
    """Listens to the core's events, and to what servers write beside the protocol.

    Attributes:
        stirred: Called with a server's name when it has written to stderr; often, so be quick.
    """

    def __init__(self, clock: Clock) -> None:
        self.stirred: Callable[[str], None] = lambda name: None
        self._clock = clock
        self._rings: dict[str, _Ring] = {}
        self._watched: dict[str, ServerSpec] = {}

    def watch(self, spec: ServerSpec) -> None:
        """From now on the server of that name is this one; no other of the name is listened to."""
        self._watched[spec.name] = spec

    def happened(self, event: Event) -> None:
        """A listener of the core's events."""
        match event:
            case Traffic():
                self._ring(event.name).add(
                    at=event.at,
                    kind=event.direction,
                    method=event.method,
                    text=event.text,
                    ms=event.ms,
                    size=event.bytes,
                )
            case ServerHappened() if event.what != "stderr":
                self._ring(event.name).add(
                    at=event.at, kind="state", method=event.what, text=event.text, ms=event.ms
                )
            case _:
                pass

    def overheard(self, spec: ServerSpec, line: bytes) -> None:
        """A server wrote a line to stderr, or one that is no JSON to stdout."""
        if self._watched.get(spec.name) is not spec:
            return
        self._ring(spec.name).add(at=self._clock.now(), kind="stderr", size=len(line), raw=line)
        self.stirred(spec.name)

    def names(self) -> list[str]:
        """Servers of which there is anything."""
        return sorted(self._rings)

    def last_words(self, name: str) -> str:
        """The last line of stderr, secrets masked; "" without one."""
        ring = self._rings.get(name)
        for line in reversed(ring.lines if ring is not None else ()):
            if line.kind == "stderr":
                return self._text(name, line)
        return ""

    def since(self, name: str, after: int, limit: int) -> tuple[list[Line], int]:
        """Lines numbered above `after`, oldest first, and how many of them are lost.

        More than `limit` of them: the newest.
        """
        ring = self._rings.get(name)
        if ring is None:
            return [], 0
        found = [line for line in ring.lines if line.number > after][-max(1, limit) :]
        first = found[0].number if found else ring.last + 1
        return [self._shown(name, line) for line in found], max(0, first - after - 1)

    def forget(self, names: Collection[str]) -> None:
        """These servers are no more."""
        for name in names:
            self._rings.pop(name, None)
            self._watched.pop(name, None)

    def keep(self, names: Iterable[str]) -> None:
        """Only these servers are of interest any more."""
        self.forget(self._rings.keys() - set(names))

    def _ring(self, name: str) -> _Ring:
        return self._rings.setdefault(name, _Ring())

    def _shown(self, name: str, line: Line) -> Line:
        return line._replace(text=self._text(name, line), raw=b"") if line.raw else line

    def _text(self, name: str, line: Line) -> str:
        text = line.raw.decode("utf-8", "replace")
        spec = self._watched.get(name)
        return spec.secrets.mask(text) if spec is not None else text
