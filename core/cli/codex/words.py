"""What a command line may say: commands, options and operands, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Option:
    """`--long VALUE`, or a flag when it takes no value.

    Attributes:
        key: Its name among the values that were read.
        value: What its value is called, or "" for a flag.
        about: One paragraph, without a final stop.
        more: Further paragraphs of the long help.
        many: May be given more than once.
        choices: The only values that are taken.
        fault: Says what is wrong with a value, or "".
        needs: Keys of options that must be given too.
        split: A value is a list, parted by this character.
    """

    key: str
    long: str
    short: str = ""
    value: str = ""
    about: str = ""
    more: tuple[str, ...] = ()
    many: bool = False
    choices: tuple[str, ...] = ()
    fault: Callable[[str], str] | None = None
    needs: tuple[str, ...] = ()
    split: str = ""

    @property
    def shown(self) -> str:
        """`--long <VALUE>`."""
        return f"--{self.long} <{self.value}>" if self.value else f"--{self.long}"


@dataclass(frozen=True, kw_only=True)
class Operand:
    """A word by its place.

    Attributes:
        rest: It takes this word and all that follow, as they are.
    """

    key: str
    value: str
    about: str = ""
    required: bool = True
    rest: bool = False

    @property
    def shown(self) -> str:
        """`<NAME>`, `[NAME]` or `[NAME]...`."""
        if self.rest:
            return f"[{self.value}]..."
        return f"<{self.value}>" if self.required else f"[{self.value}]"


@dataclass(frozen=True, kw_only=True)
class Group:
    """Exactly one of an option and the last operand must be given.

    Attributes:
        shown: As a missing one is told.
    """

    option: str
    operand: str
    shown: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command, or a family of commands when it has `commands`.

    Attributes:
        path: As it is called: `codex mcp add`.
        about: One line for lists; may be "".
        more: Further paragraphs of the long help.
        options: In the order of the help.
        usage: In place of the usage line that would be made.
        examples: Lines under the help; the first one is their heading.
    """

    path: str
    about: str = ""
    more: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    operands: tuple[Operand, ...] = ()
    commands: tuple[Command, ...] = ()
    group: Group | None = None
    usage: str = ""
    examples: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its own word."""
        return self.path.rpartition(" ")[2]

    def command(self, name: str) -> Command | None:
        """One of the family."""
        return next((one for one in self.commands if one.name == name), None)

    def option(self, key: str) -> Option:
        """By key. Raises StopIteration for one that is not here."""
        return next(one for one in self.options if one.key == key)


HELP = Option(key="help", long="help", short="h")
"""Every command's own."""


@dataclass(kw_only=True)
class Given:
    """What was read.

    Attributes:
        values: By key: a string, a list of strings for what may be given more than once, True
            for a flag. What was not given is not there.
    """

    command: Command
    values: dict[str, str | list[str] | bool] = field(
        default_factory=dict[str, "str | list[str] | bool"]
    )

    def text(self, key: str) -> str | None:
        """A value, or None."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def texts(self, key: str) -> list[str]:
        """All values of what may be given more than once."""
        value = self.values.get(key)
        return value if isinstance(value, list) else []

    def has(self, key: str) -> bool:
        """It was given."""
        return key in self.values
