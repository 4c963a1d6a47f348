"""Page: the one way to draw details, explanations and the bodies of sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from textual.content import Content
from textual.style import Style

from tui.keys import show_key
from tui.signs import UNICODE, Glyphs, SignName, bar_parts
from tui.text import (
    Hint,
    Part,
    Parts,
    Tone,
    chop,
    clean,
    cut,
    cut_middle,
    fit_parts,
    href,
    pad,
    parts_width,
    spread,
    width,
    wrap,
)
from tui.theme import content

LABEL: Final = 11
"""Cells of the labels of facts, the blank after them included."""

_WHOLE: Final = 1_000_000

_STRONG: Final[dict[Tone, Tone]] = {
    "good": "strong-good",
    "care": "strong-care",
    "bad": "strong-bad",
    "accent": "strong-accent",
    "muted": "strong-muted",
}


def key_parts(
    hints: Iterable[Hint | tuple[str, str]], glyphs: Glyphs = UNICODE, gap: int = 3
) -> list[Part]:
    """Keys and what they do, side by side."""
    parts: list[Part] = []
    for key, label, *greyed in hints:
        if parts:
            parts.append((" " * gap, ""))
        parts.append((show_key(key, glyphs), "muted" if any(greyed) else "key"))
        parts.append((f" {label}", "muted"))
    return parts


class Page:
    """Lines for a known width: aligned labels, hanging indents, nothing wider than the page.

    Everything that is handed in may be foreign text; it is cleaned here.
    """

    def __init__(self, width: int, glyphs: Glyphs = UNICODE) -> None:
        self.width = max(20, width)
        self.glyphs = glyphs
        self.lines: list[Content] = []

    @property
    def text_lines(self) -> list[str]:
        """The lines without their looks."""
        return [line.plain for line in self.lines]

    def add(self, *parts: Part | str) -> None:
        """One line, cut where the page ends."""
        whole: list[Part] = [(part, "") if isinstance(part, str) else part for part in parts]
        self.lines.append(content(fit_parts(whole, self.width, self.glyphs.cut)))

    def gap(self) -> None:
        """A blank line; never two, never the first."""
        if self.lines and self.lines[-1].plain.strip():
            self.lines.append(Content(""))

    def both(self, left: Parts, right: Parts) -> None:
        """The two ends of one line."""
        self.lines.append(content(spread(left, right, self.width, self.glyphs.cut)))

    def title(self, text: str, note: str = "") -> None:
        """What the page is about."""
        self.both([(text, "strong")], [(note, "muted")] if note else [])

    def state(self, sign: SignName, word: str, reason: str = "", turn: int = 0) -> None:
        """Sign, word and reason; the reason goes below where the line is too short for it."""
        mark, tone = self.glyphs.part(sign, turn)
        head: list[Part] = [(mark, tone), (word, _STRONG.get(tone, "strong"))]
        reason = clean(reason)
        if not reason or parts_width(head) + 2 + width(reason) <= self.width:
            self.add(*head, ("  " if reason else "", ""), (reason, ""))
            return
        self.add(*head)
        self.text(reason, indent=2)

    def text(self, text: str, tone: Tone = "", indent: int = 0, limit: int = 999) -> None:
        """A paragraph, or several; after `limit` lines it ends with the sign of a cut."""
        lines = wrap(text, self.width - indent)
        if len(lines) > limit:
            mark = self.glyphs.cut
            last = f"{lines[limit - 1]} {mark}"
            lines = [*lines[: limit - 1], cut(last, self.width - indent, mark)]
        for line in lines:
            self.add(" " * indent, (line, tone))

    def step(self, number: str, text: str, tone: Tone = "key") -> None:
        """A numbered instruction with a hanging indent."""
        for n, line in enumerate(wrap(text, self.width - 5)):
            self.add((f"  {number}  " if n == 0 else "     ", tone), line)

    def fact(self, label: str, value: str, tone: Tone = "", path: bool = False) -> None:
        """A labelled value; a path is cut in its middle, all else wraps under itself."""
        room = self.width - LABEL
        lines = [cut_middle(value, room, self.glyphs.cut)] if path else wrap(value, room)
        name = cut(label, LABEL - 1, self.glyphs.cut)
        for n, line in enumerate(lines):
            self.add((pad(name if n == 0 else "", LABEL), "muted"), (line, tone))

    def section(self, text: str, note: str = "") -> None:
        """A heading with a line to the right end, and a note after it."""
        self.gap()
        text = cut(text, self.width - 4, self.glyphs.cut)
        note = cut(note, max(0, self.width - width(text) - 5), self.glyphs.cut)
        room = self.width - width(text) - width(note) - (2 if note else 1)
        self.add(
            (f"{text} ", "strong"),
            (self.glyphs.line("rule") * room, "rule"),
            (f" {note}" if note else "", "muted"),
        )

    def item(
        self,
        sign: SignName,
        text: str | Parts,
        note: str | Parts = "",
        tone: Tone = "",
        indent: int = 0,
        turn: int = 0,
    ) -> None:
        """A line with a sign, and a note at the right end."""
        left: list[Part] = [(text, tone)] if isinstance(text, str) else list(text)
        right: list[Part] = [(note, "muted")] if isinstance(note, str) else list(note)
        most = max(0, self.width - indent - 14)
        right = fit_parts(right, most, self.glyphs.cut) if note else []
        self.both([(" " * indent, ""), self.glyphs.part(sign, turn), *left], right)

    def quote(self, lines: Iterable[str], tone: Tone = "muted", last: Tone | None = None) -> None:
        """Somebody else's words (stderr, git, JSON) behind a bar; lines are cut, never wrapped.

        Args:
            lines: As they came; indents stay.
            tone: Of the lines.
            last: Tone of the last one, where a process said why it ended.
        """
        whole = [piece for line in lines for piece in clean(line, lines=True).split("\n")]
        bar = self.glyphs.line("cable")
        for n, line in enumerate(whole, 1):
            ending = last if last is not None and n == len(whole) else tone
            self.add((f"{bar} ", "edge"), (line, ending))

    def exact(self, text: str, tone: Tone = "", indent: int = 0) -> None:
        """What a person agrees to: nothing is cut, folded or hidden; it breaks at the edge."""
        for line in chop(clean(text, exact=True, limit=_WHOLE), self.width - indent):
            self.add(" " * indent, (line, tone))

    def change(self, was: str, becomes: str) -> None:
        """A difference; the signs carry it, colours repeat it, and nothing of it is cut."""
        self._side("-", "bad", was, "muted")
        self._side("+", "good", becomes, "")

    def _side(self, sign: str, tone: Tone, text: str, text_tone: Tone) -> None:
        for line in text.split("\n"):
            for n, piece in enumerate(chop(clean(line, exact=True, limit=_WHOLE), self.width - 2)):
                self.add((f"{sign if n == 0 else ' '} ", tone), (piece, text_tone))

    def link(self, url: str, indent: int = 0) -> None:
        """A URL on one line, cut in its middle; the terminal can open the whole of it (OSC 8)."""
        text = cut_middle(url, self.width - indent, self.glyphs.cut)
        line = content([(" " * indent, ""), (text, "link")])
        if target := href(url):
            line = line.stylize(Style(link=target), indent, len(line.plain))
        self.lines.append(line)

    def keys(self, *hints: Hint | tuple[str, str], indent: int = 0) -> None:
        """Keys and what they do; as many lines as they need."""
        line: list[Hint | tuple[str, str]] = []
        for hint in hints:
            if line and parts_width(key_parts([*line, hint])) > self.width - indent:
                self.add(" " * indent, *key_parts(line, self.glyphs))
                line = []
            line.append(hint)
        if line:
            self.add(" " * indent, *key_parts(line, self.glyphs))

    def bar(self, share: float, note: str = "", indent: int = 0) -> None:
        """Progress that reads without colour, with its figure."""
        note = clean(note)
        room = self.width - indent - (width(note) + 2 if note else 0)
        parts = bar_parts(self.glyphs, share, max(1, room))
        self.add(" " * indent, *parts, (f"  {note}" if note else "", "muted"))

    def button_like(self, text: str, indent: int = 0) -> None:
        """A code to read aloud or type: alone on a panel of its own, three lines high."""
        inner = f"   {cut(text, self.width - indent - 6, self.glyphs.cut)}   "
        for line in (" " * width(inner), inner, " " * width(inner)):
            block = Content.styled(line, "bold on $panel")
            self.lines.append(Content.assemble(" " * indent, block))

    def beside(self, pages: Sequence[Page], gap: int = 4) -> None:
        """Other pages in columns, side by side."""
        for at in range(max((len(page.lines) for page in pages), default=0)):
            line = Content("")
            for n, page in enumerate(pages):
                piece = page.lines[at] if at < len(page.lines) else Content("")
                space = page.width - piece.cell_length + gap if n < len(pages) - 1 else 0
                line = Content.assemble(line, piece, " " * space)
            self.lines.append(line)

    def content(self) -> Content:
        """The whole page."""
        return Content("\n").join(self.lines)


Build: TypeAlias = Callable[[Page], None]
"""What writes a page; called again for every new width."""
