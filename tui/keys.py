"""Keys as people read and write them, and as Textual names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tui.signs import UNICODE, Glyphs

_SHOWN: Final[Mapping[str, str]] = {
    "escape": "esc",
    "question_mark": "?",
    "exclamation_mark": "!",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "pageup": "pgup",
    "pagedown": "pgdn",
}
_READ: Final[Mapping[str, str]] = {
    **{shown: name for name, shown in _SHOWN.items()},
    "↑": "up",
    "↓": "down",
    "←": "left",
    "→": "right",
    "return": "enter",
}
_ARROWS: Final = ("up", "down", "left", "right")
_DRAWN: Final = frozenset("↑↓←→")
_NAMED: Final = frozenset(
    {"enter", "escape", "space", "tab", "backspace", "delete", "insert", "home", "end"}
    | {*_ARROWS, "pageup", "pagedown", *_SHOWN, *(f"f{n}" for n in range(1, 13))}
)


def show_key(key: str, glyphs: Glyphs = UNICODE) -> str:
    """A key as people read it: `^p`, `?`, `esc`, `↑↓` for `up,down`."""
    if "," in key:
        shown = [show_key(one, glyphs) for one in key.split(",")]
        return ("" if set(shown) <= _DRAWN else " ").join(shown)
    if key.startswith("ctrl+"):
        return f"^{show_key(key[5:], glyphs)}"
    if key in _ARROWS:
        return glyphs.line(key)
    return _SHOWN.get(key, key)


def read_keys(text: str) -> str | None:
    """A user's spelling of keys as Textual key names, or None when it is none.

    `^x`, `ctrl+x`, `?`, `esc` and several with blanks or commas between are understood.
    """
    names: list[str] = []
    for word in text.replace(",", " ").split():
        ctrl = word.startswith(("^", "ctrl+")) and len(word) > 1
        key = word.removeprefix("^").removeprefix("ctrl+") if ctrl else word
        key = _READ.get(key, key)
        single = len(key) == 1 and key.isascii() and key.isalnum()
        if not (single or key in _NAMED):
            return None
        names.append(f"ctrl+{key}" if ctrl else key)
    return ",".join(names) or None
