"""The help: keys of the open tab and the signs, from the live table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from tui.registry import HelpGroup, Registry
from tui.signs import FRESH, SIGNS
from tui.text import Hint, cut, pad, width
from tui.widgets.page import Page
from tui.widgets.page_view import PageView
from tui.widgets.sheet import Sheet

_GAP = 3
_KEYS = 10
_LEAST = 31


class HelpSheet(Sheet[None]):
    """Keys and signs; `/` narrows them.

    Args:
        registry: The table with the keys that are really bound.
        tab: Id and title of the open tab.
    """

    SIZE = "large"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find"),
        Binding("up,k", "scroll(-1)", "up", show=False),
        Binding("down,j", "scroll(1)", "down", show=False),
        Binding("pageup", "scroll(-10)", "page up", show=False),
        Binding("pagedown,space", "scroll(10)", "page down", show=False),
        Binding("question_mark", "close", "close", show=False),
    ]
    DEFAULT_CSS = """
    HelpSheet #find { background: $panel; margin-bottom: 1; }
    """

    def __init__(self, registry: Registry, tab: tuple[str, str] = ("", "")) -> None:
        super().__init__("Keys and signs")
        self._registry, self._tab = registry, tab
        self._find = Input(placeholder="find a key or a word", compact=True, id="find")
        self._find.cursor_blink = False
        self._find.display = False

    def body(self) -> ComposeResult:
        """The field, hidden until it is wanted, and the page."""
        yield self._find
        yield PageView(self.build)

    def build(self, page: Page) -> None:
        """Blocks of keys and the signs, in as many columns as fit."""
        count = max(1, min(3, (page.width + _GAP) // (_LEAST + _GAP)))
        cells = (page.width - _GAP * (count - 1)) // count
        blocks = [self._keys(group, cells, page) for group in self._groups(page)]
        blocks.append(self._signs(cells, page))
        columns = balance([block for block in blocks if block.lines], count)
        pages: list[Page] = []
        for column in columns:
            whole = Page(cells, page.glyphs)
            for block in column:
                whole.gap()
                whole.lines += block.lines
            pages.append(whole)
        page.beside(pages, _GAP)
        if not any(column for column in columns):
            page.text(f"No key and no sign says “{self._find.value}”.", "muted")

    def _groups(self, page: Page) -> list[HelpGroup]:
        return self._registry.help(*self._tab, glyphs=page.glyphs)

    def _keys(self, group: HelpGroup, cells: int, page: Page) -> Page:
        block = Page(cells, page.glyphs)
        rows = [row for row in group.rows if self._wanted(f"{' '.join(row.keys)} {row.text}")]
        if rows:
            block.section(group.title)
        for row in rows:
            block.add((pad(_shown(row.keys), _KEYS), "key"), row.text)
        return block

    def _signs(self, cells: int, page: Page) -> Page:
        block = Page(cells, page.glyphs)
        signs = [
            *((page.glyphs.part(name), sign) for name, sign in SIGNS.items()),
            *((page.glyphs.fresh(name), sign) for name, sign in FRESH.items() if name),
        ]
        wanted = [(shown, sign) for shown, sign in signs if self._wanted(sign.meaning)]
        if wanted:
            block.section("Signs")
        for (mark, tone), sign in wanted:
            other = "" if page.glyphs.ascii else sign.ascii
            block.add((pad(mark, 3), tone), (pad(other, 3), "muted"), cut(sign.meaning, cells - 6))
        return block

    def _wanted(self, text: str) -> bool:
        return all(word in text.casefold() for word in self._find.value.casefold().split())

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """Say that there is more, where there is."""
        hints, tail = super().hints()
        more = [Hint("up,down", "scroll")] if self.scrolls else []
        return [*hints, *more], tail

    def action_find(self) -> None:
        """Show the field."""
        self._find.display = True
        self._find.focus()

    def action_close(self) -> None:
        """Leave the field first, then the sheet."""
        if not self._find.display:
            self.dismiss(None)
            return
        self._find.display = False
        self._find.value = ""
        self.set_focus(None)

    def action_scroll(self, by: int) -> None:
        """Scroll the page."""
        self.scroll_body(by)

    @on(Input.Changed)
    def _narrowed(self) -> None:
        self.redraw()

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.set_focus(None)


def _shown(keys: Sequence[str]) -> str:
    """As many of the keys as fit before the words, the first one always."""
    for gap in ("  ", " "):
        if width(shown := gap.join(keys)) < _KEYS:
            return shown
    return keys[0]


def balance(blocks: Sequence[Page], count: int) -> list[list[Page]]:
    """Share blocks out to columns in order, so that the longest column is as short as can be."""
    heights = [len(block.lines) + 1 for block in blocks]
    limit = max([*heights, -(-sum(heights) // max(1, count))], default=0)
    while len(columns := _filled(blocks, heights, limit)) > count:
        limit += 1
    return columns


def _filled(blocks: Sequence[Page], heights: Sequence[int], limit: int) -> list[list[Page]]:
    columns: list[list[Page]] = [[]]
    used = 0
    for block, height in zip(blocks, heights, strict=True):
        if used and used + height > limit:
            columns.append([])
            used = 0
        columns[-1].append(block)
        used += height
    return columns
