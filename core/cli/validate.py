"""`jackfield validate`: what is wrong with a marketplace or plugin folder."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

import msgspec

from core.cli.text import safe
from core.plugins.validate.look import validate
from core.protocol.jackfield_validate import LEVELS, Finding, ValidateResult

CLEAN, FAULTS, USAGE = 0, 1, 2


def arguments(parser: argparse.ArgumentParser) -> None:
    """What `validate` takes."""
    parser.epilog = (
        "Exit code: 0 nothing worse than warnings, 1 errors (with --strict warnings too), "
        "2 no such path or wrong usage."
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a folder, or its file")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    parser.add_argument("--quiet", "-q", action="store_true", help="leave out what is only info")


def run(given: argparse.Namespace) -> int:
    """Look, print, and say by the exit code how bad it is."""
    path = os.path.abspath(given.path.expanduser())
    if not os.path.lexists(path):
        print(f"Error: there is no such file or folder: {safe(path)}", file=sys.stderr)
        return USAGE
    result = validate(path, os.path.expanduser("~"))
    if given.json:
        counts = {level: result.count(level) for level in LEVELS}
        whole = {**msgspec.to_builtins(result), "counts": counts}
        print(msgspec.json.format(msgspec.json.encode(whole)).decode())
    else:
        _show(result, quiet=given.quiet)
    worst = result.count("error") or (given.strict and result.count("warning"))
    return FAULTS if worst else CLEAN


def _show(result: ValidateResult, *, quiet: bool) -> None:
    shown = [one for one in result.findings if not (quiet and one.severity == "info")]
    for path, findings in groupby(shown, key=lambda finding: finding.path):
        print(_below(path, result.path))
        for finding in findings:
            _tell(finding)
        print()
    print(_summary(result))


def _tell(finding: Finding) -> None:
    line = f"{finding.line}:{finding.column}" if finding.column else f"{finding.line or '-'}"
    print(f"  {line:>8}  {finding.severity:7}  {safe(finding.message)}  [{finding.rule}]")
    for label, words in _also(finding):
        print(f"                     {label:6} {safe(words)}")


def _also(finding: Finding) -> Iterable[tuple[str, str]]:
    yield from (
        (label, words)
        for label, words in (
            ("at", finding.place),
            ("Codex", finding.codex),
            ("Claude", finding.claude),
            ("mend", finding.hint),
        )
        if words
    )


def _below(path: str, root: str) -> str:
    base = root if os.path.isdir(root) else os.path.dirname(root)
    return safe(os.path.relpath(path, base)) if path.startswith(f"{base}/") else safe(path)


def _summary(result: ValidateResult) -> str:
    counts = ", ".join(_counted(result.count(level), level) for level in LEVELS)
    name = f" {safe(result.name)}" if result.name else ""
    what = {"nothing": "Neither a marketplace nor a plugin"}.get(
        result.kind, f"{result.kind.capitalize()}{name}"
    )
    if result.kind == "marketplace":
        what += f": Codex lists {result.listed} of {_counted(result.total, 'entry')}"
        if result.useless:
            what += f", and can use nothing of {result.useless}"
    early = "" if result.whole else " It was not looked at whole."
    return f"{what}; {counts}.{early}"


def _counted(number: int, word: str) -> str:
    if number == 1 or word == "info":
        return f"{number} {word}"
    return f"{number} entries" if word == "entry" else f"{number} {word}s"
