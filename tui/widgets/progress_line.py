"""One line above the list while it is refetched, or when that failed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from textual.timer import Timer

from tui.signs import bar_parts
from tui.text import Hint, Part, blank, fit_parts, parts_width
from tui.theme import app_of
from tui.widgets.line import Line
from tui.widgets.page import key_parts

_BAR: Final = 12


class Load(NamedTuple):
    """One source of a refetch; `total` is None while it is not known."""

    name: str
    done: int = 0
    total: int | None = None
    failed: bool = False

    @property
    def over(self) -> bool:
        """It has brought all it has."""
        return self.total is not None and self.done >= self.total


class ProgressLine(Line):
    """Shown by `show` and `fail`, gone with `hide`."""

    DEFAULT_CSS = """
    ProgressLine {
        background: $background;
        padding: 0 2 0 3;
        display: none;
        &.-shown { display: block; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = ""
        self._loads: tuple[Load, ...] = ()
        self._key: Hint | tuple[str, str] | None = None
        self._fault = False
        self._turn = 0
        self._timer: Timer | None = None

    def show(self, text: str, loads: Iterable[Load] = ()) -> None:
        """Say what runs, and how far each source is."""
        self._say(text, tuple(loads), None, fault=False)

    def fail(self, text: str, key: Hint | tuple[str, str] | None = None) -> None:
        """Say that it failed, and the key that tries again."""
        self._say(text, (), key, fault=True)

    def hide(self) -> None:
        """Go."""
        self.remove_class("-shown")
        self._rest()

    def _say(
        self,
        text: str,
        loads: tuple[Load, ...],
        key: Hint | tuple[str, str] | None,
        fault: bool,
    ) -> None:
        self._text, self._loads, self._key, self._fault = text, loads, key, fault
        self.add_class("-shown")
        self.refresh()
        if fault:
            self._rest()
        elif self._timer is None and app_of(self).animation_level != "none":
            self._timer = self.set_interval(0.25, self._turn_on)

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _turn_on(self) -> None:
        self._turn += 1
        if self.is_on_screen:
            self.refresh()

    def parts(self, cells: int) -> list[Part]:
        """The text, then the sources that fit."""
        sign = self.glyphs.part("problem" if self._fault else "busy", self._turn)
        end: list[Part] = []
        if self._key:
            end = [blank(3), *key_parts([self._key], self.glyphs)]
        left = fit_parts([sign, (self._text, "")], cells - parts_width(end), self.glyphs.cut)
        out = [*left, *end]
        for load in self._loads:
            more = [blank(3), *self._load(load)]
            if parts_width(out) + parts_width(more) > cells:
                break
            out += more
        return out

    def _load(self, load: Load) -> list[Part]:
        name: Part = (f"{load.name} ", "muted")
        if load.failed:
            return [name, self.glyphs.part("failed")]
        if load.over:
            return [name, self.glyphs.part("works"), (str(load.done), "")]
        if load.total:
            bar = bar_parts(self.glyphs, load.done / load.total, _BAR)
            return [name, *bar, (f" {load.done}/{load.total}", "")]
        return [name, (str(load.done) if load.done else self.glyphs.cut, "muted")]
