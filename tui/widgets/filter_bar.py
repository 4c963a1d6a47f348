"""The filter and the views of a list, on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Input, Static

from tui.text import Part, Parts, Tone, blank, clean, parts_width
from tui.theme import content
from tui.widgets.line import Line, Places

_GAP = 3
_FIELD = 18  # cells that slash, field and margin keep at least


@dataclass(frozen=True, slots=True)
class View:
    """A view of a list: `need you`, `failed`."""

    id: str
    label: str


class FilterInput(Input):
    """The field; `enter` and `down` leave it for the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "leave", "to the list", show=False),
    ]

    class Leave(Message):
        """The cursor goes to the list."""

    def __init__(self) -> None:
        super().__init__(placeholder="filter", compact=True, select_on_focus=False)
        self.cursor_blink = False

    def action_leave(self) -> None:
        """Go to the list."""
        self.post_message(self.Leave())


class ViewLine(Line):
    """The views with their counts; the open one is bold and underlined."""

    DEFAULT_CSS = "ViewLine { width: auto; }"

    def __init__(self, views: Sequence[View]) -> None:
        super().__init__()
        self.views = tuple(views)
        self.counts: Mapping[str, int] = {}
        self.open = self.views[0].id if self.views else ""
        self.note: Parts = ()
        self._places: Places[str] = Places()

    def parts(self, cells: int) -> list[Part]:
        """Note, then views; where there is little room, fewer counts, then the open view only."""
        here = [view for view in self.views if view.id == self.open]
        for views, counted in ((self.views, self.views), (self.views, here), (here, here)):
            parts = self._laid_out(views, counted)
            if parts_width(parts) <= cells:
                return parts
        return self._laid_out(here, here)

    def _laid_out(self, views: Sequence[View], counted: Sequence[View]) -> list[Part]:
        self._places.clear()
        out: list[Part] = list(self.note)
        at = parts_width(out)
        for view in views:
            gap = _GAP if out else 0
            shown = self._view_parts(view, view in counted)
            at = self._places.add(at + gap, shown, view.id)
            out += [blank(gap), *shown]
        return out

    def _view_parts(self, view: View, counted: bool) -> list[Part]:
        count = self.counts.get(view.id) if counted else None
        tone: Tone = "strong" if view.id == self.open else "muted"
        return [(view.label, tone), ("" if count is None else f" {count}", "muted")]

    def render(self) -> Content:
        """The line, with the open view underlined."""
        parts = self.parts(self.size.width)
        line = content(parts)
        at = 0
        for text, tone in parts:
            end = at + len(clean(text))
            if tone == "strong":
                line = line.stylize("underline", at, end)
            at = end
        return line

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as what it says, with room for the field left."""
        return parts_width(self.parts(container.width - _FIELD))

    def view_at(self, x: int) -> str | None:
        """The view that stands at a cell."""
        return self._places.at(x)


class FilterBar(Horizontal):
    """`/` puts the cursor here; `f` and `F` step through the views."""

    DEFAULT_CSS = """
    FilterBar {
        height: 1;
        padding: 0 2 0 3;
        background: $background;
        & > #slash { width: 2; color: $accent; text-style: bold; }
        & > FilterInput.-textual-compact { width: 1fr; background: $background; }
        & > FilterInput.-textual-compact:focus {
            background: $row-blurred;
            background-tint: 0%;
        }
        & > ViewLine { margin-left: 2; }
        &:nocolor > FilterInput.-textual-compact:focus,
        &:ansi > FilterInput.-textual-compact:focus { text-style: underline; }
    }
    """

    view: reactive[str] = reactive("", init=False)
    """Id of the open view."""
    counts: reactive[Mapping[str, int]] = reactive(dict[str, int], init=False)
    """Rows of each view, by id; a view without a count shows none."""
    note: reactive[Parts] = reactive((), init=False)
    """Stands before the views: held events."""

    class TextChanged(Message):
        """Another filter text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class ViewChanged(Message):
        """Another view."""

        def __init__(self, view: str) -> None:
            super().__init__()
            self.view = view

    class Left(Message):
        """The cursor wants to go from the field to the list."""

    def __init__(self, views: Sequence[View], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.views = tuple(views)
        self._input = FilterInput()
        self._line = ViewLine(self.views)
        if self.views:
            self.set_reactive(FilterBar.view, self.views[0].id)

    def compose(self) -> ComposeResult:
        """Slash, field, views."""
        yield Static(Content("/"), id="slash")
        yield self._input
        yield self._line

    @property
    def text(self) -> str:
        """What is typed."""
        return self._input.value

    @text.setter
    def text(self, text: str) -> None:
        self._input.value = text

    @property
    def typing(self) -> bool:
        """Whether the cursor is in the field."""
        return self._input.has_focus

    def focus_input(self) -> None:
        """Put the cursor into the field, behind what is there."""
        self._input.focus()
        self._input.cursor_position = len(self._input.value)

    def clear(self) -> None:
        """Empty the field."""
        self._input.value = ""

    def step(self, by: int) -> None:
        """Open the next view, or the one before."""
        if self.views:
            ids = [view.id for view in self.views]
            at = ids.index(self.view) if self.view in ids else 0
            self.view = ids[(at + by) % len(ids)]

    def watch_view(self, view: str) -> None:
        """Tell of it."""
        self._line.open = view
        self._line.refresh()
        self.post_message(self.ViewChanged(view))

    def watch_counts(self, counts: Mapping[str, int]) -> None:
        """Show other counts."""
        self._line.counts = counts
        self._line.refresh(layout=True)

    def watch_note(self, note: Parts) -> None:
        """Show another note."""
        self._line.note = note
        self._line.refresh(layout=True)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.TextChanged(event.value))

    @on(Input.Submitted)
    @on(FilterInput.Leave)
    def _leave(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Open the view that was clicked; elsewhere, put the cursor into the field."""
        offset = event.get_content_offset(self._line)
        if offset is None:
            self.focus_input()
        elif view := self._line.view_at(offset.x):
            self.view = view
