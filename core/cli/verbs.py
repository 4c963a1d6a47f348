"""The verbs of the command line. Each is a module of its own, loaded only when it is used."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        module: Has `arguments(parser)`, which adds what the verb takes, and `run(given) -> int`,
            which does it and returns the exit code.
        summary: For the list of verbs; begins with a small letter, ends without a stop.
        words: The module has `run_words(before, words) -> int` instead, which reads the line
            itself: `before` are the options that stood before the verb.
    """

    module: str
    summary: str
    words: bool = False

    def load(
        self,
    ) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]:
        """The module's two functions."""
        module = import_module(self.module)
        return module.arguments, module.run

    def run_words(self, before: Sequence[str], words: Sequence[str]) -> int:
        """Run a verb that reads the line itself."""
        code: int = import_module(self.module).run_words(before, words)
        return code


VERBS: dict[str, Verb] = {
    "list": Verb("core.cli.listing", "list plugins, apps, tools, servers or marketplaces"),
    "show": Verb("core.cli.show", "show everything that is known of one of them"),
    "explain": Verb("core.cli.explain", "say what stops one of them, and what mends it"),
    "install": Verb("core.cli.install", "install plugins and enable them"),
    "uninstall": Verb("core.cli.uninstall", "take plugins out again"),
    "enable": Verb("core.cli.enable", "turn a plugin, a server, an app or a tool on"),
    "disable": Verb("core.cli.disable", "turn a plugin, a server, an app or a tool off"),
    "update": Verb("core.cli.update", "bring installed plugins to what is offered"),
    "marketplace": Verb("core.cli.marketplace", "add, remove, upgrade and list marketplaces"),
    "login": Verb("core.cli.login", "sign in to an MCP server"),
    "logout": Verb("core.cli.logout", "sign out of an MCP server and revoke its tokens"),
    "mcp": Verb("core.cli.mcp", "MCP servers, as `codex mcp` has them, and more", words=True),
    "plugin": Verb("core.cli.plugin", "plugins, as `codex plugin` has them", words=True),
    "events": Verb("core.cli.events", "print what happens as JSON lines"),
    "completion": Verb("core.cli.completion", "print completion for a shell"),
    "app-server": Verb("core.cli.app_server", "serve the Codex app-server protocol on stdio"),
    "restore": Verb("core.cli.restore", "put a file back as it was before we changed it"),
    "doctor": Verb("core.cli.doctor", "look this home and this machine over, with fixes"),
    "validate": Verb("core.cli.validate", "look a marketplace or plugin folder over"),
    "search": Verb("core.cli.search", "find plugins in all marketplaces, the best first"),
    "import": Verb("core.cli.importing", "take servers and plugins over from other agents"),
}
