"""What two Jackfields say to each other over a wire, beyond the methods."""

from __future__ import annotations

from typing import Any

import msgspec

from core.protocol.facts import Evidence
from core.protocol.jackfield import Message

EVENTS = "jackfield/event"
"""Notification: `EventsParams`."""
PANEL_ABILITY = "jackfieldPanel"
"""Member of `initialize`'s capabilities; true: this client is a panel, as one in the same process
is: its own policy, and errors with a hint and a place."""


class SubscribeResult(Message, frozen=True, kw_only=True):
    """From now on `jackfield/event` tells what happens.

    Attributes:
        methods: What this side serves.
        version: Of Jackfield.
        read_only: Writes are refused.
    """

    methods: tuple[str, ...]
    version: str
    read_only: bool = False


class EventsParams(Message, frozen=True, kw_only=True):
    """Events in order, at least one. A slow reader gets fewer: state is folded, and occurrences
    that it missed are counted by `Lagged`.
    """

    events: tuple[Any, ...]


class ErrorMore(Message, frozen=True, kw_only=True, omit_defaults=True):
    """`data` of an error that goes to a panel: what a `CoreError` knows besides its message.

    `data`: what other clients get there.
    """

    words: str = ""
    hint: str = ""
    evidence: Evidence | None = None
    data: Any = msgspec.UNSET
