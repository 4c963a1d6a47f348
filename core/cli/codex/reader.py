"""Reads a command line against its words, and refuses as the real one does."""

from __future__ import annotations

from collections.abc import Sequence

from core.cli.codex import usage
from core.cli.codex.likeness import alike
from core.cli.codex.words import HELP, Command, Given, Operand, Option


class HelpAsked(Exception):
    """A page of help is to be shown.

    Attributes:
        long: Rather than the short one.
        wrong: It was not asked for: nothing was said at all.
    """

    def __init__(self, command: Command, *, long: bool, wrong: bool = False) -> None:
        super().__init__(command.path)
        self.command, self.long, self.wrong = command, long, wrong


def read(command: Command, words: Sequence[str]) -> Given:
    """What was said.

    Raises:
        usage.Unreadable: It cannot be read.
        HelpAsked: Help was asked for, or nothing was said to a family of commands.
    """
    collected: dict[str, list[str]] = {}
    while command.commands:
        if not words and not collected:
            raise HelpAsked(command, long=False, wrong=True)
        reading = _Reading(command, words, collected)
        command, words = reading.chosen()
    reading = _Reading(command, words, collected)
    return reading.values()


class _Reading:
    """One command's share of the line.

    Attributes:
        outer: Values of options that stood before the command; they may all be given again.
    """

    def __init__(self, command: Command, words: Sequence[str], outer: dict[str, list[str]]) -> None:
        self._command, self._words, self._outer = command, list(words), outer
        self._at = 0
        self._given = Given(command=command)
        self._used: list[str] = []
        self._operands: list[str] = []
        self._plain = False

    def chosen(self) -> tuple[Command, list[str]]:
        """The command of a family, and the words after it."""
        while (word := self._next()) is not None:
            if self._plain:
                tip = f"subcommand '{word}' exists; to use it, remove the '--' before it"
                known = self._command.command(word) is not None
                raise usage.unexpected(self._command, word, tips=[tip] if known else [])
            if word == "--":
                self._plain = True
            elif not self._option(word):
                for key in self._used:
                    self._outer.setdefault(key, []).extend(self._given.texts(key))
                return self._family(word)
        raise usage.no_command(self._command)

    def _family(self, word: str) -> tuple[Command, list[str]]:
        rest = self._words[self._at :]
        if word == "help":
            raise _help_about(self._command, rest)
        found = self._command.command(word)
        if found is None:
            names = [*(one.name for one in self._command.commands), "help"]
            raise usage.unknown_command(self._command, word, alike(word, names))
        return found, rest

    def values(self) -> Given:
        """Everything, checked."""
        while (word := self._next()) is not None:
            if self._plain or not self._special(word):
                self._operand(word)
        self._check()
        for key, texts in self._outer.items():
            self._given.values[key] = [*texts, *self._given.texts(key)]
        return self._given

    def _next(self) -> str | None:
        if self._at >= len(self._words):
            return None
        self._at += 1
        return self._words[self._at - 1]

    def _special(self, word: str) -> bool:
        if word == "--":
            self._plain = True
            return True
        return self._option(word)

    # -- operands

    def _operand(self, word: str) -> None:
        known = self._command.operands
        if len(self._operands) >= len(known):
            raise usage.unexpected(self._command, word)
        operand = known[len(self._operands)]
        self._operands.append(operand.key)
        self._used.append(operand.key)
        if operand.rest:
            self._given.values[operand.key] = [word, *self._words[self._at :]]
            self._at = len(self._words)
        else:
            self._given.values[operand.key] = word

    # -- options

    def _option(self, word: str) -> bool:
        """Take an option with its value; False when the word is none."""
        if len(word) < 2 or not word.startswith("-"):
            return False
        if word.startswith("--"):
            self._long(word)
        else:
            self._shorts(word)
        return True

    def _long(self, word: str) -> None:
        name, equals, value = word[2:].partition("=")
        option = next((one for one in self._known() if one.long == name), None)
        if option is None:
            raise self._unknown_long(name)
        if option.value:
            self._take(option, value if equals else self._value_of(option))
        elif equals:
            used = [*self._used, *([option.key] if option.key not in self._used else [])]
            raise usage.needless_value(self._command, option, value, used)
        else:
            self._flag(option, long=True)

    def _shorts(self, word: str) -> None:
        for at, char in enumerate(word[1:], 1):
            option = next((one for one in self._known() if one.short == char), None)
            if option is None:
                raise usage.unexpected(self._command, f"-{char}", tips=self._as_value(f"-{char}"))
            if not option.value:
                self._flag(option, long=False)
                continue
            attached = word[at + 1 :]
            value = attached.removeprefix("=") if attached else self._value_of(option)
            self._take(option, value)
            return

    def _known(self) -> tuple[Option, ...]:
        return (*self._command.options, HELP)

    def _value_of(self, option: Option) -> str:
        """The next word; one that looks like an option is none."""
        if self._at >= len(self._words):
            raise usage.no_value(option)
        word = self._words[self._at]
        if word.startswith("-") and len(word) > 1:
            if word != "--":
                self._refuse_unknown(word)
            raise usage.no_value(option)
        self._at += 1
        return word

    def _refuse_unknown(self, word: str) -> None:
        if word.startswith("--"):
            name = word[2:].partition("=")[0]
            if all(one.long != name for one in self._known()):
                raise self._unknown_long(name)
        elif all(one.short != word[1] for one in self._known()):
            told = word[:2]
            raise usage.unexpected(self._command, told, tips=self._as_value(told))

    def _flag(self, option: Option, *, long: bool) -> None:
        if option is HELP:
            raise HelpAsked(self._command, long=long)
        if option.key in self._given.values:
            raise usage.repeated(self._command, option)
        self._given.values[option.key] = True
        self._used.append(option.key)

    def _take(self, option: Option, value: str) -> None:
        if option.choices and value not in option.choices:
            raise usage.bad_choice(option, value)
        if option.fault is not None and (why := option.fault(value)):
            raise usage.bad_value(option, value, why)
        if not option.many:
            if option.key in self._given.values:
                raise usage.repeated(self._command, option)
            self._given.values[option.key] = value
        else:
            values = value.split(option.split) if option.split else [value]
            self._given.values[option.key] = [*self._given.texts(option.key), *values]
        if option.key not in self._used:
            self._used.append(option.key)

    def _unknown_long(self, name: str) -> usage.Unreadable:
        like = alike(name, [one.long for one in self._known()])
        if not like and (elsewhere := self._elsewhere(name)):
            return usage.unexpected(self._command, f"--{name}", used=self._used, tips=[elsewhere])
        tips = [f"a similar argument exists: '--{like[-1]}'"] if like else []
        if not like or any(operand.rest for operand in self._command.operands):
            tips += self._as_value(f"--{name}")
        used = list(self._used)
        if like:
            meant = next(one.key for one in self._known() if one.long == like[-1])
            used += [meant] if meant not in used else []
        return usage.unexpected(self._command, f"--{name}", used=used, tips=tips)

    def _elsewhere(self, name: str) -> str:
        """The option of a command that follows, when it has one like this."""
        rest = self._words[self._at :]
        found: list[tuple[int, str]] = []
        for command in self._command.commands:
            like = alike(name, [one.long for one in (*command.options, HELP)])
            if like and command.name in rest:
                found.append((rest.index(command.name), f"'{command.name} --{like[-1]}' exists"))
        return min(found)[1] if found else ""

    def _as_value(self, word: str) -> list[str]:
        if not self._command.operands:
            return []
        return [f"to pass '{word}' as a value, use '-- {word}'"]

    # -- what belongs together

    def _check(self) -> None:
        command, given = self._command, self._given
        group = command.group
        if group is not None and given.has(group.option) and given.has(group.operand):
            other = next(one.shown for one in command.operands if one.key == group.operand)
            raise usage.conflict(command, command.option(group.option), other)
        lacking = [key for option in self._needy() for key in option.needs if not given.has(key)]
        if group is not None and lacking == [group.option]:
            lacking = []  # it could not be given beside the operand: the real one lets it pass here
        neither = group is not None and not (given.has(group.option) or given.has(group.operand))
        if group is not None and neither:
            lacking = [key for key in lacking if key != group.option]
        told = [command.option(key).shown for key in dict.fromkeys(lacking)]
        if group is not None and neither:
            told.append(group.shown)
        told += [one.shown for one in self._absent()]
        if told:
            used = [*dict.fromkeys(lacking), *self._used]
            used += [one.key for one in self._absent()]
            raise usage.missing(command, told, used)

    def _needy(self) -> list[Option]:
        return [one for one in self._command.options if self._given.has(one.key) and one.needs]

    def _absent(self) -> list[Operand]:
        operands = self._command.operands
        return [one for one in operands if one.required and not self._given.has(one.key)]


def _help_about(command: Command, names: Sequence[str]) -> Exception:
    """`help`, `help add`, …"""
    for at, name in enumerate(names):
        found = command.command(name)
        if found is None and name == "help" and command.commands and at == len(names) - 1:
            return HelpAsked(_help_itself(command), long=False)
        if found is None:
            return usage.unknown_command(command, name, ())
        command = found
    return HelpAsked(command, long=True)


def _help_itself(command: Command) -> Command:
    return Command(
        path=f"{command.path} help",
        about="Print this message or the help of the given subcommand(s)",
        usage=f"{command.path} help [COMMAND]...",
        operands=(
            Operand(
                key="command",
                value="COMMAND",
                about="Print help for the subcommand(s)",
                required=False,
                rest=True,
            ),
        ),
    )
