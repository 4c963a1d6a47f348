"""Which scopes are asked for (observed in Codex 0.171.0; MCP 2025-11-25, Authorization)."""

from __future__ import annotations

from collections.abc import Sequence

from core.auth.discovery import Discovered

OFFLINE = "offline_access"


def chosen_scopes(
    asked: Sequence[str] | None,
    configured: Sequence[str] | None,
    found: Discovered,
    *,
    modest: bool,
) -> tuple[str, ...] | None:
    """Scopes for an authorization request; None = leave the parameter out.

    Args:
        asked: Of the request, None when it did not say.
        configured: Of the server's entry, None when it does not say.
        modest: Never everything that the authorization server knows.
    """
    offline = OFFLINE in found.server.scopes
    explicit = tuple(asked or configured or ())
    if explicit:
        return (*explicit, OFFLINE) if offline and OFFLINE not in explicit else explicit
    known = () if modest else found.server.scopes
    if asked is None and configured is None:
        told = found.challenge_scopes or found.resource_scopes or known
    else:
        together = (*(found.challenge_scopes or ()), *(found.resource_scopes or known))
        told = tuple(dict.fromkeys(together))
    if not told:
        return None
    return (*told, OFFLINE) if modest and offline and OFFLINE not in told else tuple(told)
