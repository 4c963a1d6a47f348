"""`jackfield mcp …`: answers as `codex mcp …` does, and has verbs of its own beside."""

from __future__ import annotations

from collections.abc import Sequence

from core.cli.codex.face import Do, main
from core.cli.codex.mcp_words import MCP


def run_words(before: Sequence[str], words: Sequence[str]) -> int:
    """Run the words after `mcp`; `before` are the options that stood before it."""
    return main(MCP, _DOERS, before, words)


def _list() -> Do:
    from core.cli.codex.mcp_shown import show_all

    return show_all


def _get() -> Do:
    from core.cli.codex.mcp_shown import show_one

    return show_one


def _add() -> Do:
    from core.cli.codex.mcp_changes import add

    return add


def _remove() -> Do:
    from core.cli.codex.mcp_changes import remove

    return remove


def _login() -> Do:
    from core.cli.codex.mcp_sign_in import login

    return login


def _logout() -> Do:
    from core.cli.codex.mcp_sign_in import logout

    return logout


_DOERS = {
    "codex mcp list": _list,
    "codex mcp get": _get,
    "codex mcp add": _add,
    "codex mcp remove": _remove,
    "codex mcp login": _login,
    "codex mcp logout": _logout,
}
