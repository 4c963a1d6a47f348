"""What calls by the model need, in words."""

from __future__ import annotations

from typing import Final

from core.protocol.jackfield_servers import ApprovalMode

MODES: Final[tuple[tuple[ApprovalMode | None, str, str], ...]] = (
    (None, "not said", "as the server, or Codex, decides"),
    ("auto", "auto", "Codex decides from what the tool says it does"),
    ("prompt", "prompt", "every call asks you"),
    ("writes", "writes", "calls that are not read-only ask you"),
    ("approve", "approve", "no call asks you"),
)


def approval_word(mode: str) -> str:
    """The mode as the file spells it; a dash where nothing is said."""
    return mode or "not said"
