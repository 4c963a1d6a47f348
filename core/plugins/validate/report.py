"""Gathers findings, knows their lines, and ends the look in time."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from threading import Event

from core.plugins.json_place import column_of, items_of, line_of, offset_of
from core.plugins.layout import os_reason, read_file
from core.plugins.validate.rules import RULES
from core.protocol.jackfield_validate import Finding, Level

SECONDS = 60.0
WORK, REST = 0.005, 0.002
"""Seconds of work, and of rest after them, beside a screen."""
MOST = 5_000
"""Findings; what comes after them is only counted."""
LARGEST = 8 * 1024 * 1024
"""Bytes of a file that is still read through; Codex itself has no limit."""
LARGEST_TEXT = 1024 * 1024
"""The same for skills, commands and TOML."""
_PLACE = re.compile(r"\s+at line (\d+),? column (\d+)")

Step = str | int
Path = tuple[Step, ...]


class Stopped(Exception):
    """The time is up, or nobody wants to know any more."""


class Report:
    """What was found so far.

    Args:
        seconds: How long the look may take.
        gone: Set from outside when nobody waits for the answer any more.
        resting: Let other threads have their turn now and then: keys go on being painted.
    """

    def __init__(
        self,
        *,
        seconds: float = SECONDS,
        gone: Event | None = None,
        resting: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.findings: list[Finding] = []
        self.left_off = 0
        self.whole = True
        self._seconds = seconds
        self._now = now
        self._until = now() + seconds
        self._gone = gone
        self._resting, self._worked = resting, now()
        self._texts: dict[str, _Text] = {}

    def tick(self) -> None:
        """Called now and then. Raises Stopped."""
        if (self._gone is not None and self._gone.is_set()) or self._now() > self._until:
            raise Stopped
        if self._resting and self._now() - self._worked > WORK:
            time.sleep(REST)
            self._worked = self._now()

    def stopped(self, path: str) -> None:
        """Say that the rest was not looked at."""
        self.whole = False
        message = f"ended after {self._seconds:.0f} s; the rest was not looked at"
        self.add("stopped", path, message)

    def add(
        self,
        rule: str,
        path: str,
        message: str,
        *,
        at: Path = (),
        place: str = "",
        line: int = 0,
        column: int = 0,
        severity: Level | None = None,
        codex: str | None = None,
        claude: str | None = None,
        hint: str | None = None,
    ) -> None:
        """One finding.

        Args:
            at: Where in a JSON file; gives the line when the file can be read.
            place: Said instead of `at` where the file is no JSON.
        """
        if len(self.findings) >= MOST:
            self.left_off += 1
            return
        known = RULES[rule]
        if at and not line:
            line, column = self._text(path).place(at)
        finding = Finding(
            path=path,
            rule=rule,
            severity=severity or known.severity,
            message=message,
            place=place or told(at),
            line=line,
            column=column,
            codex=known.codex if codex is None else codex,
            claude=known.claude if claude is None else claude,
            hint=known.hint if hint is None else hint,
        )
        if finding not in self.findings[-20:]:
            self.findings.append(finding)

    def _text(self, path: str) -> _Text:
        known = self._texts.get(path)
        if known is None:
            if len(self._texts) > 8:
                self._texts.clear()
            known = self._texts[path] = _Text(path)
        return known

    def readable(self, path: str, limit: int = LARGEST) -> bool:
        """Whether a file is there and may be read through; says so when it is there and may not.

        Links are followed; what is neither a file nor a folder would make a reader wait.
        """
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as error:
            reason = os_reason(error) if isinstance(error, OSError) else str(error)
            self.add("unreadable", path, f"it cannot be read: {reason}")
            return False
        if stat.S_ISDIR(status.st_mode):
            return True
        if not stat.S_ISREG(status.st_mode):
            self.add("special-file", path, f"it is {special(status.st_mode)}, no file")
            return False
        if status.st_size > limit:
            message = f"{size(status.st_size)}: too large to be looked through"
            self.add("file-too-large", path, message)
            return False
        return True

    @contextmanager
    def part(self, path: str) -> Generator[None]:
        """A part of the look which may fail by itself and takes nothing else down."""
        try:
            yield
        except (OSError, RecursionError, MemoryError) as error:
            reason = os_reason(error) if isinstance(error, OSError) else type(error).__name__
            self.add("not-checked", path, f"it could not be looked through: {reason}")

    def result(self) -> tuple[Finding, ...]:
        """Findings by file and line, the worst first on a line."""
        order = {"error": 0, "warning": 1, "info": 2}
        ranked = sorted(self.findings, key=lambda f: (f.path, f.line, order[f.severity], f.rule))
        return tuple(ranked)


class _Text:
    """A JSON text whose places are asked for; entries of a marketplace are found in one pass."""

    def __init__(self, path: str) -> None:
        try:
            data = read_file(path) if os.path.getsize(path) <= LARGEST else b""
        except OSError:
            data = b""
        self._text = data.decode("utf-8", "replace").removeprefix("\ufeff")
        self._entries: list[int] | None = None

    def place(self, path: Path) -> tuple[int, int]:
        """Line and column of a value, (0, 0) when it cannot be found."""
        offset = self._offset(path)
        if offset is None:
            return 0, 0
        return line_of(self._text, offset), column_of(self._text, offset)

    def _offset(self, path: Path) -> int | None:
        if len(path) < 2 or path[0] != "plugins" or not isinstance(path[1], int):
            return offset_of(self._text, path)
        starts, number = self._starts(), path[1]
        if number >= len(starts):
            return None
        if len(path) == 2:
            return starts[number]
        end = starts[number + 1] if number + 1 < len(starts) else len(self._text)
        inner = offset_of(self._text[starts[number] : end], path[2:])
        return starts[number] if inner is None else starts[number] + inner

    def _starts(self) -> list[int]:
        if self._entries is None:
            most = self._text.count("{") + 1
            found = items_of(self._text, ("plugins",), range(most))
            self._entries = [found[number] for number in sorted(found)]
        return self._entries


def told(path: Path) -> str:
    """`plugins[3].source`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def placed(message: str) -> tuple[str, int, int]:
    """A reader's message without the place at its end, and that place; 0 where there is none."""
    places = list(_PLACE.finditer(message))
    if not places:
        return message, 0, 0
    match = places[-1]
    return message[: match.start()] + message[match.end() :], int(match[1]), int(match[2])


def size(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def special(mode: int) -> str:
    """What a file is that is none."""
    kinds = (
        (stat.S_ISFIFO, "a named pipe"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    )
    return next((word for test, word in kinds if test(mode)), "something else")
