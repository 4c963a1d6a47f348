"""What is wrong with this home and this machine, worst first, each with its fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import Binding, BindingType

from core import method_table as methods
from core.errors import CoreError
from core.protocol.jackfield_doctor import (
    VERDICTS,
    Check,
    DoctorParams,
    DoctorResult,
    Verdict,
)
from tui.signs import SignName
from tui.text import wrap
from tui.views.base import Place
from tui.widgets.page import Page
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from core.client.contract import CoreClient

INDENT = 2
SIGNS: dict[Verdict, SignName] = {
    "fault": "failed",
    "warning": "problem",
    "unknown": "unknown",
    "note": "none",
    "ok": "works",
}
WORDS: dict[Verdict, str] = {
    "fault": "broken",
    "warning": "to look at",
    "unknown": "not known",
    "note": "worth knowing",
    "ok": "as they should be",
}


class DoctorSheet(Sheet[None]):
    """Checks of the core; `r` looks again, `o` asks the git servers too."""

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again(False)", "look again", id="row.refresh"),
        Binding("o", "again(True)", "ask git servers too"),
        Binding("up,k", "scroll(-1)", "one up", show=False),
        Binding("down,j", "scroll(1)", "one down", show=False),
        Binding("pageup", "scroll(-15)", "one page up", show=False),
        Binding("pagedown", "scroll(15)", "one page down", show=False),
    ]

    def __init__(self, client: CoreClient, place: Place) -> None:
        super().__init__("Check-up")
        self._client, self._place = client, place
        self._result: DoctorResult | None = None
        self._fault = ""

    def on_mount(self) -> None:
        """Look at once."""
        self.action_again(False)

    def action_again(self, online: bool) -> None:
        """Look everything over."""
        self.set_status("looking …")
        self._look(online)

    def action_scroll(self, by: int) -> None:
        """Scroll by lines."""
        self.scroll_body(by)

    @work(exclusive=True, group="doctor")
    async def _look(self, online: bool) -> None:
        try:
            result = await self._client.call(methods.JACKFIELD_DOCTOR, DoctorParams(online=online))
        except CoreError as error:
            self._fault = error.message
        else:
            self._result, self._fault = result, ""
        self.set_status(self._summary())
        self.redraw()

    def _summary(self) -> str:
        result = self._result
        if result is None:
            return ""
        counts = ((result.count(verdict), WORDS[verdict]) for verdict in VERDICTS)
        return ", ".join(f"{count} {word}" for count, word in counts if count)

    def build(self, page: Page) -> None:
        """The checks, the worst verdict first; within that by area."""
        if self._fault:
            page.item("failed", self._fault)
        if self._result is None:
            if not self._fault:
                page.item("busy", "Looking at files, programs, keyring and network settings")
            return
        for verdict in VERDICTS:
            checks = [check for check in self._result.checks if check.verdict == verdict]
            if checks:
                page.section(WORDS[verdict].capitalize())
            for check in checks:
                self._tell(page, check)

    def _tell(self, page: Page, check: Check) -> None:
        for number, line in enumerate(wrap(check.finding, page.width - 2)):
            page.add(page.glyphs.part(SIGNS[check.verdict]) if number == 0 else "  ", line)
        if check.verdict == "ok":
            return
        if where := self._place.of(check.evidence):
            page.text(where, "muted", indent=INDENT)
        if check.fix:
            page.text(check.fix, indent=INDENT)
