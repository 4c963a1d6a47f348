"""A widget that shows a page, and writes it again when its width changes."""

from __future__ import annotations

from typing import ClassVar, Final

from rich.style import Style as RichStyle
from textual.content import Content
from textual.geometry import Region, Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.timer import Timer
from textual.visual import Visual

from tui.registry import Registry
from tui.signs import glyphs_of
from tui.widgets.line_view import LineView
from tui.widgets.page import Build, Page

_REST: Final = 0.04
_MOVES: Final = frozenset(
    f"list.{move}" for move in ("up", "down", "page-up", "page-down", "first", "last")
)


def _nothing(page: Page) -> None:
    pass


def _same_lines(old: Page, new: Page) -> set[int]:
    """The numbers of lines that look the same on both."""
    return {
        at
        for at, (was, line) in enumerate(zip(old.lines, new.lines, strict=False))
        if was.plain == line.plain and was.spans == line.spans
    }


class PageView(LineView, can_focus=False):
    """Draws the lines of a page; only those on the screen. Its text can be selected.

    Its height is that of the page, unless its styles give it another; then it scrolls.
    """

    DEFAULT_CSS = """
    PageView { height: auto; width: 1fr; overflow: hidden; }
    """
    MARGIN: ClassVar[int] = 0
    """Blank cells right of the page."""

    def __init__(
        self, build: Build | None = None, *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._build: Build = build or _nothing
        self._page: Page | None = None
        self._strips: dict[int, Strip] = {}
        self._ground: RichStyle | None = None

    def show(self, build: Build, *, top: bool = True) -> None:
        """Show what `build` writes.

        Args:
            build: Kept, and called again at another width.
            top: Begin at its first line; else stay where it was scrolled to.
        """
        self._build = build
        if top:
            self.scroll_to(y=0, animate=False, force=True)
        self.redraw()

    def redraw(self) -> None:
        """Write the page again: what it tells has changed. Only other lines are drawn again."""
        old, kept = self._page, self._strips
        self._page, self._strips = None, {}
        if not (width := self._cells):
            return
        page = self._written(width)
        self.take_lines(len(page.lines))
        if old is None or old.width != page.width:
            self.refresh(layout=self.styles.is_auto_height)
            return
        same = _same_lines(old, page)
        self._strips = {at: strip for at, strip in kept.items() if at in same}
        if self.styles.is_auto_height and len(old.lines) != len(page.lines):
            self.refresh(layout=True)
        else:
            self._draw_others(same, max(len(old.lines), len(page.lines)))

    def _draw_others(self, same: set[int], lines: int) -> None:
        top = self.scroll_offset.y
        shown = range(top, min(lines, top + self.scrollable_content_region.height))
        places = [Region(0, at - top, self._cells, 1) for at in shown if at not in same]
        if places:
            self.refresh(*places)

    @property
    def page(self) -> Page:
        """The page as it stands."""
        return self._written(self._cells)

    @property
    def _cells(self) -> int:
        return self.scrollable_content_region.width

    def _written(self, width: int) -> Page:
        cells = max(20, width - self.MARGIN)
        if self._page is None or self._page.width != cells:
            self._page = Page(cells, glyphs_of(self))
            self._strips.clear()
            self._build(self._page)
        return self._page

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of lines at that width."""
        return len(self._written(width).lines)

    def on_resize(self) -> None:
        """Write the page for the new width."""
        if self._cells:
            self.take_lines(len(self._written(self._cells).lines))

    def notify_style_update(self) -> None:
        """Forget what was drawn in another style."""
        self._strips.clear()
        self._ground = None
        super().notify_style_update()

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw with the new selection."""
        self._strips.clear()
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        return selection.extract("\n".join(self.page.text_lines)), "\n"

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        line = y + self.scroll_offset.y
        width = self._cells
        lines = self._written(width).lines
        if line >= len(lines):
            return Strip.blank(width, self._plain)
        strip = self._strips.get(line)
        if strip is None:
            strip = self._strips[line] = self._draw(lines[line], line, width)
        return strip

    @property
    def _plain(self) -> RichStyle:
        """The widget's own style, which Textual works out anew at every call."""
        if self._ground is None:
            self._ground = self.rich_style
        return self._ground

    def _draw(self, line: Content, y: int, width: int) -> Strip:
        if (selection := self.text_selection) and (span := selection.get_span(y)):
            start, end = span
            looks = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(looks, start, len(line.plain) if end == -1 else end)
        strips = Visual.to_strips(
            self, line, width, 1, self.visual_style, apply_selection=False, pad=True
        )
        strip = strips[0] if strips else Strip.blank(width, self._plain)
        return strip.crop_extend(0, width, self._plain).apply_offsets(0, y)


class Detail(PageView, can_focus=True):
    """The pane at the right: a page on its own ground; `enter` puts the cursor in it."""

    MARGIN = 1
    _timer: Timer | None = None
    BINDINGS: ClassVar = [b for b in Registry().list_bindings() if b.id in _MOVES]
    DEFAULT_CSS = """
    Detail {
        height: 1fr;
        background: $surface;
        padding: 1 0 1 2;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-background: $surface;
        scrollbar-background-hover: $surface;
        scrollbar-background-active: $surface;
        border-left: blank;
        &:focus { border-left: outer $accent; }
        &:nocolor, &:ansi { border-left: solid $edge; }
        &:nocolor:focus, &:ansi:focus { border-left: heavy $accent; }
    }
    """

    def follow(self) -> None:
        """Write the page again, from its top, once the cursor of the list rests.

        The list's own line is painted first, and a held key does not write a page for every row
        that it passes.
        """
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(_REST, self._rested)

    def _rested(self) -> None:
        self._timer = None
        self.scroll_to(y=0, animate=False, force=True)
        self.redraw()

    def action_list_move(self, by: int) -> None:
        """Scroll by lines; nothing slides."""
        self.scroll_relative(y=by, animate=False)

    def action_list_page(self, by: int) -> None:
        """Scroll by pages, one line less so that something stays."""
        self.scroll_relative(y=by * max(1, self.size.height - 1), animate=False)

    def action_list_first(self) -> None:
        """To its first line."""
        self.scroll_to(y=0, animate=False)

    def action_list_last(self) -> None:
        """To its last line."""
        self.scroll_to(y=self.max_scroll_y, animate=False)
