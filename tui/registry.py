"""The commands with their real keys: bindings, key line, help, palette, user keymaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from textual.binding import Binding

from tui.commands import COMMANDS, Command, Offer
from tui.keys import read_keys, show_key
from tui.signs import UNICODE, Glyphs
from tui.text import Hint

_FIRST = {"row.mend": 0, "row.cancel": 1, "row.switch": 2}


class NameHit(NamedTuple):
    """Something that `explain` knows by name."""

    id: str
    text: str
    note: str


class CommandHost(Protocol):
    """What the app is to the key line, the palette and the help."""

    @property
    def registry(self) -> Registry:
        """The table with the real keys."""
        ...

    @property
    def tab(self) -> tuple[str, str]:
        """Id and title of the open tab."""
        ...

    def offers(self) -> Sequence[Offer]:
        """What applies to the selected row, and what does not and why; most wanted first."""
        ...

    def command_offer(self, id: str) -> Offer | None:
        """What one command means now; None where the place knows nothing of it."""
        ...

    def run_command(self, id: str) -> None:
        """Do it, or say why not."""
        ...

    def explain_names(self, query: str, limit: int) -> Sequence[NameHit]:
        """Plugins, apps, tools and servers whose names match, best first."""
        ...

    def explain_name(self, id: str) -> None:
        """Open Explain for one of them."""
        ...


class HelpRow(NamedTuple):
    """A line of the help: every key as it is shown now, and what they do."""

    keys: tuple[str, ...]
    text: str


class HelpGroup(NamedTuple):
    """A heading with its lines."""

    title: str
    rows: tuple[HelpRow, ...]


class Registry:
    """The commands with the keys that are really bound.

    Attributes:
        commands: The table, with the user's keys in it.
        keymap: The sound part of the user's keys, for `App.set_keymap`.
        problems: What is wrong with the rest, one sentence each.
    """

    def __init__(
        self,
        commands: Sequence[Command] = COMMANDS,
        keymap: Mapping[str, str] | None = None,
    ) -> None:
        known = {command.id: command for command in commands}
        self.problems, self.keymap = _checked_keymap(known, keymap or {})
        self._by_id = known | {
            id: replace(known[id], keys=keys) for id, keys in self.keymap.items()
        }
        self.commands = tuple(self._by_id.values())

    def get(self, id: str) -> Command | None:
        """The command of that id."""
        return self._by_id.get(id)

    def key(self, id: str) -> str:
        """The key that is shown for a command, as Textual names it; "" when it has none."""
        command = self.get(id)
        return command.keys.partition(",")[0] if command else ""

    def bindings(self) -> list[Binding]:
        """For `App.BINDINGS`: everything that a list or form does not bind itself."""
        return [_binding(c) for c in self.commands if c.keys and not c.action]

    def list_bindings(self) -> list[Binding]:
        """For `RowList.BINDINGS`: moving, folding, and `enter`."""
        return [_binding(c) for c in self.commands if c.keys and c.action.startswith("list_")]

    def key_line(self, offers: Iterable[Offer]) -> list[Hint]:
        """The hints for what applies, in order; mending, cancelling and the switch come first."""
        hints: list[Hint] = []
        for offer in sorted(offers, key=lambda offer: _FIRST.get(offer.id, len(_FIRST))):
            command = self.get(offer.id)
            if command is None or not command.keys or (offer.why and not offer.greyed):
                continue
            label = offer.label or command.label
            hints.append(Hint(self.key(offer.id), label, greyed=bool(offer.why)))
        return hints

    def help(self, tab: str = "", title: str = "", glyphs: Glyphs = UNICODE) -> list[HelpGroup]:
        """The help of one tab.

        Args:
            tab: Its id; commands of other tabs are left out.
            title: Its name in the heading `Here: …`.
            glyphs: For the arrows.
        """
        here = f"Here: {title}" if title else "Here"
        groups: dict[str, dict[str, list[Command]]] = {}
        for command in self.commands:
            if not command.keys or (command.tabs and tab not in command.tabs):
                continue
            heading = here if command.group == "Here" else command.group
            rows = groups.setdefault(heading, {})
            rows.setdefault(command.row or command.label, []).append(command)
        order = ["Everywhere", "Lists", here, "Forms and pages"]
        return [
            HelpGroup(heading, tuple(_help_row(text, c, glyphs) for text, c in rows.items()))
            for heading in order
            if (rows := groups.get(heading))
        ]

    def in_palette(self, tab: str) -> list[Command]:
        """Commands for the palette, those of other tabs left out."""
        return [c for c in self.commands if c.palette and (not c.tabs or tab in c.tabs)]


def _binding(command: Command) -> Binding:
    return Binding(
        command.keys,
        command.action or f"command('{command.id}')",
        command.label,
        show=False,
        tooltip=command.tooltip,
        id=command.id,
    )


def _help_row(text: str, commands: Sequence[Command], glyphs: Glyphs) -> HelpRow:
    """Keys side by side: the first key of each command, then the second of each."""
    columns = [command.keys.split(",") for command in commands]
    longest = max(len(keys) for keys in columns)
    sets = [[keys[at] for keys in columns if at < len(keys)] for at in range(longest)]
    if sets[0] == list("12345"):
        return HelpRow(("1 - 5" if glyphs.ascii else "1 – 5",), text)
    if len(sets) == 1 or len(commands) == 1:
        return HelpRow(tuple(show_key(key, glyphs) for keys in sets for key in keys), text)
    return HelpRow(tuple(show_key(",".join(_in_order(keys)), glyphs) for keys in sets), text)


def _in_order(keys: list[str]) -> list[str]:
    """`j k` and `h l` as they lie on the keyboard."""
    return sorted(keys) if all(len(key) == 1 and key.islower() for key in keys) else keys


def _checked_keymap(
    known: Mapping[str, Command], keymap: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """What is wrong with a user's keymap, and the part of it that is sound."""
    problems: list[str] = []
    sound: dict[str, str] = {}
    for id, text in keymap.items():
        if id not in known:
            problems.append(f"{id} is no command")
        elif (keys := read_keys(text)) is None:
            problems.append(f"{id}: {text!r} is no key")
        elif taken := _taken_by(known, {**keymap, id: keys}, id, keys):
            problems.append(f"{id}: {show_key(keys)} is the key of {taken}")
        else:
            sound[id] = keys
    return tuple(problems), sound


def _taken_by(
    known: Mapping[str, Command], keymap: Mapping[str, str], id: str, keys: str
) -> str | None:
    """The other command that has one of `keys` in a place where both are bound."""
    mine, wanted = known[id], set(keys.split(","))
    for other in known.values():
        if other.id == id or not _meet(mine, other):
            continue
        theirs = keymap.get(other.id, other.keys)
        if wanted & set((read_keys(theirs) or "").split(",")) - {""}:
            return other.id
    return None


def _meet(one: Command, other: Command) -> bool:
    if "Forms and pages" in (one.group, other.group):
        return one.group == other.group
    return not (one.tabs and other.tabs) or bool(set(one.tabs) & set(other.tabs))
