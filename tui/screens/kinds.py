"""The kinds of marketplaces: which are shown, and why the others cannot be."""

from __future__ import annotations

from collections.abc import Sequence

from core.protocol.jackfield_install import KindState
from tui.signs import SignName
from tui.views.base import Place
from tui.widgets.page import Page
from tui.widgets.sheet import Sheet


class KindsSheet(Sheet[None]):
    """Each kind with the first condition that fails: not asked, a feature off, not signed in."""

    SIZE = "medium"
    FULL = False

    def __init__(self, kinds: Sequence[KindState], place: Place) -> None:
        super().__init__("Kinds of marketplaces", f"{sum(kind.shown for kind in kinds)} shown")
        self._kinds, self._place = tuple(kinds), place

    def build(self, page: Page) -> None:
        """One line each, the reason below."""
        for kind in self._kinds:
            sign: SignName = "works" if kind.shown else _sign(kind)
            note = str(kind.count) if kind.shown else ""
            page.item(sign, [(kind.label, "strong")], note)
            said = "shown" if kind.shown else kind.why
            where = "" if kind.evidence.file is None else self._place.of(kind.evidence)
            page.text(f"{said}{f': {where}' if where else ''}", "muted", indent=2)


def _sign(kind: KindState) -> SignName:
    if kind.evidence.layer in ("requirements", "cloud"):
        return "policy"
    return "needs" if kind.why.startswith("not signed in") else "off"
