"""Themes: thirteen colours each, from which every other token is derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from textual.app import App
from textual.color import Color
from textual.content import Content
from textual.message_pump import MessagePump
from textual.theme import Theme

from tui.text import Part, Tone, clean


@dataclass(frozen=True, kw_only=True, slots=True)
class Palette:
    """What a theme decides. Grounds and lines first, then the tones of text."""

    ground: str
    surface: str
    panel: str
    cursor: str
    blurred: str
    rule: str
    edge: str
    text: str
    muted: str
    accent: str
    good: str
    care: str
    bad: str


PALETTES: Final[Mapping[str, Palette]] = {
    "dusk": Palette(
        ground="#12151b",
        surface="#181c24",
        panel="#1e232d",
        cursor="#28344d",
        blurred="#222834",
        rule="#343c4b",
        edge="#64718a",
        text="#d8dde7",
        muted="#9aa5b8",
        accent="#86b6ff",
        good="#8fd18c",
        care="#ebb968",
        bad="#ff9288",
    ),
    "paper": Palette(
        ground="#fbfaf7",
        surface="#f4f2ed",
        panel="#eae7e0",
        cursor="#d3e2f8",
        blurred="#e3e4e6",
        rule="#cdc8bd",
        edge="#7f8086",
        text="#1f2329",
        muted="#545a66",
        accent="#1b55a8",
        good="#1c6833",
        care="#774e00",
        bad="#ad2018",
    ),
    "stark": Palette(
        ground="#000000",
        surface="#0d0d0d",
        panel="#1a1a1a",
        cursor="#003070",
        blurred="#2a2a2a",
        rule="#5a5a5a",
        edge="#9a9a9a",
        text="#ffffff",
        muted="#cfd4dc",
        accent="#8fc7ff",
        good="#8ff0a0",
        care="#ffd75e",
        bad="#ffaea6",
    ),
}

_OWN_TOKENS: Final = ("row-cursor", "row-blurred", "rule", "edge")


def _theme(name: str, palette: Palette) -> Theme:
    p = palette
    return Theme(
        name=name,
        dark=relative_luminance(p.ground) < 0.5,
        primary=p.accent,
        secondary=p.accent,
        accent=p.accent,
        foreground=p.text,
        background=p.ground,
        surface=p.surface,
        panel=p.panel,
        success=p.good,
        warning=p.care,
        error=p.bad,
        variables=_tokens(p),
    )


def _tokens(p: Palette) -> dict[str, str]:
    return {
        "text": p.text,
        "text-muted": p.muted,
        "text-disabled": p.muted,
        "foreground-muted": p.muted,
        "row-cursor": p.cursor,
        "row-blurred": p.blurred,
        "rule": p.rule,
        "edge": p.edge,
        "border": p.accent,
        "border-blurred": p.rule,
        "block-cursor-background": p.cursor,
        "block-cursor-foreground": p.text,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-background": p.cursor,
        "block-cursor-blurred-foreground": p.text,
        "block-hover-background": p.blurred,
        "input-cursor-background": p.text,
        "input-cursor-foreground": p.ground,
        "input-selection-background": p.cursor,
        "input-selection-foreground": p.text,
        "screen-selection-background": p.cursor,
        "screen-selection-foreground": p.text,
        "link-color": p.accent,
        "link-color-hover": p.accent,
        "link-background-hover": p.cursor,
        "footer-key-foreground": p.accent,
        "scrollbar": p.edge,
        "scrollbar-hover": p.edge,
        "scrollbar-active": p.accent,
        "scrollbar-background": p.ground,
        "scrollbar-background-hover": p.ground,
        "scrollbar-background-active": p.ground,
        "scrollbar-corner-color": p.ground,
        "button-focus-text-style": "bold",
    }


def _terminal_theme() -> Theme:
    """The terminal's own sixteen colours; its grounds are all one."""
    plain = "ansi_default"
    return Theme(
        name="terminal",
        ansi=True,
        primary="ansi_blue",
        secondary="ansi_blue",
        accent="ansi_blue",
        success="ansi_green",
        warning="ansi_yellow",
        error="ansi_red",
        foreground=plain,
        background=plain,
        surface=plain,
        panel=plain,
        variables={
            # Textual 8.2.8 looks these two up in an ansi theme.
            "ansi-background": plain,
            "ansi-foreground": plain,
            "text-muted": plain,
            "text-disabled": plain,
            "row-cursor": plain,
            "row-blurred": plain,
            "rule": "ansi_bright_black",
            "edge": "ansi_bright_black",
            "border": "ansi_blue",
            "block-cursor-background": plain,
            "block-cursor-text-style": "bold reverse",
            "block-cursor-blurred-text-style": "bold reverse",
            "scrollbar": "ansi_bright_black",
            "scrollbar-hover": "ansi_bright_black",
            "scrollbar-active": "ansi_blue",
            "scrollbar-background": plain,
            "scrollbar-background-hover": plain,
            "scrollbar-background-active": plain,
        },
    )


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def relative_luminance(colour: str) -> float:
    """Of a `#rrggbb`, as WCAG 2 defines it; 0 is black, 1 is white."""
    red, green, blue = (_linear(value / 255) for value in Color.parse(colour).rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The WCAG contrast ratio of two colours, 1 to 21."""
    low, high = sorted((relative_luminance(one), relative_luminance(other)))
    return (high + 0.05) / (low + 0.05)


THEMES: Final[Mapping[str, Theme]] = {
    **{name: _theme(name, palette) for name, palette in PALETTES.items()},
    "terminal": _terminal_theme(),
}
DEFAULT: Final = "dusk"


def register_themes(app: App[Any]) -> None:
    """Make our themes known to the app; it then sets `app.theme` to one of `THEMES`."""
    for theme in THEMES.values():
        app.register_theme(theme)


def theme_defaults() -> dict[str, str]:
    """Our own tokens, for `App.get_theme_variable_defaults`: Textual's themes lack them."""
    tokens = THEMES[DEFAULT].variables
    return {name: tokens[name] for name in _OWN_TOKENS}


def choose_theme(
    setting: str | None = None,
    background: tuple[int, int, int] | None = None,
    colorfgbg: str = "",
) -> str:
    """The theme to start with.

    Args:
        setting: A name of `THEMES` wins over all else; an unknown one counts as none.
        background: The terminal's background, 0 to 255 each, when it told.
        colorfgbg: The variable COLORFGBG, e.g. `15;0`; its last field is the background's index.
    """
    if setting in THEMES:
        return setting
    if background is not None:
        red, green, blue = background
        light = relative_luminance(f"#{red:02x}{green:02x}{blue:02x}") > 0.4
        return "paper" if light else "dusk"
    last = colorfgbg.rpartition(";")[2]
    if last.isascii() and last.isdigit():
        return "paper" if int(last) in (7, 15) else "dusk"
    return DEFAULT


def app_of(node: MessagePump) -> App[Any]:
    """The app of a mounted widget, with a type that strict checking can follow."""
    return cast("App[Any]", node.app)  # pyright: ignore[reportUnknownMemberType]


def is_plain(node: MessagePump) -> bool:
    """Whether grounds cannot be relied on: NO_COLOR, or the terminal's own palette."""
    app = app_of(node)
    return app.no_color or app.current_theme.ansi


_STYLES: Final[Mapping[Tone, str]] = {
    "": "",
    "muted": "$text-muted",
    "aside": "$text-muted",
    "strong": "bold",
    "accent": "$accent",
    "good": "$success",
    "care": "$warning",
    "bad": "$error",
    "edge": "$edge",
    "rule": "$rule",
    "key": "bold $accent",
    "link": "$accent underline",
    "strong-good": "bold $success",
    "strong-care": "bold $warning",
    "strong-bad": "bold $error",
    "strong-accent": "bold $accent",
    "strong-muted": "bold $text-muted",
}


def style_of(tone: Tone) -> str:
    """The style of a tone, in theme tokens, as `Content` takes it."""
    return _STYLES[tone]


def content(parts: Iterable[Part]) -> Content:
    """Parts as Content: cleaned, toned, and never parsed as markup."""
    return Content.assemble(*((clean(text), _STYLES[tone]) for text, tone in parts))
