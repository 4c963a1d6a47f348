"""`jackfield mcp …`: answers as `codex mcp …` does, and has verbs of its own beside."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from core.cli.codex.face import Do, main
from core.cli.codex.mcp_words import MCP


@dataclass(frozen=True)
class OwnVerb:
    """A verb that the real one does not have.

    Attributes:
        arguments, run: Names of the module's two functions.
    """

    module: str
    arguments: str
    run: str
    summary: str

    def parser(self, name: str) -> argparse.ArgumentParser:
        """Reads its line."""
        parser = argparse.ArgumentParser(
            prog=f"jackfield mcp {name}",
            description=f"{self.summary[0].upper()}{self.summary[1:]}.",
            allow_abbrev=False,
        )
        self._get(self.arguments)(parser)
        return parser

    def _get(self, name: str) -> Callable[..., int]:
        return getattr(import_module(self.module), name)

    def main(self, name: str, words: Sequence[str]) -> int:
        """Run it; the exit code."""
        try:
            given = self.parser(name).parse_args(words)
        except SystemExit as end:  # argparse has said why, or has printed the help
            return int(end.code or 0)
        return self._get(self.run)(given)


_LIVE = "core.cli.mcp_live"
OWN: dict[str, OwnVerb] = {
    "edit": OwnVerb("core.cli.mcp_edit", "arguments", "run", "change members of a server's table"),
    "reconnect": OwnVerb(
        _LIVE, "reconnect_arguments", "reconnect", "connect to servers and say how it went"
    ),
    "tools": OwnVerb(_LIVE, "tools_arguments", "tools", "list the tools that servers offer"),
    "call": OwnVerb(_LIVE, "call_arguments", "call", "call a tool and print what it says"),
    "read": OwnVerb(_LIVE, "read_arguments", "read", "read a resource of a server"),
}


def run_words(before: Sequence[str], words: Sequence[str]) -> int:
    """Run the words after `mcp`; `before` are the options that stood before it."""
    if words and (own := OWN.get(words[0])) is not None:
        return own.main(words[0], [*before, *words[1:]])
    return main(MCP, _DOERS, before, words, also=_also())


def _also() -> str:
    lines = [f"  {name:9}  {verb.summary}" for name, verb in OWN.items()]
    return "\n".join(("Jackfield's own, each with a --help:", *lines))


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
