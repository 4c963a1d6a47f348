"""Jump mode: every part of the screen has a letter; the next key goes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.text import clean

LETTERS = "asdfghjklwertyuiopzxcvbnm"


class Part(NamedTuple):
    """A place to go to.

    Attributes:
        id: The answer.
        at: Where its letter stands.
        key: Its own letter or digit; "" = the next free letter.
    """

    id: str
    at: Offset
    key: str = ""


class JumpScreen(ModalScreen[str | None]):
    """Shows a letter at every part; answers with the part's id, or None for any other key."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "stay here", id="form.close"),
    ]
    DEFAULT_CSS = """
    JumpScreen {
        background: $background 30%;
        & > .letter {
            position: absolute;
            width: 3;
            height: 1;
            background: $accent;
            color: $background;
            text-style: bold;
        }
        &:nocolor > .letter, &:ansi > .letter { text-style: bold reverse; }
    }
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        super().__init__()
        taken = {part.key for part in parts if part.key}
        free = (letter for letter in LETTERS if letter not in taken)
        self.places: dict[str, Part] = {}
        for part in parts:
            key = part.key or next(free, "")
            if key:
                self.places[key] = part

    def compose(self) -> ComposeResult:
        """The letters at their places."""
        for key, part in self.places.items():
            letter = Static(Content(clean(f" {key} ")), classes="letter")
            letter.styles.offset = part.at
            yield letter

    def on_key(self, event: events.Key) -> None:
        """Go there; any key without a place leaves all as it is."""
        if event.key == "escape":
            return
        event.stop()
        part = self.places.get(event.character or "")
        self.dismiss(part.id if part else None)

    def on_click(self) -> None:
        """A click anywhere ends it."""
        self.dismiss(None)

    def action_leave(self) -> None:
        """Stay."""
        self.dismiss(None)
