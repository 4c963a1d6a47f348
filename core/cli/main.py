"""`jackfield VERB …`: everything that can be done without a screen.

Exit codes: 0 done; 1 it failed, with a line beginning `Error:` on stderr; 2 wrong usage;
130 interrupted; 141 whoever read our output has gone. Loads no Textual.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from core.cli.verbs import VERBS
from core.errors import CoreError, core_error_in
from core.version import VERSION

FAILED, USAGE, INTERRUPTED, NO_READER = 1, 2, 130, 141
EXIT_CODES = (
    "Exit codes: 0 done; 1 it failed; 2 wrong usage; 130 interrupted; 141 the reader has gone"
)
VALUED = frozenset({"-c", "--config", "--enable", "--disable", "--home", "--cwd"})
"""Options that may stand before the verb and take a value as a word of its own."""


def main(argv: Sequence[str]) -> int:
    """Run a command line without the program's name; its exit code."""
    try:
        code = _run(list(argv))
        sys.stdout.flush()
        return code
    except (CoreError, ExceptionGroup) as error:
        known = core_error_in(error)
        if known is None:
            raise
        _tell(known)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter would flush once more at its end, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER


def _tell(error: CoreError) -> None:
    from core.cli.text import safe_lines

    print(safe_lines(f"Error: {error.message}"), file=sys.stderr)
    if error.hint:
        print(safe_lines(error.hint), file=sys.stderr)


def _run(argv: list[str]) -> int:
    at = verb_at(argv)
    name = argv[at] if at is not None else ""
    if at is None or name == "help":
        return _general(argv[:at])
    verb = VERBS.get(name)
    if verb is None:
        print(f"jackfield: there is no verb {name!r}; jackfield help lists them", file=sys.stderr)
        return USAGE
    if verb.words:
        return verb.run_words(argv[:at], argv[at + 1 :])
    arguments, run = verb.load()
    parser = argparse.ArgumentParser(
        prog=f"jackfield {name}", description=_sentence(verb.summary), allow_abbrev=False
    )
    parser.epilog = f"{EXIT_CODES}."
    arguments(parser)
    try:
        given = parser.parse_args(argv[:at] + argv[at + 1 :])
    except SystemExit as end:  # argparse has said why, or has printed the help
        return int(end.code or 0)
    return run(given)


def _general(options: Sequence[str]) -> int:
    if "--version" in options or "-V" in options:
        print(f"jackfield {VERSION}")
        return 0
    width = max(map(len, VERBS))
    print("Usage: jackfield [OPTIONS]         the panel")
    print("       jackfield demo              the panel on an embedded world")
    print("       jackfield VERB [OPTIONS]\n")
    print("Verbs:")
    for name, verb in VERBS.items():
        print(f"  {name:{width}}  {verb.summary}")
    print("\nEach verb has its own --help. --version says which Jackfield this is.")
    print(f"{EXIT_CODES}; more where a verb's help says so.")
    return 0


def verb_at(argv: Sequence[str]) -> int | None:
    """Where the verb stands: the first word that is neither an option nor an option's value."""
    valued = False
    for at, word in enumerate(argv):
        if valued:
            valued = False
        elif word in VALUED:
            valued = True
        elif not word.startswith("-"):
            return at
    return None


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."
