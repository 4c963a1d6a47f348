"""Parts of forms: one line each, faults below their field."""

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
from textual.widgets import Input, Static

from tui.signs import glyphs_of
from tui.text import Part, Parts, blank, clean, cut, spread
from tui.theme import is_plain
from tui.widgets.line import Line, Places


class Field(Vertical):
    """A labelled line of text. Messages of its `Input` bubble through it.

    Args:
        label: Before it; a `*` is added where it is required.
        value: To begin with.
        hint: After it: what is expected.
        placeholder: In it while it is empty.
        required: Marked so.
        password: Shows dots.
        cells: Widest label.
    """

    DEFAULT_CSS = """
    Field {
        height: auto;
        & > Horizontal { height: 1; }
        & > Horizontal > .label { width: 13; color: $text-muted; }
        & > Horizontal > .hint { width: 14; padding-left: 1; color: $text-muted; }
        & Input.-textual-compact {
            width: 1fr;
            background: $panel;
            padding: 0;
            border-left: blank !important;
        }
        & Input.-textual-compact:focus {
            background: $row-cursor;
            background-tint: 0%;
            border-left: outer $accent !important;
        }
        & > .fault { display: none; height: auto; margin-left: 14; color: $warning; }
        &.-fault > .fault { display: block; }
        &:nocolor Input.-textual-compact:focus, &:ansi Input.-textual-compact:focus {
            text-style: underline;
            border-left: solid $accent !important;
        }
    }
    """

    fault: reactive[str] = reactive("", init=False)
    """What is wrong with the value; "" = nothing."""

    def __init__(
        self,
        label: str,
        value: str = "",
        *,
        hint: str = "",
        placeholder: str = "",
        required: bool = False,
        password: bool = False,
        id: str | None = None,
        cells: int = 12,
    ) -> None:
        super().__init__(id=id)
        self._label = Content(cut(f"{label} *" if required else label, cells))
        self._hint = Content(cut(hint, cells + 1))
        self.input = Input(
            clean(value),
            placeholder=clean(placeholder),
            password=password,
            compact=True,
            select_on_focus=False,
        )
        self.input.cursor_blink = False
        self._fault = Static(classes="fault")

    def compose(self) -> ComposeResult:
        """Label, field, hint; below them the fault."""
        with Horizontal():
            yield Static(self._label, classes="label")
            yield self.input
            yield Static(self._hint, classes="hint")
        yield self._fault

    @property
    def value(self) -> str:
        """What is typed."""
        return self.input.value

    @value.setter
    def value(self, value: str) -> None:
        self.input.value = clean(value)

    def watch_fault(self, fault: str) -> None:
        """Show it, or that there is none."""
        self.set_class(bool(fault), "-fault")
        sign = glyphs_of(self).sign("problem")
        self._fault.update(Content(f"{sign} {clean(fault)}"))


class ChoiceField(Horizontal):
    """One of a few: all of them stand on the line; `←` and `→` choose."""

    DEFAULT_CSS = """
    ChoiceField { height: 1; & > .label { width: 13; color: $text-muted; } }
    """

    def __init__(
        self, label: str, options: Sequence[str], chosen: int = 0, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._label = Content(cut(label, 12))
        self.choice = ChoiceLine(options, chosen)

    def compose(self) -> ComposeResult:
        """Label and options."""
        yield Static(self._label, classes="label")
        yield self.choice

    @property
    def value(self) -> str:
        """The chosen option."""
        return self.choice.options[self.choice.chosen]


class ChoiceLine(Line, can_focus=True):
    """The options of a `ChoiceField`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "the one before", show=False),
        Binding("right,l,space", "choose(1)", "the next", show=False),
    ]
    DEFAULT_CSS = """
    ChoiceLine {
        width: 1fr;
        border-left: blank;
        &:focus { background: $row-cursor; border-left: outer $accent; }
        &:nocolor:focus, &:ansi:focus { text-style: underline; border-left: solid $accent; }
    }
    """

    chosen: reactive[int] = reactive(0, init=False)

    class Changed(Message):
        """Another option is chosen."""

        def __init__(self, line: ChoiceLine, value: str) -> None:
            super().__init__()
            self.line = line
            self.value = value

        @property
        def control(self) -> ChoiceLine:
            """The line."""
            return self.line

    def __init__(self, options: Sequence[str], chosen: int = 0) -> None:
        super().__init__()
        self.options = tuple(options)
        self.set_reactive(ChoiceLine.chosen, chosen)
        self._places: Places[int] = Places()

    def parts(self, cells: int) -> list[Part]:
        """Sign and option, as often as there are options."""
        self._places.clear()
        out: list[Part] = []
        at = 0
        for n, option in enumerate(self.options):
            here = n == self.chosen
            sign = self.glyphs.line("chosen" if here else "choice")
            pair: list[Part] = [
                (f"{sign} ", "accent" if here else "muted"),
                (option, "strong" if here else ""),
            ]
            at = self._places.add(at, pair, n) + 3
            out += [*pair, blank(3)]
        return out

    def action_choose(self, by: int) -> None:
        """Choose the next one, or the one before."""
        self.chosen = (self.chosen + by) % len(self.options)

    def watch_chosen(self, chosen: int) -> None:
        """Tell of it."""
        self.post_message(self.Changed(self, self.options[chosen]))

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        offset = event.get_content_offset(self)
        if offset and (n := self._places.at(offset.x)) is not None:
            self.chosen = n


class Tick(Line, can_focus=True):
    """Something to agree to: `[✓]` and what it is; `space` ticks it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "tick", show=False),
    ]
    DEFAULT_CSS = """
    Tick {
        &:focus { background: $row-cursor; }
        &:nocolor:focus, &:ansi:focus { text-style: bold reverse; }
    }
    """

    ticked: reactive[bool] = reactive(True, init=False)

    class Changed(Message):
        """It was ticked, or unticked."""

        def __init__(self, tick: Tick, ticked: bool) -> None:
            super().__init__()
            self.tick = tick
            self.ticked = ticked

        @property
        def control(self) -> Tick:
            """The line."""
            return self.tick

    def __init__(self, label: Parts, ticked: bool = True, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._said = tuple(label)
        self.set_reactive(Tick.ticked, ticked)

    def parts(self, cells: int) -> list[Part]:
        """The box and the label; reversed, it has one tone."""
        mark = self.glyphs.line("tick") if self.ticked else " "
        whole: list[Part] = [("[", "muted"), (mark, "accent"), ("] ", "muted"), *self._said]
        if self.has_focus and is_plain(self):
            whole = [("".join(text for text, _ in whole), "")]
        return spread(whole, (), cells, self.glyphs.cut)

    def action_tick(self) -> None:
        """Tick it, or untick it."""
        self.ticked = not self.ticked

    def watch_ticked(self, ticked: bool) -> None:
        """Tell of it."""
        self.post_message(self.Changed(self, ticked))

    def on_click(self) -> None:
        """A click ticks."""
        self.action_tick()
