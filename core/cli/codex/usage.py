"""Usage lines, and what is said when a command line cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

from core.cli.codex.words import HELP, Command, Option

MORE = "For more information, try '--help'."
NO_URL = (
    "the following required argument was not provided: url\n\n"
    "Usage: codex [OPTIONS] [PROMPT]\n       codex [OPTIONS] <COMMAND> [ARGS]"
)
"""What the real one says where a command is given and an option is for URLs only."""


class Unreadable(Exception):
    """The command line cannot be read; the text is for stderr."""

    def __init__(self, text: str, *paragraphs: str) -> None:
        super().__init__("\n\n".join((text, *paragraphs, MORE)))


def usage_line(command: Command, used: Sequence[str] = ()) -> str:
    """`Usage: …`: of everything, or of the options that were used and what is needed."""
    if command.usage:
        return f"Usage: {command.usage}"
    parts = [command.path]
    if used:
        parts += [_option(command, key).shown for key in used if _is_option(command, key)]
    else:
        parts.append("[OPTIONS]")
    parts += [operand.shown for operand in command.operands]
    if command.commands:
        parts.append("<COMMAND>")
    return f"Usage: {' '.join(parts)}"


def _is_option(command: Command, key: str) -> bool:
    return all(operand.key != key for operand in command.operands)


def _option(command: Command, key: str) -> Option:
    return HELP if key == HELP.key else command.option(key)


def unknown_command(command: Command, word: str, like: Sequence[str]) -> Unreadable:
    tips = []
    if like:
        names = ", ".join(f"'{one}'" for one in like)
        some = "a similar subcommand exists" if len(like) == 1 else "some similar subcommands exist"
        tips = [f"  tip: {some}: {names}"]
    return Unreadable(f"error: unrecognized subcommand '{word}'", *tips, usage_line(command))


def no_command(command: Command) -> Unreadable:
    names = ", ".join([*(one.name for one in command.commands), "help"])
    return Unreadable(
        f"error: '{command.path}' requires a subcommand but one was not provided\n"
        f"  [subcommands: {names}]",
        usage_line(command),
    )


def unexpected(
    command: Command, word: str, *, used: Sequence[str] = (), tips: Sequence[str] = ()
) -> Unreadable:
    told = ["\n".join(f"  tip: {tip}" for tip in tips)] if tips else []
    return Unreadable(
        f"error: unexpected argument '{word}' found", *told, usage_line(command, used)
    )


def repeated(command: Command, option: Option) -> Unreadable:
    return Unreadable(
        f"error: the argument '{option.shown}' cannot be used multiple times", usage_line(command)
    )


def no_value(option: Option) -> Unreadable:
    return Unreadable(f"error: a value is required for '{option.shown}' but none was supplied")


def needless_value(command: Command, option: Option, value: str, used: Sequence[str]) -> Unreadable:
    return Unreadable(
        f"error: unexpected value '{value}' for '{option.shown}' found; no more were expected",
        usage_line(command, used),
    )


def bad_value(option: Option, value: str, why: str) -> Unreadable:
    return Unreadable(f"error: invalid value '{value}' for '{option.shown}': {why}")


def bad_choice(option: Option, value: str) -> Unreadable:
    return Unreadable(
        f"error: invalid value '{value}' for '{option.shown}'\n"
        f"  [possible values: {', '.join(option.choices)}]"
    )


def conflict(command: Command, option: Option, other: str) -> Unreadable:
    return Unreadable(
        f"error: the argument '{option.shown}' cannot be used with '{other}'", usage_line(command)
    )


def missing(command: Command, shown: Sequence[str], used: Sequence[str]) -> Unreadable:
    lines = "".join(f"\n  {one}" for one in shown)
    return Unreadable(
        f"error: the following required arguments were not provided:{lines}",
        usage_line(command, used),
    )
