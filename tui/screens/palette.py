"""The palette: every command by name, what does not apply muted with the reason."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

from textual import events
from textual.command import (
    CommandInput,
    CommandList,
    CommandPalette,
    DiscoveryHit,
    Hit,
    Hits,
    Provider,
)
from textual.content import Content

from tui.commands import Command, Offer
from tui.keys import show_key
from tui.registry import CommandHost
from tui.signs import Glyphs, glyphs_of
from tui.text import Part, blank, clean, cut, pad, spread
from tui.theme import app_of, content
from tui.widgets.breakpoints import HEIGHTS, WIDTHS
from tui.widgets.toast import toast

_WIDTH = 84
_FRAME = 5  # border, padding, scrollbar
_ACT = 34
_NAMES = 20
_LINES = 24


class Entry(NamedTuple):
    """A line of the palette: the act, its object or the reason against it, the key."""

    text: str
    about: str
    key: str
    applies: bool
    run: Callable[[], None]


class CommandProvider(Provider):
    """Commands from the registry, then names to explain. Needs a `CommandHost` as app."""

    @property
    def _host(self) -> CommandHost:
        return cast(CommandHost, app_of(self.screen))

    def entries(self) -> list[Entry]:
        """Every command of this tab: the row's own first, what does not apply last."""
        host = self._host
        offers = {offer.id: offer for offer in host.offers()}
        registry = host.registry
        commands = {command.id: command for command in registry.in_palette(host.tab[0])}
        ordered = [commands.pop(id) for id in offers if id in commands]
        ordered += sorted(commands.values(), key=_far)
        entries = [self._entry(command, offers) for command in ordered]
        return sorted(entries, key=lambda entry: not entry.applies)

    def _entry(self, command: Command, offers: dict[str, Offer]) -> Entry:
        host = self._host
        offer = offers.get(command.id) or host.command_offer(command.id)
        why = offer.why if offer else ""
        label = (offer.label if offer else "") or command.label
        about = why or (offer.about if offer else "") or command.tooltip
        run = partial(self._refuse, label, why) if why else partial(host.run_command, command.id)
        text = label[:1].upper() + label[1:]
        return Entry(clean(text), about, host.registry.key(command.id), not why, run)

    def _refuse(self, label: str, why: str) -> None:
        toast(app_of(self.screen), f"{label}: {why}")

    async def discover(self) -> Hits:
        """All commands, before anything is typed."""
        for entry in self.entries():
            yield DiscoveryHit(self._line(entry, Content(entry.text)), entry.run, entry.text)

    async def search(self, query: str) -> Hits:
        """Commands that match by name, then names that `explain` knows."""
        matcher = self.matcher(query)
        for entry in self.entries():
            if (score := matcher.match(entry.text)) > 0:
                shown = matcher.highlight(entry.text) if entry.applies else Content(entry.text)
                score = score if entry.applies else score / 2
                yield Hit(score, self._line(entry, shown), entry.run, entry.text)
        host = self._host
        for rank, name in enumerate(host.explain_names(query, _NAMES)):
            run = partial(host.explain_name, name.id)
            text = f"Explain {clean(name.text)}"
            entry = Entry(text, name.note, "", True, run)
            yield Hit(0.01 / (rank + 1), self._line(entry, Content(text)), run, text)

    def _line(self, entry: Entry, text: Content) -> Content:
        """One line: the act cut at its column, then the reason, and the key at the end."""
        cells = max(30, min(_WIDTH, self.screen.size.width) - _FRAME)
        glyphs = glyphs_of(self.screen)
        act = min(_ACT, cells // 2)
        shown = cut(entry.text, act, glyphs.cut)
        head = text if shown == entry.text else Content(shown)
        if not entry.applies:
            head = head.stylize("$text-muted")
        room = cells - act - 2
        rest = spread([(entry.about, "muted")], _key(entry.key, glyphs), room, glyphs.cut)
        return Content.assemble(head, " " * (act + 2 - head.cell_length), content(rest))


def _far(command: Command) -> int:
    """How far a command is from the selected row; tabs have the plainest keys, so they are last."""
    if command.id.startswith("tab."):
        return 4
    return ("Here", "Lists", "Everywhere").index(command.group) if command.keys else 3


def _key(key: str, glyphs: Glyphs) -> list[Part]:
    return [blank(2), (pad(show_key(key, glyphs), 5), "key")] if key else [blank(7)]


class Palette(CommandPalette):
    """Textual's palette in the dress of our sheets."""

    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    DEFAULT_CSS = """
    Palette {
        background: $background 65%;
        align-horizontal: center;
        &:ansi { background: $background; }
        & > #--container {
            visibility: visible;
            margin-top: 2;
            width: 84;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            background: $background;
            border: round $edge;
        }
        &.-ascii > #--container { border: ascii $edge; }
        &.-short > #--container { margin-top: 0; }
        & #--input, & #--input.--list-visible {
            height: auto;
            border: none;
            padding: 1 1;
            background: $background;
        }
        &.-short #--input, &.-short #--input.--list-visible { padding: 0 1; }
        & #--results { overlay: none; visibility: visible; }
        & SearchIcon, & LoadingIndicator { display: none; }
        & CommandInput, & CommandInput:focus {
            height: 1;
            border: none;
            padding: 0 1;
            background: $panel;
        }
        & CommandList, & CommandList:focus {
            background: $background;
            border: none;
            scrollbar-size-vertical: 1;
        }
        & CommandList > .option-list--option { padding: 0 1; text-style: not bold; }
        & CommandList > .option-list--option-highlighted {
            background: $row-cursor;
            color: $foreground;
            text-style: bold;
        }
        &:nocolor CommandList > .option-list--option-highlighted { text-style: bold underline; }
        &:ansi CommandList > .option-list--option-highlighted { text-style: bold underline; }
        & > .command-palette--highlight { color: $accent; text-style: bold underline; }
    }
    """

    def __init__(self) -> None:
        super().__init__([CommandProvider], placeholder="a command, or a name to explain")

    def on_mount(self) -> None:
        """ASCII where that is wanted, and a cursor that stands still."""
        self.set_class(glyphs_of(self).ascii, "-ascii")
        self.query_one(CommandInput).cursor_blink = False

    def on_resize(self, event: events.Resize) -> None:
        """As many lines as the screen has room for, 24 at most."""
        height = event.size.height
        frame = 3 if height < HEIGHTS[1][0] else 8
        self.query_one(CommandList).styles.max_height = max(3, min(_LINES, height - frame))
