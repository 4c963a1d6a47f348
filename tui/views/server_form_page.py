"""The right side of the server form: how the test went, what will be written, what is unwise."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from core.protocol.jackfield_servers import ServerPreview, ServerTested, TestStep, TextLine
from tui.signs import SignName
from tui.text import Tone, chop, clean, cut
from tui.views.base import Place
from tui.views.server_draft import Draft
from tui.widgets.page import Page

_WORDS: Final = {"found": "found", "speaks": "speaks MCP", "lists": "lists tools", "ended": "ended"}
_SIGNS: Final[dict[str, SignName]] = {"ok": "works", "failed": "failed", "care": "problem"}
_TONES: Final[dict[str, tuple[Tone, Tone]]] = {
    "+": ("good", ""),
    "-": ("bad", "muted"),
    " ": ("muted", "muted"),
}
TOOLS = 6  # names that are shown
STDERR = 8  # lines
NUMBER = 4  # cells of a line number
EXACT = 1_000_000


@dataclass
class Trial:
    """A test of what the form says.

    Attributes:
        began: 0 while nothing has been tested.
        stale: The form has changed since.
        note: What it does at the moment.
    """

    id: str = ""
    began: float = 0.0
    result: ServerTested | None = None
    refused: str = ""
    stale: bool = False
    note: str = ""

    @property
    def running(self) -> bool:
        return bool(self.began) and self.result is None and not self.refused

    @property
    def note_for_saving(self) -> str:
        """Said when it is saved without a good test of just this."""
        if self.result is not None and self.result.ok and not self.stale:
            return ""
        if self.result is None or self.stale:
            return ", untested"
        return ", though its test failed" if not self.result.sign_in else ""


def write_form_page(
    page: Page,
    preview: ServerPreview,
    trial: Trial,
    draft: Draft,
    place: Place,
    now: float,
    refused: str,
) -> None:
    """All of it; `refused` is why saving has just failed."""
    if refused:
        page.state("failed", "not saved", refused)
        page.gap()
    _trial(page, trial, now)
    _written(page, preview, draft, place)
    for warning in preview.warnings:
        page.gap()
        page.text(f"{page.glyphs.sign('problem')} {place.path(warning)}", "care")


def _trial(page: Page, trial: Trial, now: float) -> None:
    result = trial.result
    if trial.running:
        page.section("Test", "^x ends it")
        past = max(0.0, now - trial.began)
        page.state("busy", f"{past:.1f} s", trial.note, turn=int(past / 0.25))
        return
    if result is None:
        page.section("Test", "not tested")
        if trial.refused:
            page.state("failed", "not started", trial.refused)
        else:
            page.text("^t starts it once, by itself, lists its tools and ends it.", "muted")
        return
    page.section("Test", "of what it was before" if trial.stale else f"{result.ms / 1000:.1f} s")
    for step in result.steps:
        _step(page, step, result)
    if result.cancelled:
        page.item("unknown", "cancelled", "what it had started is ended")
    if result.sign_in:
        page.text("It wants a sign-in, which comes after saving.", "muted")
    if result.tools:
        more = len(result.tools) - TOOLS
        names = ", ".join(result.tools[:TOOLS]) + (f" and {more} more" if more > 0 else "")
        page.text(names, "muted", indent=2)
    if result.stderr and not result.ok:
        page.gap()
        page.quote(result.stderr[-STDERR:], last="strong")


def _step(page: Page, step: TestStep, result: ServerTested) -> None:
    sign: SignName = "needs" if result.sign_in and step.outcome == "care" else _SIGNS[step.outcome]
    note = f"{step.ms:.0f} ms" if step.ms is not None else ""
    page.item(sign, _WORDS[step.what], note)
    page.text(step.text, "muted" if step.outcome == "ok" else "", indent=2)


def _line(page: Page, line: TextLine) -> None:
    """A line of the file; saving agrees to it, so nothing of what is new is cut or hidden."""
    sign, tone = _TONES[line.sign]
    text = clean(line.text, exact=True, limit=EXACT)
    room = page.width - NUMBER - 3
    pieces = chop(text, room) if line.sign != " " else [cut(text, room, page.glyphs.cut)]
    for n, piece in enumerate(pieces or [""]):
        number = str(line.line) if n == 0 else ""
        mark = line.sign if n == 0 else " "
        page.add((f"{number:>{NUMBER}} ", "muted"), (f"{mark} ", sign), (piece, tone))


def _written(page: Page, preview: ServerPreview, draft: Draft, place: Place) -> None:
    page.section("Will be written", os.path.basename(preview.file))
    if preview.fault:
        begun = bool(draft.name or any(draft.lines.values()))
        page.state("failed" if begun else "none", "nothing yet", preview.fault)
        return
    if not preview.lines:
        page.text("Nothing: the file says all of it already.", "muted")
    for line in preview.lines:
        _line(page, line)
    if preview.file:
        page.gap()
        page.fact("file", place.path(preview.file), path=True)
    if draft.hidden:
        page.fact("kept", ", ".join(draft.hidden))
