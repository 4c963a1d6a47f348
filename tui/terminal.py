"""What the terminal can do, asked before Textual takes it over. Imports nothing heavy."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import select
import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

DUMB = frozenset({"", "dumb", "unknown"})


def refusal(environ: Mapping[str, str] = os.environ, *, tty: bool | None = None) -> str:
    """Why a full-screen panel cannot be shown here, as a sentence with what to do; or ""."""
    if tty is None:
        # Textual draws on stderr.
        tty = all(stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr))
    if not tty:
        return (
            "jackfield: the panel needs a terminal on input, output and stderr. "
            "For scripts there are verbs: jackfield list, explain, doctor; see jackfield --help."
        )
    term = environ.get("TERM", "")
    if term in DUMB and sys.platform != "win32":
        named = f"TERM={term}" if term else "no TERM"
        return (
            f"jackfield: this terminal says {named}, so it cannot place text on the screen. "
            "For line output there are verbs: "
            "jackfield list, explain, doctor; see jackfield --help."
        )
    return ""


def wants_ascii(setting: bool | None = None, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to draw with ASCII: the setting, else when the locale is not UTF-8.

    The setting also serves terminals that draw ambiguous characters two cells wide.
    """
    if setting is not None:
        return setting
    everything, kind, lang = (environ.get(n, "") for n in ("LC_ALL", "LC_CTYPE", "LANG"))
    if not everything and kind == "C.UTF-8" and lang in ("C", "POSIX"):
        return True  # Python itself sets LC_CTYPE so (PEP 538); the user said LANG=C
    locale = everything or kind or lang
    if not locale:
        return False
    charset = locale.partition("@")[0].rpartition(".")[2]
    return charset.casefold().replace("-", "") != "utf8"


def prepare_output() -> None:
    """Let no character stop a write.

    What the output's character set lacks becomes as many `?` as it takes cells, so that columns
    stay in line.
    """
    codecs.register_error("jackfield.cells", _as_question_marks)
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="jackfield.cells")


# Buttons, all movement, and how they are told, as Textual asks for them (xterm, SGR).
MOUSE_ON: Final = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
MOUSE_OFF: Final = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"

FRAMES_PER_SECOND = 240
TURN = 0.0005  # seconds that a thread may keep the others from running


def prepare_frames() -> None:
    """Let a key be answered on the screen soon; to be called before Textual is loaded.

    Textual waits up to two of its frame times after it has painted. Nothing is painted more often
    for shorter ones: the timer rests while nothing has changed. And the threads that read keys and
    write to the terminal get their turn sooner while the event loop, or a thread that reads files,
    is busy: Python's own limit is 5 ms.
    """
    sys.setswitchinterval(TURN)
    os.environ.setdefault("TEXTUAL_FPS", str(FRAMES_PER_SECOND))


def _as_question_marks(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    from tui.text import width

    return "?" * width(error.object[error.start : error.end]), error.end


_QUESTION: Final = b"\x1b]11;?\x1b\\\x1b[c"
_LIMIT: Final = 0.1

# Terminals that print an OSC sequence instead of swallowing it.
_CANNOT_ASK: Final = DUMB | {"linux", "vt100", "vt220", "cons25"}

_ANSWERS: Final = re.compile(rb"\x1b\](?:[^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b\[\?[\d;]*c")
_BEGUN: Final = re.compile(rb"\x1b(?:\][^\x07\x1b]*\x1b?|\[(?:\?[\d;]*)?)?\Z")
_LAST: Final = re.compile(rb"\x1b\[\?[\d;]*c")
_COLOUR: Final = re.compile(
    rb"\x1b\]11;rgba?:([\da-fA-F]{1,4})/([\da-fA-F]{1,4})/([\da-fA-F]{1,4})"
)


def background_in(data: bytes) -> tuple[int, int, int] | None:
    """The colour in an answer to OSC 11 (xterm control sequences), 0 to 255 each."""
    if not (match := _COLOUR.search(data)):
        return None
    red, green, blue = (int(d, 16) * 255 // (16 ** len(d) - 1) for d in match.groups())
    return red, green, blue


def without_answers(data: bytes) -> tuple[bytes, bytes, bool]:
    """Split what came from the terminal.

    Returns:
        What a person typed; the beginning of an answer still to be completed; whether the last
        of the two answers is in.
    """
    over = _LAST.search(data) is not None
    typed = _ANSWERS.sub(b"", data)
    begun = b""
    if not over and (match := _BEGUN.search(typed)):
        typed, begun = typed[: match.start()], match[0]
    return typed, begun, over


class BackgroundQuery:
    """Asks the terminal for its background colour while the program is still importing.

    Enter it before the imports, take the answer after them: the question costs no time of its
    own. A device attributes request (DA1) follows it, which every terminal answers, so that a
    terminal without the answer does not cost the whole limit.
    """

    def __init__(
        self, fd_in: int = 0, fd_out: int = 1, environ: Mapping[str, str] = os.environ
    ) -> None:
        self._in, self._out = fd_in, fd_out
        self._mode: list[Any] | None = None
        self._data = b""
        self._asked = 0.0
        self._term = environ.get("TERM", "")

    def __enter__(self) -> BackgroundQuery:
        if sys.platform == "win32" or self._term in _CANNOT_ASK:
            return self
        import termios
        import tty

        with contextlib.suppress(termios.error, OSError):
            mode = termios.tcgetattr(self._in)
            tty.setcbreak(self._in, termios.TCSADRAIN)
            self._mode = mode
            os.write(self._out, _QUESTION)
            self._asked = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._mode is None or sys.platform == "win32":
            return
        import termios

        with contextlib.suppress(termios.error, OSError):
            termios.tcsetattr(self._in, termios.TCSADRAIN, self._mode)

    def answer(self) -> tuple[int, int, int] | None:
        """The background, or None; waits until 0.1 s after the question at most."""
        if not self._asked:
            return None
        while not _LAST.search(self._data):
            left = self._asked + _LIMIT - time.monotonic()
            # What has already come is taken even when the imports used up the time.
            if not select.select([self._in], [], [], max(0.0, left))[0]:
                break
            if not (more := os.read(self._in, 4096)):
                break
            self._data += more
        return background_in(self._data)

    @property
    def late(self) -> bool:
        """Whether an answer is still to come; it would arrive as if it had been typed."""
        return bool(self._asked) and not _LAST.search(self._data)

    def driver_class(self) -> Any:
        """For `App(driver_class=…)`: None, or a driver that eats late answers."""
        typed, begun, _ = without_answers(self._data)
        if not self._asked or not (self.late or typed):
            return None
        from tui.driver import patient_driver

        return patient_driver(typed + begun)
