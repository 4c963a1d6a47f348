"""The tabs on one line; the open one has the ground of the list below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from tui.text import Part, parts_width
from tui.theme import content, is_plain
from tui.widgets.line import Line, Places

_NARROW = 78
_WIDE = 100


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab: its id, its title, and the title where there is little room."""

    id: str
    title: str
    short: str


class TabBar(Line):
    """Tabs with their number, and how many rows of each want attention."""

    DEFAULT_CSS = "TabBar { background: $panel; }"

    active: reactive[str] = reactive("")
    badges: reactive[Mapping[str, int]] = reactive(dict[str, int])
    """By tab id: rows that want attention; 0 shows nothing."""
    mark: reactive[str] = reactive("jackfield")
    """Right end, from 100 columns."""

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, tab_bar: TabBar, tab: str) -> None:
            super().__init__()
            self.tab_bar = tab_bar
            self.tab = tab

        @property
        def control(self) -> TabBar:
            """The bar."""
            return self.tab_bar

    def __init__(self, tabs: Sequence[Tab], *, active: str = "", id: str | None = None) -> None:
        super().__init__(id=id)
        self.tabs = tuple(tabs)
        self._places: Places[str] = Places()
        self.set_reactive(TabBar.active, active or self.tabs[0].id)

    def _tab_parts(self, number: int, tab: Tab, short: bool) -> list[Part]:
        here = tab.id == self.active
        badge = self.badges.get(tab.id, 0)
        return [
            (f" {number}", "strong-accent" if here else "accent"),
            (f" {tab.short if short else tab.title}", "strong-accent" if here else "muted"),
            (f" !{badge}" if badge else "", "strong-care"),
            (" ", ""),
        ]

    def render(self) -> RenderResult:
        """The tabs; where grounds cannot be relied on, the open one is reversed."""
        cells = self.size.width
        gap = " " if cells >= _WIDE else ""
        end: list[Part] = [(f"{self.mark} ", "strong-muted")] if cells >= _WIDE else []
        self._places.clear()
        pieces: list[Content] = [Content(" ")]
        at = 1
        for number, tab in enumerate(self.tabs, 1):
            parts = self._tab_parts(number, tab, cells < _NARROW)
            at = self._places.add(at, parts, tab.id) + len(gap)
            piece = content(parts)
            if tab.id == self.active:
                piece = self._as_open(piece)
            pieces += [piece, Content(gap)]
        space = max(0, cells - at - parts_width(end))
        return Content.assemble(*pieces, " " * space, content(end))

    def _as_open(self, piece: Content) -> Content:
        if is_plain(self):
            return Content.styled(piece.plain, "bold reverse")
        return piece.stylize("on $background")

    def places(self) -> Iterator[tuple[str, int]]:
        """Each tab's id, and the cell where it begins."""
        return ((tab, start) for start, tab in self._places.starts())

    def on_click(self, event: events.Click) -> None:
        """Open the tab."""
        if tab := self._places.at(event.x):
            self.post_message(self.Chosen(self, tab))
