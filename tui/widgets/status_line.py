"""Where we are, what runs in the background, and the counts."""

from __future__ import annotations

from collections.abc import Sequence

from textual.reactive import reactive

from tui.signs import SignName
from tui.text import Part, Parts, blank, parts_width, spread
from tui.widgets.line import Line

Count = tuple[SignName, int, str]
"""A sign, how many, and the word for them."""

_WIDE = 110


class StatusLine(Line):
    """One line on the panel's ground."""

    DEFAULT_CSS = "StatusLine { background: $panel; padding: 0 1; }"

    where: reactive[Parts] = reactive(())
    """The workspace; parts after the first (home, account) show from 110 columns."""
    job: reactive[Parts] = reactive(())
    """What runs or failed in the background, with its age."""
    counts: reactive[Sequence[Count]] = reactive(())
    """Zero counts are left out."""

    def parts(self, cells: int) -> list[Part]:
        """Left: place and job; right: as many counts as leave the job readable."""
        counts = [count for count in self.counts if count[1]]
        wide = self.outer_size.width >= _WIDE
        place = list(self.where if wide else self.where[:1])
        job = [blank(3), *self.job] if self.job else []
        left, right = [*place, *job], self._counted(counts)
        # Beside a job, home and account go first; then the words, as sign and figure say enough.
        if parts_width(left) + parts_width(right) + 2 > cells:
            left = [*place[:1], *job]
        if parts_width(left) + parts_width(right) + 2 > cells:
            right = self._counted(counts, words=False)
        return spread(left, right, cells, self.glyphs.cut)

    def _counted(self, counts: Sequence[Count], words: bool = True) -> list[Part]:
        parts: list[Part] = []
        for sign, number, word in counts:
            if parts:
                parts.append(blank(2))
            parts.append(self.glyphs.part(sign))
            parts.append((f"{number} {word}" if words else str(number), ""))
        return parts
