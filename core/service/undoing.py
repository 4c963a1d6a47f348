"""Changes that more than one file has to be taken back for."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

KEPT = 100
TakeBack = Callable[[], Awaitable[str]]
"""Takes a change back; says in a line what holds again. Raises CoreError when it cannot."""


class Undoes:
    """Tokens for `jackfield/undo`, each usable once."""

    def __init__(self) -> None:
        self._known: dict[str, TakeBack] = {}

    def add(self, run: TakeBack) -> str:
        """A token that runs it."""
        token = secrets.token_hex(8)
        self._known[token] = run
        while len(self._known) > KEPT:
            self._known.pop(next(iter(self._known)))
        return token

    def take(self, token: str) -> TakeBack | None:
        """What a token stands for; it is used up."""
        return self._known.pop(token, None)
