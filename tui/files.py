"""Files that the person asks for: a list, an event stream, a picture of the screen."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class Taken(OSError):
    """There is a file of that name already."""


def target_of(typed: str, cwd: str, home: str) -> Path:
    """The file that was meant: `~` is the home, a relative path begins at the workspace."""
    if typed == "~" or typed.startswith("~/"):
        return Path(home + typed[1:])
    return Path(cwd or ".", typed)


def save(path: Path, text: str | bytes, *, replace: bool = False) -> None:
    """Write a whole file or none, readable by its owner only. Blocks.

    Raises:
        Taken: It exists and `replace` was not said.
        OSError: As the system says.
    """
    if path.is_dir():
        raise IsADirectoryError(21, "it is a folder", str(path))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            # Foreign names may hold what UTF-8 cannot; one of them must not cost the whole file.
            file.write(text if isinstance(text, bytes) else text.encode("utf-8", "replace"))
        if replace:
            os.replace(name, path)
            return
        try:
            os.link(name, path)
        except FileExistsError:
            raise Taken(17, "there is such a file already", str(path)) from None
    finally:
        Path(name).unlink(missing_ok=True)
