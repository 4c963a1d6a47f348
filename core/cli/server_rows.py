"""Servers and tools as lines."""

from __future__ import annotations

from collections.abc import Sequence

from core.cli.text import width
from core.protocol.rows import ServerRow, ToolRow

SERVER_HEAD = ("SERVER", "STATUS", "TOOLS", "AUTH", "WHY, OR WHAT IT IS")
TOOL_HEAD = ("TOOL", "CALLABLE", "EFFECT", "ABOUT")
_STATUS = len("authenticationRequired")
_AUTH = len("bearerToken")
_WIDEST = 32


def server_widths(rows: Sequence[ServerRow]) -> tuple[int, ...]:
    """Known before the first one has answered."""
    longest = max((width(row.name) for row in rows), default=0)
    return min(_WIDEST, longest), _STATUS, 0, _AUTH


def server_cells(row: ServerRow) -> tuple[str, ...]:
    """One line."""
    tools = "" if row.tools is None else str(row.tools)
    why = row.reason or row.target
    if row.status == "review":
        why = f"not started, nobody has agreed to it: {row.reason}; --yes does"
    return row.name, row.status, tools, row.auth, why


def tool_cells(row: ToolRow) -> tuple[str, ...]:
    """One line."""
    about = " ".join((row.description or row.title).split())
    return row.id, "yes" if row.callable else "no", row.effect, row.reason or about
