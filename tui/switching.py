"""What can be turned on and off."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["plugin", "server", "app", "tool"]


class SwitchTarget(NamedTuple):
    """What `space` would turn over; `enabled` is how it is now."""

    kind: Kind
    id: str
    name: str
    enabled: bool
