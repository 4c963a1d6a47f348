"""Sheet: the one kind of modal. A rounded border means a sheet is open, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.signal import Signal
from textual.widgets import Button

from tui.signs import glyphs_of
from tui.text import Hint, clean
from tui.widgets.breakpoints import HEIGHTS, WIDTHS
from tui.widgets.key_bar import KeyBar
from tui.widgets.page import Page
from tui.widgets.page_view import PageView

T = TypeVar("T")

# Keys that stand at the right end of a sheet's key line, in this order.
_AT_THE_END = ("ctrl+x", "escape")


class Sheet(ModalScreen[T], Generic[T]):
    """A titled box with a body and a key line of its own.

    Its key line shows those of its `BINDINGS` that have `show=True` and apply now. `escape` closes
    it and lets the work go on.

    Attributes:
        SIZE: 70, 92 or 112 columns, never more than the screen.
        FULL: On a low or narrow screen it takes all of it.
    """

    SIZE: ClassVar[Literal["small", "medium", "large"]] = "medium"
    FULL: ClassVar[bool] = True
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    Sheet {
        align: center middle;
        background: $background 65%;
        & > #box {
            width: 92;
            max-width: 100%;
            height: auto;
            max-height: 100%;
            padding: 1 0 0 2;
            background: $background;
            border: round $edge;
            border-title-color: $foreground;
            border-title-style: bold;
            border-subtitle-color: $text-muted;
        }
        & > #box.small { width: 70; }
        & > #box.large { width: 112; }
        & > #box > #body {
            height: auto;
            background: $background;
            scrollbar-size-vertical: 1;
            scrollbar-gutter: stable;
        }
        & > #box > #body > * { margin-right: 1; }
        & > #box > KeyBar { margin: 1 2 0 0; padding: 0; }
        &.-short > #box { padding: 0 0 0 1; }
        &.-short > #box > KeyBar { margin: 0 2 0 0; background: $surface; }
        &.-short > #box.full, &.-narrow > #box.full { width: 100%; height: 100%; }
        &.-short > #box.full > #body, &.-narrow > #box.full > #body { height: 1fr; }
        &.-ascii > #box { border: ascii $edge; }
        &:ansi { background: $background; }
    }
    """

    def __init__(self, title: str = "", status: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sheet_title, self._sheet_status = title, status
        self._sheet_box = Vertical(id="box", classes=f"{self.SIZE} {'full' if self.FULL else ''}")
        self._sheet_body = VerticalScroll(id="body", can_focus=False)
        self._sheet_keys = KeyBar(tail=())

    def compose(self) -> ComposeResult:
        """Box, body, key line."""
        with self._sheet_box:
            with self._sheet_body:
                yield from self.body()
            yield from self.below()
            yield self._sheet_keys

    def body(self) -> ComposeResult:
        """What the sheet holds; it scrolls when it is higher than the screen."""
        yield PageView(self.build)

    def below(self) -> ComposeResult:
        """What stays between body and key line: buttons."""
        yield from ()

    def build(self, page: Page) -> None:
        """Write the page, where the body is one."""

    def on_mount(self) -> None:
        """Take the title and follow the keys."""
        self.set_class(glyphs_of(self).ascii, "-ascii")
        self.set_title(self._sheet_title)
        self.set_status(self._sheet_status)
        updated = cast("Signal[Any]", self.bindings_updated_signal)  # pyright: ignore[reportUnknownMemberType]
        updated.subscribe(self, self._keys_changed)
        self._keys_changed(self)

    def set_title(self, title: str) -> None:
        """What the sheet is about, in its upper border."""
        self._sheet_title = title
        self._sheet_box.border_title = Content(clean(title))

    def set_status(self, status: str) -> None:
        """One fact, in its lower border."""
        self._sheet_status = status
        self._sheet_box.border_subtitle = Content(clean(status))

    @property
    def scrolls(self) -> bool:
        """Whether the body is higher than its place."""
        return self._sheet_body.max_scroll_y > 0

    def scroll_body(self, by: int) -> None:
        """Scroll the body by lines."""
        self._sheet_body.scroll_relative(y=by, animate=False)

    def redraw(self) -> None:
        """Write every page of the body again."""
        for view in self.query(PageView):
            view.redraw()

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """The key line: what does something now, and the right end."""
        shown: dict[str, Hint] = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if active.node is self and binding.show and active.enabled:
                shown.setdefault(binding.action, Hint(binding.key, binding.description))
        tail = [h for key in _AT_THE_END for h in shown.values() if h.key == key]
        return [hint for hint in shown.values() if hint not in tail], tail

    def in_order(self, hints: Sequence[Hint]) -> list[Hint]:
        """As `BINDINGS` has them; bindings with priority come first in Textual's own order."""
        order = [binding.key for binding in self.BINDINGS if isinstance(binding, Binding)]
        return sorted(hints, key=lambda hint: order.index(hint.key) if hint.key in order else -1)

    def _keys_changed(self, _: Any) -> None:
        self._sheet_keys.hints, self._sheet_keys.tail = self.hints()

    def action_close(self) -> None:
        """Close it; what it started goes on."""
        self.dismiss(None)

    def on_resize(self, event: events.Resize) -> None:
        """Keep the key line on the screen, however long the body is."""
        short = event.size.height < HEIGHTS[1][0]
        frame = 2 + (1 if short else 3)
        below = sum(widget.outer_size.height for widget in self._sheet_box.children[1:-1])
        self._sheet_body.styles.max_height = max(3, event.size.height - frame - below)
        self.call_after_refresh(self._keys_changed, self)


class ButtonRow(Horizontal):
    """Buttons that say the act; `←` and `→` go between them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "app.focus_previous", "the one before", show=False),
        Binding("right", "app.focus_next", "the next", show=False),
    ]
    DEFAULT_CSS = """
    ButtonRow {
        height: 1;
        margin: 1 2 0 0;
        & > Button.-textual-compact {
            width: auto;
            min-width: 8;
            margin-right: 2;
            padding: 0 2;
            background: $panel;
            color: $foreground;
            border: none;
            text-style: none;
        }
        & > Button.-textual-compact:hover { background: $row-blurred; }
        & > Button.-textual-compact:focus {
            background: $accent;
            color: $background;
            text-style: bold;
            background-tint: 0%;
        }
        &:nocolor > Button.-textual-compact:focus {
            background: $foreground;
            color: $background;
        }
        &:ansi > Button.-textual-compact:focus { text-style: bold reverse; }
    }
    """

    class Chosen(Message):
        """A button was pressed."""

        def __init__(self, id: str) -> None:
            super().__init__()
            self.id = id

    def __init__(self, buttons: Sequence[tuple[str, str]], *, id: str | None = None) -> None:
        """Take the buttons.

        Args:
            buttons: Id and label; the first one has the focus.
            id: Of the row.
        """
        super().__init__(id=id)
        self._ids = [key for key, _ in buttons]
        self._buttons = [Button(Content(clean(text)), compact=True) for _, text in buttons]

    def compose(self) -> ComposeResult:
        """The buttons."""
        yield from self._buttons

    def on_mount(self) -> None:
        """The first one has the focus."""
        self._buttons[0].focus()

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.post_message(self.Chosen(self._ids[self._buttons.index(event.button)]))
