"""The verbs of the command line. Each is a module of its own, loaded only when it is used."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True)
class Verb:
    """One verb.

    Attributes:
        module: Has `arguments(parser)`, which adds what the verb takes, and `run(given) -> int`,
            which does it and returns the exit code.
        summary: For the list of verbs; begins with a small letter, ends without a stop.
    """

    module: str
    summary: str

    def load(
        self,
    ) -> tuple[Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]:
        """The module's two functions."""
        module = import_module(self.module)
        return module.arguments, module.run


VERBS: dict[str, Verb] = {
    "app-server": Verb("core.cli.app_server", "serve the Codex app-server protocol on stdio"),
    "restore": Verb("core.cli.restore", "put a file back as it was before we changed it"),
    "validate": Verb("core.cli.validate", "look a marketplace or plugin folder over"),
}
