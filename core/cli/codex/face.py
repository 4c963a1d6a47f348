"""How a command of `codex` runs here: the line is read, the configuration judged, errors told."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.codex.common_words import CONFIG, DISABLE, ENABLE
from core.cli.codex.reader import HelpAsked, read
from core.cli.codex.usage import Unreadable
from core.cli.codex.words import Command, Given, Option
from core.cli.text import safe_lines
from core.errors import CoreError, core_error_in
from core.ports import Deps

if TYPE_CHECKING:
    from core.client.contract import CoreClient
    from core.compose import Core
    from core.config.model import Loaded

FAILED, USAGE = 1, 2
_ROOT = Command(
    path="codex",
    options=(
        CONFIG,
        ENABLE,
        DISABLE,
        Option(key="home", long="home", value="DIR"),
        Option(key="cwd", long="cwd", value="DIR"),
    ),
)


class Failed(Exception):
    """The command failed; `causes` follow the text, outermost first."""

    def __init__(self, text: str, *causes: str) -> None:
        super().__init__(text)
        self.text, self.causes = text, causes

    def told(self) -> str:
        """As the real one prints it."""
        lines = [f"Error: {self.text}"]
        if self.causes:
            lines += ["", "Caused by:"]
        for number, cause in enumerate(self.causes):
            first = f"    {number}: " if len(self.causes) > 1 else "    "
            rest = " " * len(first)
            inner = cause.split("\n")
            lines += [first + inner[0], *(rest + line for line in inner[1:])]
        return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One command that runs.

    Attributes:
        client: Everything that it does goes through it.
        loaded: Reads the configuration, for a working directory or for none.
    """

    given: Given
    deps: Deps
    core: Core
    client: CoreClient

    async def loaded(self, cwd: Path | None) -> Loaded:
        """The configuration as it is on disk."""
        import anyio.to_thread

        return await anyio.to_thread.run_sync(self.core.config.load, cwd)


Do = Callable[[Run], Awaitable[int]]


def main(
    family: Command,
    doers: Mapping[str, Callable[[], Do]],
    before: Sequence[str],
    words: Sequence[str],
    *,
    also: str = "",
) -> int:
    """Run a command line of `family`; its exit code.

    Args:
        doers: By path; each loads what it needs when called.
        before: Options that stood before the family's name.
        also: More for the end of the family's pages of help.
    """
    try:
        root = read(_ROOT, before)
        given = read(family, words)
    except Unreadable as error:
        print(safe_lines(str(error)), file=sys.stderr)
        return USAGE
    except HelpAsked as asked:
        return _help(asked, also if asked.command is family else "")
    try:
        deps, overrides = _place(root), _overrides(root, given)
    except (Failed, CoreError) as error:
        return _refused(error)
    return _in_core(deps, overrides, given, doers[given.command.path]())


def _refused(error: Failed | CoreError) -> int:
    told = error.told() if isinstance(error, Failed) else f"Error: {error.message}"
    print(safe_lines(told), file=sys.stderr)
    return FAILED


def _help(asked: HelpAsked, also: str) -> int:
    from core.cli.codex.pages import page

    text = page(asked.command, long=asked.long)
    if asked.wrong:
        print(text, file=sys.stderr)
        return USAGE
    print(f"{text}\n\n{also}" if also else text)
    return 0


def _place(root: Given) -> Deps:
    from core.deps import real_deps

    environ = dict(os.environ)
    if (home := root.text("home")) is not None:
        environ["CODEX_HOME"] = home
    named = environ.get("CODEX_HOME", "")
    if named and not Path(named).exists():
        told = f'CODEX_HOME points to "{named}", but that path does not exist'
        raise Failed("failed to resolve CODEX_HOME", told)
    if named and not Path(named).is_dir():
        told = f'CODEX_HOME points to "{named}", but that path is not a directory'
        raise Failed("failed to resolve CODEX_HOME", told)
    cwd = root.text("cwd")
    return real_deps(environ, Path(cwd) if cwd is not None else Path.cwd())


def _overrides(root: Given, given: Given) -> dict[str, Any]:
    from core.cli.options import override_tree
    from core.config.features import NAMES

    on = [*root.texts("enable"), *given.texts("enable")]
    off = [*root.texts("disable"), *given.texts("disable")]
    for feature in (*on, *off):
        if feature not in NAMES:
            raise Failed(f"Unknown feature flag: {feature}")
    return override_tree([*root.texts("config"), *given.texts("config")], on, off)


def _in_core(deps: Deps, overrides: Mapping[str, Any], given: Given, do: Do) -> int:
    from core.cli.session import in_core

    return in_core(deps, overrides, partial(_work, deps, given, do))


async def _work(deps: Deps, given: Given, do: Do, core: Core) -> int:
    try:
        return await do(Run(given=given, deps=deps, core=core, client=core.client()))
    except (Failed, CoreError) as error:
        return _refused(error)
    except ExceptionGroup as group:  # of a task group in `do`
        failed, _ = group.split(Failed)
        known = core_error_in(group) if failed is None else _first(failed)
        if known is None:
            raise
        return _refused(known)


def _first(group: BaseExceptionGroup[Failed]) -> Failed:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, BaseExceptionGroup) else error
