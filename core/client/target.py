"""What `--connect` names."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from core.appserver.sockets import SCHEME, socket_path


def check_target(text: str) -> Path | tuple[str, ...]:
    """`unix:PATH` as the path, or a command with its arguments as a shell quotes them.

    Raises:
        ValueError: It is neither; the text says why.
    """
    if text.startswith(SCHEME):
        return socket_path(text)
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is no command: {error}") from None
    if not words:
        raise ValueError("no command is named")
    return os.path.expanduser(words[0]), *words[1:]
