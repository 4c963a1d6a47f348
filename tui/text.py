"""Foreign text: made safe, measured in cells, cut with a sign.

Names, descriptions, errors and tool output come from strangers. They reach the screen through
this module only. Every function here cleans what it is given, so its result can be shown as it
is; the result is plain text and goes into `Content` or `Segment`, never through markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from rich.cells import cell_len

Tone: TypeAlias = Literal[
    "",
    "muted",
    "aside",
    "strong",
    "accent",
    "good",
    "care",
    "bad",
    "edge",
    "rule",
    "key",
    "link",
    "strong-good",
    "strong-care",
    "strong-bad",
    "strong-accent",
    "strong-muted",
]
"""What a piece of text is for; the theme says how that looks. `aside` is muted, and never
highlighted as a match."""

Part: TypeAlias = tuple[str, Tone]
Parts: TypeAlias = Sequence[Part]


class Hint(NamedTuple):
    """A key and what it does here: verb and object, at most three words.

    `greyed`: it would do so, but may not; the label says why.
    """

    key: str
    label: str
    greyed: bool = False


Hints: TypeAlias = Sequence[Hint | tuple[str, str]]

LIMIT = 10_000
CUT = "…"
_MARKS_PER_BASE = 3
_REPLACEMENT = "\ufffd"

# Tabs, line ends of every kind, and the blanks around them.
_BREAKS = re.compile(r" *[\t\n\v\f\r\x85\u2028\u2029][ \t\n\v\f\r\x85\u2028\u2029]*")
_LINE_ENDS = re.compile(r"\r\n|[\n\v\f\r\x85\u2028\u2029]")


def _shown(code: int) -> str:
    """What stands for one code point: itself, a picture of it, a blank, or nothing."""
    char = chr(code)
    kind = unicodedata.category(char)
    if kind == "Cc":
        return _control_picture(code)
    if kind in ("Cs", "Co"):
        return _REPLACEMENT
    if kind in ("Zl", "Zp"):
        return "\u240a"
    if kind == "Zs":
        return "\u3000" if code == 0x3000 else " "
    if kind in ("Cf", "Me") or _is_invisible(code):
        return ""
    if kind == "Cn":
        return _unassigned(code, char)
    return char


def _control_picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _REPLACEMENT


def _is_invisible(code: int) -> bool:
    """Characters that draw nothing though their category says mark, letter or symbol."""
    return (
        0xFE00 <= code <= 0xFE0F  # variation selectors
        or 0xE0000 <= code <= 0xE0FFF  # tags, more selectors, and what is reserved for such
        or 0x1F3FB <= code <= 0x1F3FF  # skin tones: two cells alone, none in a cluster
        or 0x180B <= code <= 0x180F  # Mongolian selectors
        or code in (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0)
    )


def _unassigned(code: int, char: str) -> str:
    """Code points that this Python does not know; newer emoji are wide in every terminal."""
    if cell_len(char) == 0:
        return ""
    return char if 0x1F000 <= code <= 0x1FAFF else _REPLACEMENT


class _Shown(dict[int, str]):
    """A table for `str.translate` that fills itself, up to a bound."""

    def __missing__(self, code: int) -> str:
        shown = _shown(code)
        if len(self) < 20_000:
            self[code] = shown
        return shown


class _ShownLines(_Shown):
    """The same, with line feeds left alone."""

    def __missing__(self, code: int) -> str:
        return "\n" if code == 0x0A else super().__missing__(code)


class _ShownExact(_Shown):
    """The same; what draws nothing is named, for it is part of what is agreed to."""

    def __missing__(self, code: int) -> str:
        shown = super().__missing__(code)
        if not shown:
            shown = f"\u27e8U+{code:04X}\u27e9"
            self[code] = shown
        return shown


_ONE_LINE, _MANY_LINES, _EXACT = _Shown(), _ShownLines(), _ShownExact()


def clean(text: str, *, lines: bool = False, exact: bool = False, limit: int = LIMIT) -> str:
    """Make foreign text safe for one line of the screen.

    Controls become visible pictures (`␛[2J`), so no escape sequence survives; bidi and zero-width
    characters, joiners, tags and selectors go; private use and lone surrogates become `�`; at
    most three marks stay on a letter. Cleaning twice changes nothing more.

    Args:
        text: Anything.
        lines: Keep line ends, as `\\n`, and expand tabs: for blocks.
        exact: Show tabs and line ends as pictures and name what would not be seen (`⟨U+202E⟩`),
            for what a person agrees to; else a run of the former folds into one blank.
        limit: Longest result in characters; what is longer ends in `…`.
    """
    if len(text) > limit:
        text = text[: max(0, limit - 1)] + CUT
    if text.isascii() and text.isprintable():
        return text
    mode = "lines" if lines else "exact" if exact else "fold"
    return _cleaned_once(text, mode) if len(text) <= 512 else _cleaned(text, mode)


def _cleaned(text: str, mode: str) -> str:
    if mode == "lines":
        text = _LINE_ENDS.sub("\n", text).expandtabs(4).translate(_MANY_LINES)
    elif mode == "exact":
        text = text.translate(_EXACT)
    else:
        if _BREAKS.search(text):
            text = _BREAKS.sub(" ", text).strip(" ")
        text = text.translate(_ONE_LINE)
    return text if text.isascii() else _few_marks(text)


_cleaned_once = lru_cache(maxsize=8192)(_cleaned)


def _few_marks(text: str) -> str:
    """Drop marks without a base, and all but the first three on one base."""
    out: list[str] = []
    room = 0
    for char in text:
        if char == "\n":
            room = 0
        elif char.isascii() or cell_len(char):
            room = _MARKS_PER_BASE
        elif room > 0:
            room -= 1
        else:
            continue
        out.append(char)
    return "".join(out)


def width(text: str) -> int:
    """Cells that cleaned text takes. Ambiguous characters count one, as Textual counts them."""
    return len(text) if text.isascii() else cell_len(text)


def blank(cells: int) -> Part:
    """That many blanks, in no tone."""
    return (" " * cells, "")


def parts_width(parts: Iterable[Part]) -> int:
    """Cells that the parts take, side by side."""
    return sum(width(clean(text)) for text, _ in parts)


def head(text: str, cells: int) -> str:
    """The longest beginning of cleaned text that fits; marks stay with their letter."""
    if text.isascii():
        return text[: max(0, cells)]
    used = 0
    for at, char in enumerate(text):
        used += cell_len(char)
        if used > cells:
            return text[:at]
    return text


def _tail(text: str, cells: int) -> str:
    """The longest end of cleaned text that fits and starts with a letter of its own."""
    if text.isascii():
        return text[-cells:] if cells > 0 else ""
    used, start = 0, len(text)
    for at in range(len(text) - 1, -1, -1):
        size = cell_len(text[at])
        used += size
        if used > cells:
            break
        if size:
            start = at
    return text[start:]


def cut(text: str, cells: int, mark: str = CUT) -> str:
    """Cut at the end: names, sentences, reasons."""
    if cells <= 0:
        return ""
    longest = cells * 8 + 64
    longer = len(text) > longest
    text = clean(text[:longest] if longer else text)
    if not longer and width(text) <= cells:
        return text
    return head(text, cells - width(mark)).rstrip() + mark


def cut_middle(text: str, cells: int, mark: str = CUT) -> str:
    """Cut in the middle: paths and URLs, whose host and last part both matter."""
    text = clean(text)
    if width(text) <= cells:
        return text
    room = cells - width(mark)
    if room < 0:
        return ""
    front = room // 2
    scheme = text.find("://")
    host_end = text.find("/", scheme + 3) + 1 if scheme > 0 else 0
    host, last = width(text[:host_end]), width(text[text.rstrip("/").rfind("/") :])
    if front < host and host + last <= room:
        front = host
    elif room - front < last <= room - min(4, front):
        front = room - last
    beginning = head(text, front)
    return beginning + mark + _tail(text, room - width(beginning))


def fit_parts(parts: Iterable[Part], cells: int, mark: str = CUT) -> list[Part]:
    """Clean the parts and cut them at the end where they do not fit side by side."""
    out: list[Part] = [(clean(text[: cells * 8 + 64]), tone) for text, tone in parts]
    if sum(width(text) for text, _ in out) <= cells:
        return out
    room = cells - width(mark)
    if room < 0:
        return []
    for at, (text, tone) in enumerate(out):
        piece = head(text, room)
        room -= width(piece)
        if piece != text:
            return [*out[:at], (piece.rstrip() + mark, tone)]
    return out


def pad(text: str, cells: int, right: bool = False) -> str:
    """Fill up with blanks; what is longer stays as long as it is."""
    text = clean(text)
    space = " " * (cells - width(text))
    return space + text if right else text + space


def wrap(text: str, cells: int) -> list[str]:
    """Break at line ends and blanks; a word longer than the line is broken where the line ends."""
    out: list[str] = []
    for paragraph in clean(text, lines=True).split("\n"):
        out += _wrapped(paragraph.rstrip(), max(1, cells))
    return out


def _wrapped(text: str, cells: int) -> list[str]:
    if width(text) <= cells:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer) <= cells:
            line = longer
            continue
        if line:
            lines.append(line)
        pieces = chop(word, cells) if cells > 1 else [CUT]
        lines += pieces[:-1]
        line = pieces[-1]
    return [*lines, line]


def chop(text: str, cells: int) -> list[str]:
    """Break cleaned text into pieces of at most `cells`, after a blank or a slash that is near.

    Nothing is lost: side by side, the pieces are the text again.
    """
    pieces: list[str] = []
    at, reach = 0, (1 + _MARKS_PER_BASE) * max(1, cells) + 1  # in characters, of one piece
    while len(text) - at > reach or width(text[at:]) > cells:
        piece = head(text[at : at + reach], cells)
        near = len(piece) * 2 // 3
        end = piece.rfind(" ") + 1
        if end <= near:
            end = piece.rfind("/") + 1
        if end > near:
            piece = piece[:end]
        piece = piece or text[at]  # a wide character where only one cell is left
        at += len(piece)
        pieces.append(piece)
    return [*pieces, text[at:]]


def spread(left: Parts, right: Parts, cells: int, mark: str = CUT) -> list[Part]:
    """Left and right aligned on one line of exactly `cells`; the left side is cut first.

    Between them are two blanks at least.
    """
    end = fit_parts(right, cells, mark)
    used = parts_width(end)
    start = fit_parts(left, cells - used - (2 if end else 0), mark)
    return [*start, (" " * (cells - used - parts_width(start)), ""), *end]


_HREF = re.compile(r"https?://[!-~]+", re.IGNORECASE)


def href(url: str) -> str:
    """A URL that may go into a terminal hyperlink (OSC 8), or "" when it may not."""
    return url if len(url) <= 2000 and _HREF.fullmatch(url) else ""
