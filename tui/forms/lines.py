"""Lines of a form that are no text: one of many, a heading, a list with its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widgets import Static

from tui.signs import glyphs_of
from tui.text import Part, blank, clean, cut, parts_width
from tui.widgets.line import Line, Places

NOT_SET = "not set"
GAP = 2


class SelectLine(Line, can_focus=True):
    """One of many: all of them while they fit on the line, else the chosen one and its number.

    `←` and `→` choose, a letter goes to the next option that begins with it.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "the one before", show=False),
        Binding("right,space", "choose(1)", "the next", show=False),
        Binding("home", "first", "the first", show=False),
        Binding("end", "last", "the last", show=False),
    ]
    DEFAULT_CSS = """
    SelectLine {
        width: 1fr;
        border-left: blank;
        &:focus { background: $row-cursor; border-left: outer $accent; }
        &:nocolor:focus, &:ansi:focus { text-style: underline; border-left: solid $accent; }
    }
    """

    chosen: reactive[int] = reactive(-1, init=False)
    """Number of the option; -1 = none."""

    class Changed(Message):
        """Another option is chosen."""

        def __init__(self, line: SelectLine, chosen: int) -> None:
            super().__init__()
            self.line, self.chosen = line, chosen

        @property
        def control(self) -> SelectLine:
            """The line."""
            return self.line

    def __init__(self, options: Sequence[str], chosen: int = -1, *, may_be_unset: bool) -> None:
        super().__init__()
        self.options = tuple(clean(option) for option in options)
        self._may_be_unset = may_be_unset
        self.set_reactive(SelectLine.chosen, chosen)
        self._places: Places[int] = Places()

    def parts(self, cells: int) -> list[Part]:
        """Sign and option, as often as there are options."""
        self._places.clear()
        shown = range(-1 if self._may_be_unset else 0, len(self.options))
        whole = [self._pair(n) for n in shown]
        if sum(parts_width(pair) + GAP for pair in whole) - GAP > cells:
            return self._one(cells)
        out: list[Part] = []
        at = 0
        for n, pair in zip(shown, whole, strict=True):
            at = self._places.add(at, pair, n) + GAP
            out += [*pair, blank(GAP)]
        return out[:-1]

    def _pair(self, n: int) -> list[Part]:
        here = n == self.chosen
        sign = self.glyphs.line("chosen" if here else "choice")
        label = self.options[n] if n >= 0 else NOT_SET
        return [
            (f"{sign} ", "accent" if here else "muted"),
            (label, "strong" if here else "muted" if n < 0 else ""),
        ]

    def _one(self, cells: int) -> list[Part]:
        arrows = f"{self.glyphs.line('left')} {self.glyphs.line('right')}"
        where = f"  {arrows}  {self.chosen + 1 or '-'} of {len(self.options)}"
        unset: list[Part] = [(NOT_SET, "muted")]
        pair = self._pair(self.chosen) if self.chosen >= 0 else unset
        room = max(4, cells - parts_width([(where, "")]) - 2)
        out: list[Part] = [(cut(text, room), tone) for text, tone in pair]
        out.append((where, "muted"))
        return out

    def action_choose(self, by: int) -> None:
        """Choose the next one, or the one before."""
        span = len(self.options) - self._floor
        if span:
            self.chosen = (self.chosen + by - self._floor) % span + self._floor

    def action_first(self) -> None:
        """Choose the first."""
        self.chosen = self._floor

    def action_last(self) -> None:
        """Choose the last."""
        self.chosen = len(self.options) - 1

    @property
    def _floor(self) -> int:
        """The lowest number that can be chosen; what must be set cannot be unset again."""
        return -1 if self._may_be_unset else 0

    def on_key(self, event: events.Key) -> None:
        """A letter: the next option that begins with it."""
        if event.character is None or not event.character.isalnum():
            return
        wanted, count = event.character.casefold(), len(self.options)
        for step in range(1, count + 1):
            at = (self.chosen + step) % count
            if self.options[at].casefold().startswith(wanted):
                self.chosen = at
                event.stop()
                return

    def watch_chosen(self, chosen: int) -> None:
        """Tell of it."""
        self.post_message(self.Changed(self, chosen))

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        offset = event.get_content_offset(self)
        if offset and (n := self._places.at(offset.x)) is not None:
            self.chosen = n


class SelectField(Vertical):
    """A labelled `SelectLine`, its fault below it."""

    DEFAULT_CSS = """
    SelectField {
        height: auto;
        & > Horizontal { height: 1; }
        & > Horizontal > .label { width: 13; color: $text-muted; }
        & > .fault { display: none; height: auto; color: $warning; }
        &.-fault > .fault { display: block; }
    }
    """
    fault: reactive[str] = reactive("", init=False)

    def __init__(self, label: str, line: SelectLine) -> None:
        super().__init__()
        self._label, self.line = label, line
        self._fault = Static(classes="fault")

    def compose(self) -> ComposeResult:
        """Label and options."""
        with Horizontal():
            yield Static(Content(self._label), classes="label")
            yield self.line
        yield self._fault

    def watch_fault(self, fault: str) -> None:
        """Show it, or that there is none."""
        self.set_class(bool(fault), "-fault")
        self._fault.update(Content(f"{glyphs_of(self).sign('problem')} {clean(fault)}"))


class Heading(Vertical):
    """The line above the members of an object, or the items of a list; lists take the focus."""

    DEFAULT_CSS = """
    Heading {
        height: auto;
        & > .fault { display: none; height: auto; color: $warning; }
        &.-fault > .fault { display: block; }
    }
    """
    fault: reactive[str] = reactive("", init=False)

    def __init__(self, line: HeadingLine) -> None:
        super().__init__()
        self.line = line
        self._fault = Static(classes="fault")

    def compose(self) -> ComposeResult:
        """The line, and its fault."""
        yield self.line
        yield self._fault

    def watch_fault(self, fault: str) -> None:
        """Show it, or that there is none."""
        self.set_class(bool(fault), "-fault")
        self._fault.update(Content(f"{glyphs_of(self).sign('problem')} {clean(fault)}"))


class HeadingLine(Line):
    """What a `Heading` says."""

    DEFAULT_CSS = """
    HeadingLine {
        &:focus { background: $row-cursor; }
        &:nocolor:focus, &:ansi:focus { text-style: bold reverse; }
    }
    """
    note: reactive[str] = reactive("", init=False)

    def __init__(self, label: str, note: str, *, focusable: bool) -> None:
        super().__init__()
        self._label = label
        self.set_reactive(HeadingLine.note, note)
        self.can_focus = focusable

    def parts(self, cells: int) -> list[Part]:
        """Label and note."""
        label = cut(self._label, cells)
        room = cells - parts_width([(label, "")]) - 2
        return [(label, "muted"), blank(2), (cut(self.note, max(0, room)), "muted")]
