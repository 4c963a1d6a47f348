"""The first rows of the last start, on the screen before anything else is loaded.

What is shown is what this panel has itself painted from its cache, every row marked as not yet
confirmed; the first real frame takes its place. Imports nothing heavy.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from contextlib import suppress
from types import TracebackType

from tui.options import FIRST_START, Options, cache_dir, state_dir

LARGEST = 1 << 20
_DRAWS = ("TERM", "COLORTERM", "COLORFGBG", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE")
_OPEN = "\x1b[?1049h\x1b[?25l"
_CLOSE = "\x1b[?1049l\x1b[?25h"


class LastFrame:
    """A frame kept for one home, workspace, size and look.

    Args:
        size: Columns and rows of the terminal.
    """

    def __init__(self, options: Options, size: tuple[int, int]) -> None:
        from core.version import VERSION

        environ = options.environ
        what = (
            VERSION,
            *map(str, size),
            str(options.theme),
            str(options.ascii),
            environ.get("CODEX_HOME", ""),
            environ.get("HOME", ""),
            str(options.cwd),
            *(environ.get(name, "") for name in _DRAWS),
        )
        digest = hashlib.sha256("\0".join(what).encode("utf-8", "surrogateescape")).hexdigest()
        self._path = cache_dir(environ) / f"frame-{digest[:24]}"

    def read(self) -> str:
        """The frame, or "" where there is none of ours."""
        with suppress(OSError, UnicodeDecodeError), self._path.open("rb") as file:
            found = os.fstat(file.fileno())
            mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
            if mine and stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077:
                return file.read(LARGEST).decode()
        return ""

    def keep(self, frame: str) -> None:
        """Keep it for the next start; a failure costs nothing but speed. Blocks."""
        data = frame.encode()
        if len(data) > LARGEST or frame == self.read():
            return
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=".frame.", dir=self._path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(name, self._path)
            except OSError:
                os.unlink(name)
                raise


class Curtain:
    """Shows a frame on the terminal until the panel has one of its own.

    Attributes:
        up: It is shown; the panel's driver takes it away.

    Args:
        frame: "" = nothing is shown.
    """

    def __init__(self, frame: str) -> None:
        self._frame = frame
        self.up = False

    def __enter__(self) -> Curtain:
        if self._frame:
            _write(_OPEN + self._frame)
            self.up = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.up:
            _write(_CLOSE)


def last_frame(options: Options) -> LastFrame | None:
    """Where this start's frame is kept; None where a kept one would be of something else."""
    if (
        sys.platform == "win32"
        or options.demo
        or options.connect
        or not (state_dir(options.environ) / FIRST_START).exists()
    ):
        return None
    try:
        size = os.get_terminal_size(sys.__stderr__.fileno() if sys.__stderr__ else 2)
    except OSError:
        return None
    return LastFrame(options, (size.columns, size.lines))


def _write(text: str) -> None:
    with suppress(OSError):
        os.write(2, text.encode())
