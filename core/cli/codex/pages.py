"""Pages of help, short and long, laid out as the real one's."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from core.cli.codex.usage import usage_line
from core.cli.codex.words import Command, Option

WIDTH = 100
_SHORT_HELP = "Print help (see more with '--help')"
_LONG_HELP = "Print help (see a summary with '-h')"
_HELP = "Print this message or the help of the given subcommand(s)"


def page(command: Command, *, long: bool) -> str:
    """Everything about a command."""
    width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns)
    parts: list[str] = []
    if command.about:
        parts.append(_about(command, long=long))
    parts.append(usage_line(command))
    if command.commands:
        parts.append(_section("Commands:", _commands(command), long=False, width=width))
    if command.operands:
        rows = [(f"  {one.shown}", [one.about]) for one in command.operands]
        parts.append(_section("Arguments:", rows, long=long, width=width))
    if command.options:
        rows = _options(command.options, long=long)
        parts.append(_section("Options:", rows, long=long, width=width))
    if command.examples:
        parts.append("\n".join(command.examples))
    return "\n\n".join(parts)


def _about(command: Command, *, long: bool) -> str:
    if not (long and command.more):
        return command.about
    return "\n\n".join((f"{command.about}.", *command.more))


Row = tuple[str, list[str]]
"""What is explained, and paragraphs about it."""


def _commands(command: Command) -> list[Row]:
    rows = [(f"  {one.name}", [one.about]) for one in command.commands]
    return [*rows, ("  help", [_HELP])]


def _options(options: Sequence[Option], *, long: bool) -> list[Row]:
    rows: list[Row] = []
    for option in options:
        short = f"-{option.short}, " if option.short else "    "
        about = [option.about]
        if long and option.more:
            about = [f"{option.about}.", *option.more]
        if option.choices:
            choices = f"[possible values: {', '.join(option.choices)}]"
            about = [*about, choices] if long else [f"{option.about} {choices}"]
        rows.append((f"  {short}{option.shown}", about))
    rows.append(("  -h, --help", [_LONG_HELP if long else _SHORT_HELP]))
    return rows


def _section(heading: str, rows: Sequence[Row], *, long: bool, width: int) -> str:
    if long:
        return heading + "\n" + "\n\n".join(_below(row, width) for row in rows)
    column = max(len(what) for what, _ in rows) + 2
    if any(_too_long(about, column, width) for _, about in rows):
        return heading + "\n" + "\n".join(_below(row, width) for row in rows)
    lines = [_beside(row, column, width) for row in rows]
    return heading + "\n" + "\n".join(lines)


def _too_long(about: Sequence[str], column: int, width: int) -> bool:
    """There is too little room beside what is explained."""
    taken = column + 4
    return taken / width > 0.4 and len(about[0]) > width - taken


def _below(row: Row, width: int) -> str:
    what, about = row
    told = f"\n{' ' * 10}\n".join(_wrapped(paragraph, 10, width) for paragraph in about)
    return f"{what}\n{told}"


def _beside(row: Row, column: int, width: int) -> str:
    what, about = row
    return f"{what:{column}}{_wrapped(about[0], column, width).strip()}"


def _wrapped(text: str, indent: int, width: int) -> str:
    """Lines of `text` that fit, each indented."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and indent + len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\n".join(f"{' ' * indent}{line}" for line in lines)
