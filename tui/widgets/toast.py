"""Toasts answer what the user did: one line, above the status line."""

from __future__ import annotations

from typing import Any, Final

from textual.app import App

from tui.text import clean, cut

_SECONDS: Final = 5.0
_FAULT_SECONDS: Final = 8.0
_LONGEST: Final = 200


def toast(app: App[Any], text: str, *, fault: bool = False) -> None:
    """Answer in one line; the answer before it goes.

    Args:
        app: The app.
        text: What was done and where it was written, with the key that undoes it.
        fault: It did not work; stays 8 s instead of 5, and belongs into the errors too.
    """
    app.clear_notifications()
    app.notify(
        cut(clean(text), _LONGEST),
        severity="error" if fault else "information",
        timeout=_FAULT_SECONDS if fault else _SECONDS,
        markup=False,
    )
