"""Signs: one per answer to "who has to act?", and the line-drawing glyphs around them.

A sign never stands without its word, and a colour only repeats what the sign says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from tui.text import Part, Tone

SignName: TypeAlias = Literal[
    "works",
    "busy",
    "failed",
    "needs",
    "problem",
    "off",
    "policy",
    "update",
    "leftover",
    "unknown",
    "none",
]
Fresh: TypeAlias = Literal["", "cached", "new", "changed"]
Line: TypeAlias = Literal[
    "rule",
    "bar",
    "cable",
    "dash",
    "cut",
    "open",
    "shut",
    "tick",
    "cross",
    "arrow",
    "cursor",
    "up",
    "down",
    "left",
    "right",
    "choice",
    "chosen",
]


@dataclass(frozen=True, slots=True)
class Sign:
    """A glyph with its ASCII stand-in, its tone, and what it means in the help."""

    glyph: str
    ascii: str
    tone: Tone
    meaning: str


SIGNS: Final[Mapping[SignName, Sign]] = MappingProxyType(
    {
        "works": Sign("●", "*", "good", "works"),
        "busy": Sign("◐", "~", "accent", "busy; wait or cancel"),
        "failed": Sign("✗", "x", "bad", "failed; see why"),
        "needs": Sign("?", "?", "care", "waits for you"),
        "problem": Sign("!", "!", "care", "fault in a file"),
        "off": Sign("○", "o", "muted", "off, by you"),
        "policy": Sign("⊘", "#", "muted", "off, by policy"),
        "update": Sign("↑", "^", "accent", "newer one there"),
        "leftover": Sign("◇", "%", "care", "left over"),
        "unknown": Sign("◌", ".", "muted", "not known yet"),
        "none": Sign("·", "-", "muted", "nothing to do"),
    }
)

FRESH: Final[Mapping[Fresh, Sign]] = MappingProxyType(
    {
        "": Sign(" ", " ", "", "confirmed"),
        "cached": Sign("┊", ":", "edge", "cached, not yet confirmed"),
        "new": Sign("+", "+", "accent", "new in this refetch"),
        "changed": Sign("≠", "~", "accent", "changed in this refetch"),
    }
)

_LINES: Final[Mapping[Line, tuple[str, str]]] = MappingProxyType(
    {
        "rule": ("─", "-"),
        "bar": ("━", "="),
        "cable": ("│", "|"),
        "dash": ("┊", ":"),
        "cut": ("…", "~"),
        "open": ("▾", "v"),
        "shut": ("▸", ">"),
        "tick": ("✓", "x"),
        "cross": ("✗", "x"),
        "arrow": ("→", "->"),
        "cursor": ("▌", ">"),
        "up": ("↑", "up"),
        "down": ("↓", "down"),
        "left": ("←", "left"),
        "right": ("→", "right"),
        "choice": ("○", "o"),
        "chosen": ("●", "*"),
    }
)

_TURNS = "◐◓◑◒"
_TURNS_ASCII = "~-~-"
_SPARK = "▁▂▃▄▅▆▇█"

_QUIET: Final[frozenset[SignName]] = frozenset({"works", "busy"})


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The glyphs that this terminal can show; an app has one and hands it to whoever draws."""

    ascii: bool = False

    def sign(self, name: SignName, turn: int = 0) -> str:
        """The sign's glyph; `turn` moves the busy sign on by quarters."""
        if name == "busy":
            return (_TURNS_ASCII if self.ascii else _TURNS)[turn % 4]
        sign = SIGNS[name]
        return sign.ascii if self.ascii else sign.glyph

    def part(self, name: SignName, turn: int = 0) -> Part:
        """The sign and a blank, in its tone."""
        return (f"{self.sign(name, turn)} ", SIGNS[name].tone)

    def fresh(self, fresh: Fresh) -> Part:
        """The freshness mark, one cell."""
        mark = FRESH[fresh]
        return (mark.ascii if self.ascii else mark.glyph, mark.tone)

    def line(self, name: Line) -> str:
        """A line-drawing glyph, or what stands for it."""
        return _LINES[name][self.ascii]

    @property
    def cut(self) -> str:
        """The sign that something was cut."""
        return _LINES["cut"][self.ascii]

    def spark(self, values: list[float]) -> str:
        """A small chart of the values, one cell each; "" in ASCII, where there is no such glyph."""
        if self.ascii or not values:
            return ""
        top = max(values) or 1.0
        return "".join(_SPARK[min(7, max(0, round(value / top * 7)))] for value in values)


UNICODE: Final = Glyphs()


def glyphs_of(node: object) -> Glyphs:
    """The glyphs of the app that `node` lives in; Unicode where the app has none.

    Args:
        node: An app or a mounted widget.
    """
    app = getattr(node, "app", node)
    found = getattr(app, "glyphs", None)
    return found if isinstance(found, Glyphs) else UNICODE


def word_tone(sign: SignName) -> Tone:
    """The tone of a state word: where all is well the word stays quiet."""
    return "" if sign == "works" else SIGNS[sign].tone


def state_parts(sign: SignName, word: str, reason: str = "", cells: int = 11) -> list[Part]:
    """The state cell: the word padded to `cells`, then the reason.

    The reason is muted where nobody has to act.
    """
    if not reason:
        return [(word, word_tone(sign))]
    quiet = sign in _QUIET or SIGNS[sign].tone == "muted"
    return [(word.ljust(cells), word_tone(sign)), (reason, "muted" if quiet else "")]


def bar_parts(glyphs: Glyphs, share: float, cells: int) -> list[Part]:
    """A bar that reads without colour: heavy is done, light is to do."""
    done = round(max(0.0, min(1.0, share)) * cells)
    return [
        (glyphs.line("bar") * done, "accent"),
        (glyphs.line("rule") * (cells - done), "edge"),
    ]
