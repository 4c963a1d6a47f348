"""`WWW-Authenticate` of bearer tokens: why a server refuses, and what it wants.

Source: RFC 6750 section 3, RFC 9728 section 5.1; MCP 2025-11-25, Authorization, "Scope Challenge".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_VALUE = r'(?:^|[\s,]){}\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))'
_NAMES = ("resource_metadata", "scope", "error")
_PARAMETERS = {name: re.compile(_VALUE.format(name), re.IGNORECASE) for name in _NAMES}
_MOST_SCOPES = 64


def parameter(challenges: Iterable[str], name: str) -> str | None:
    """`resource_metadata`, `scope` or `error` of the first challenge that has it."""
    told = _PARAMETERS[name].search(", ".join(challenges))
    return (told[1] or told[2] or "") if told else None


def scopes(challenges: Iterable[str]) -> tuple[str, ...] | None:
    """The scopes that are asked for, None when none are named."""
    told = parameter(challenges, "scope")
    return tuple(dict.fromkeys(told.split()))[:_MOST_SCOPES] if told is not None else None


def missing_scopes(status: int | None, challenges: Iterable[str]) -> tuple[str, ...] | None:
    """What a token lacks, () where the server does not say; None for any other refusal."""
    challenges = tuple(challenges)
    if status != 403 or parameter(challenges, "error") != "insufficient_scope":
        return None
    return scopes(challenges) or ()


def wanted(missing: Iterable[str]) -> str:
    """For people: `+mcp:write +admin`."""
    return " ".join(f"+{scope}" for scope in missing)
