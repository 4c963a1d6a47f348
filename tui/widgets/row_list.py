"""The one list of the app: tens of thousands of rows, of which only the visible ones are built."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import ClassVar, Final

from textual import events
from textual.geometry import Offset, Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer

from tui.registry import Registry
from tui.theme import app_of
from tui.widgets.columns import Column, Layout
from tui.widgets.line_view import LineView
from tui.widgets.looks import COMPONENTS
from tui.widgets.row_model import RowModel
from tui.widgets.row_painter import RowPainter
from tui.widgets.row_view import GUTTER, RowView

_TURN_SECONDS: Final = 0.25


class RowList(LineView, can_focus=True):
    """A list drawn line by line.

    Rows are known by id. A row's view is built by `build` when its line is drawn, and kept until
    `update_row` or `invalidate`. The cursor stays with its id over every change of rows.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = set(COMPONENTS)
    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        & > .row--cursor { background: $row-cursor; text-style: bold; }
        & > .row--blurred { background: $row-blurred; }
        & > .row--group { background: $surface; }
        & > .row--muted { color: $text-muted; }
        & > .row--accent { color: $accent; }
        & > .row--good { color: $success; }
        & > .row--care { color: $warning; }
        & > .row--bad { color: $error; }
        & > .row--edge { color: $edge; }
        & > .row--rule { color: $rule; }
        & > .row--match { color: $accent; text-style: bold underline; }
        &:nocolor > .row--cursor, &:ansi > .row--cursor { text-style: bold reverse; }
        &:nocolor > .row--blurred, &:ansi > .row--blurred { text-style: underline; }
    }
    """
    BINDINGS: ClassVar = [*Registry().list_bindings()]

    columns: reactive[tuple[Column, ...]] = reactive((), init=False)
    needle: reactive[str] = reactive("", init=False)
    """What the filter searches for; its words are marked in columns with `match`."""
    real_cursor: reactive[bool] = reactive(False, init=False)
    """Put the terminal's own cursor on the selected row, for screen readers and magnifiers."""

    class RowMessage(Message):
        """Something about a row of a list."""

        def __init__(self, row_list: RowList, id: str) -> None:
            super().__init__()
            self.row_list = row_list
            self.id = id

        @property
        def control(self) -> RowList:
            """The list."""
            return self.row_list

    class Highlighted(RowMessage):
        """The cursor is on another row; `id` is "" when there is none."""

    class Activated(RowMessage):
        """`enter` on a row, or a click on the row that has the cursor."""

    class Folded(RowMessage):
        """A group was folded or unfolded; `shut` says which."""

        def __init__(self, row_list: RowList, id: str, shut: bool) -> None:
            super().__init__(row_list, id)
            self.shut = shut

    def __init__(
        self,
        columns: Iterable[Column],
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.set_reactive(RowList.columns, tuple(columns))
        self._model = RowModel()
        self._painter = RowPainter(self, self.columns)
        self._line = 0
        self._cursor_id: str | None = None
        self._turn = 0
        self._timer: Timer | None = None
        self._focus_is_new = False
        self._click_is_new = False

    # Rows

    def set_rows(
        self,
        ids: Sequence[str],
        build: Callable[[str], RowView],
        *,
        heads: Collection[str] = (),
        keep: str | None = None,
        reset: bool = False,
    ) -> None:
        """Show other rows; the cursor stays on its row, and that row on its line of the screen.

        Args:
            ids: Every row in order, unique. The list keeps this sequence: hand in a new one.
            build: Makes a row's view; called when its line is drawn.
            heads: Those ids that are group rows.
            keep: The row that gets the cursor, instead of the one that has it.
            reset: Begin at the first row: another search, another view.
        """
        if keep is None and not reset and self._model.shows(ids, heads):
            self._build_again(build)
            return
        before, old_line = self._model.visible, self._line
        offset = old_line - self.scroll_offset.y
        shown = 0 <= offset < max(1, self._page)
        top = before[self.scroll_offset.y] if before and not shown else None
        self._model.replace(ids, heads)
        self._painter.build_with(build)
        self.take_lines(len(self._model.visible))
        if keep is not None and self._model.line_of(keep) is not None:
            self._line = self._model.line_of(keep) or 0
        elif reset or self._cursor_id is None:
            self._line = 0
        else:
            self._line = self._model.successor(self._cursor_id, before, old_line)
        anchor = None if reset or keep is not None else self._model.line_of(top)
        if reset:
            self._scroll(0)
        elif anchor is not None:
            self._scroll(anchor)
        else:
            self._scroll(self._line - (offset if shown else 0))
            self._show_cursor()
        self.refresh()
        self._take_cursor()

    def _build_again(self, build: Callable[[str], RowView]) -> None:
        """The same rows, which may say something else: draw only what does."""
        top = self.scroll_offset.y
        shown = self._model.visible[top : top + self._page]
        for id in self._painter.build_again(build, shown):
            self._draw_again(id)

    def _draw_again(self, id: str) -> None:
        line = self._model.line_of(id)
        if line is not None and 0 <= line - self.scroll_offset.y < self._page:
            self.refresh_line(line)

    def update_row(self, id: str) -> None:
        """Build one row again, and draw its line only."""
        self._painter.forget(id)
        self._draw_again(id)

    def update_rows(self, ids: Iterable[str]) -> None:
        """Build some rows again."""
        for id in ids:
            self.update_row(id)

    def invalidate(self) -> None:
        """Build every row again when it is drawn; order and cursor stay."""
        self._painter.forget_views()
        self.refresh()

    @property
    def ids(self) -> Sequence[str]:
        """All rows, hidden ones included."""
        return self._model.ids

    @property
    def visible_ids(self) -> Sequence[str]:
        """The rows that folds leave visible."""
        return self._model.visible

    def on_screen(self) -> list[tuple[int, str]]:
        """The rows that are in sight, with the line of the list where each stands."""
        top = self.scroll_offset.y
        return list(enumerate(self._model.visible[top : top + self._page]))

    @property
    def folded(self) -> frozenset[str]:
        """The groups that are folded."""
        return frozenset(self._model.folded)

    def is_head(self, id: str) -> bool:
        """Whether it is a group row."""
        return id in self._model.heads

    # Cursor

    @property
    def cursor_id(self) -> str | None:
        """The row with the cursor; None in an empty list."""
        return self._cursor_id

    @property
    def cursor_line(self) -> int:
        """Its line among the visible rows."""
        return self._line

    def move_to(self, id: str) -> bool:
        """Put the cursor on a row, unfolding its group.

        Returns:
            False when there is no such row.
        """
        if self._model.line_of(id) is None:
            head = self._model.hidden_in(id)
            if head is None:
                return False
            self.fold(head, False)
        self._go(self._model.line_of(id) or 0)
        return True

    def fold(self, head: str, shut: bool) -> None:
        """Fold or unfold a group; a cursor inside goes to its group row."""
        before, line = self._model.visible, self._line
        if not self._model.fold(head, shut):
            return
        self._painter.forget_lines()
        self.take_lines(len(self._model.visible))
        self._line = self._model.successor(self._cursor_id or head, before, line)
        self.refresh()
        self._show_cursor()
        self._take_cursor()
        self.post_message(self.Folded(self, head, shut))

    def _go(self, line: int) -> None:
        line = max(0, min(len(self._model.visible) - 1, line))
        if line == self._line:
            self._show_cursor()
            return
        old, self._line = self._line, line
        self.refresh_line(old)
        self.refresh_line(line)
        self._show_cursor()
        self._take_cursor()

    def _take_cursor(self) -> None:
        """Note which row is under the cursor, and tell when it is another one."""
        visible = self._model.visible
        id = visible[self._line] if self._line < len(visible) else None
        if id != self._cursor_id:
            self._cursor_id = id
            self.post_message(self.Highlighted(self, id or ""))
        self._place_real_cursor()

    @property
    def _page(self) -> int:
        return self.scrollable_content_region.height

    def _scroll(self, y: int) -> None:
        if self._page:
            self.scroll_to(y=max(0, y), animate=False, force=True)

    def _show_cursor(self) -> None:
        top, page = self.scroll_offset.y, self._page
        if self._line < top:
            self._scroll(self._line)
        elif page and self._line >= top + page:
            self._scroll(self._line - page + 1)

    def on_mount(self) -> None:
        """Take over whether the person wants the terminal's own cursor."""
        self.real_cursor = self.real_cursor or getattr(app_of(self), "real_cursor", False)

    def _place_real_cursor(self) -> None:
        if self.real_cursor and self.has_focus:
            x, y = self.content_region.offset
            app_of(self).cursor_position = Offset(x, y + self._line - self.scroll_offset.y)

    # Actions

    def action_list_move(self, by: int) -> None:
        """Move the cursor by lines."""
        self._go(self._line + by)

    def action_list_page(self, by: int) -> None:
        """Move the cursor by pages, one line less so that something stays."""
        self._go(self._line + by * max(1, self._page - 1))

    def action_list_first(self) -> None:
        """Go to the first row."""
        self._go(0)

    def action_list_last(self) -> None:
        """Go to the last row."""
        self._go(len(self._model.visible) - 1)

    def action_list_fold(self, shut: bool) -> None:
        """Fold or unfold the group that the cursor is in."""
        head = self._model.head_of(self._line)
        if head is not None:
            self.fold(head, shut)

    def action_list_enter(self) -> None:
        """Go into the row."""
        if self._cursor_id is not None:
            self.post_message(self.Activated(self, self._cursor_id))

    # Drawing

    def layout_for(self, width: int) -> Layout:
        """The columns in a list of that width, scrollbar left out."""
        return self._painter.layout(width)

    def render_line(self, y: int) -> Strip:
        """One line of the screen, up to the scroll bar."""
        return self._whole_line(y).crop(0, self.scrollable_content_region.width)

    def _whole_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        width = self.outer_size.width
        if line >= len(self._model.visible):
            return self._painter.blank(width)
        id = self._model.visible[line]
        turn = 0
        if self._painter.view(id).sign == "busy":
            turn = self._turn
            self._spin()
        folded = id in self._model.folded if id in self._model.heads else None
        return self._painter.line(id, width, line == self._line, turn, folded)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines of the screen.

        As they were drawn, without the box that Textual draws around each: the list has none,
        and a line that is the same object as before costs next to nothing when the list scrolls.
        """
        ground = self.background_colors[1]
        filters = self.get_line_filters()
        whole = crop.column_span == (0, self.outer_size.width)
        strips: list[Strip] = []
        for y in crop.line_range:
            strip = self._whole_line(y)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, ground)
            strips.append(strip if whole else strip.crop(*crop.column_span))
        return strips

    def notify_style_update(self) -> None:
        """Forget what was drawn in another style."""
        self._painter.forget_looks()
        super().notify_style_update()

    def watch_columns(self, columns: tuple[Column, ...]) -> None:
        """Draw again in other columns."""
        self._painter.use_columns(columns)

    def watch_needle(self, needle: str) -> None:
        """Mark other matches."""
        self._painter.use_needle(needle)

    # Spinner

    def _spin(self) -> None:
        if self._timer is None and app_of(self).animation_level != "none":
            self._timer = self.set_interval(_TURN_SECONDS, self._turn_on)

    def _turn_on(self) -> None:
        """Move the busy signs on; rest while none is on the screen."""
        top = self.scroll_offset.y
        lines = range(top, min(top + self._page, len(self._model.visible)))
        busy = [at for at in lines if self._painter.is_busy(self._model.visible[at])]
        if self.is_on_screen and busy:
            self._turn += 1
            for line in busy:
                self.refresh_line(line)
        elif self._timer is not None:
            self._timer.stop()
            self._timer = None

    # Mouse, focus, size

    def on_focus(self) -> None:
        """Draw the cursor as one that keys go to."""
        self._focus_is_new = True
        self.call_later(self._focus_is_old)
        self.refresh_line(self._line)
        self._place_real_cursor()

    def _focus_is_old(self) -> None:
        self._focus_is_new = False

    def on_blur(self) -> None:
        """Draw the cursor as one that keys do not go to."""
        self.refresh_line(self._line)

    def on_mouse_down(self) -> None:
        """Tell a click that brings the focus from one on a focused list."""
        self._click_is_new = self._focus_is_new

    def on_click(self, event: events.Click) -> None:
        """Select; on the selected row, go into it; on a fold mark, fold."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + self.scroll_offset.y
        if line >= len(self._model.visible):
            return
        id = self._model.visible[line]
        if id in self._model.heads and GUTTER - 2 <= offset.x < GUTTER:
            self._go(line)
            self.fold(id, id not in self._model.folded)
        elif line != self._line or self._click_is_new:
            self._go(line)
        else:
            self.action_list_enter()

    def on_resize(self) -> None:
        """Keep the cursor on the screen."""
        self._show_cursor()
        self._place_real_cursor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The real cursor goes with its row."""
        super().watch_scroll_y(old_value, new_value)
        self._place_real_cursor()
