"""Explain: the path down the layers, the first stop marked, every way out with its key."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

from msgspec.structs import replace
from textual import events, work
from textual.binding import Binding, BindingType

from core import method_table as methods
from core.errors import CoreError
from core.protocol.jackfield_explain import (
    Action,
    Candidate,
    Check,
    ExplainParams,
    ExplainResult,
    Outcome,
    Status,
)
from tui.keys import show_key
from tui.signs import SignName
from tui.text import Hint, Part, Tone, pad, width, wrap
from tui.theme import app_of
from tui.views.base import Place
from tui.views.times import clock
from tui.widgets.page import Page
from tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.client.contract import CoreClient
    from core.protocol.facts import Evidence

TITLE = 15
INDENT = 6
LABEL = TITLE
CABLE_FROM = 34
"""Rows of the screen from which the cable between two checks has lines of its own."""
MARGIN = 4
"""Lines below the check that is looked at."""
SHORT = 22
"""Cells of a way out on the key line."""
AGAIN = "explain.again"
VERDICTS: dict[Outcome, SignName] = {
    "works": "works",
    "stopped": "failed",
    "normal": "none",
    "unknown": "unknown",
    "ambiguous": "needs",
    "notFound": "problem",
}
SIGNS: dict[Status, SignName] = {
    "pass": "works",
    "fail": "failed",
    "normal": "none",
    "unknown": "needs",
    "notReached": "unknown",
}
_TONES: dict[Status, Tone] = {"fail": "strong-bad", "notReached": "muted"}


class ExplainSheet(Sheet[Action | None]):
    """Closes with the way out that was chosen; looks anew only when it is told to.

    Args:
        key_of: The key of a command, "" for none.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "again", "check again"),
        Binding("up,k", "step(-1)", "evidence"),
        Binding("down,j", "step(1)", "evidence", show=False),
        Binding("enter", "choose", "this one"),
        Binding("c", "copy", "copy"),
        Binding("escape", "close", "close", id="form.close"),
    ]

    def __init__(
        self, client: CoreClient, key_of: Callable[[str], str], place: Place, asked: ExplainParams
    ) -> None:
        super().__init__(f"Explain  {asked.target}")
        self._client, self._key_of, self._place = client, key_of, place
        self._asked = asked
        self._result: ExplainResult | None = None
        self._fault = ""
        self._busy = False
        self._at = self._line_at = 0

    def on_mount(self) -> None:
        """Look at what is known."""
        super().on_mount()
        self._look(self._asked)

    # -- asking

    @work(exclusive=True, group="explain")
    async def _look(self, asked: ExplainParams) -> None:
        self._busy = True
        self.set_status("checking again …" if asked.again else "looking …")
        self._show()
        try:
            result = await self._client.call(methods.JACKFIELD_EXPLAIN, asked)
        except CoreError as error:
            self._fault = error.message
        else:
            self._take(result)
        self._busy = False
        self.set_status(self._summary())
        self._show()

    def _take(self, result: ExplainResult) -> None:
        self._result, self._fault = result, ""
        self._at = result.stop or 0
        if result.name:
            self.set_title(f"Explain  {result.name}")
        if result.kind is not None and result.id:
            self._asked = replace(self._asked, target=result.id, kind=result.kind)

    def _show(self) -> None:
        self.redraw()
        self.refresh_bindings()

    def _summary(self) -> str:
        result = self._result
        if result is None or not result.chain:
            return ""
        if result.stop is None:
            return f"{len(result.chain)} checks"
        word = "open from" if result.outcome == "unknown" else "stops at"
        return f"{word} {result.stop + 1} of {len(result.chain)}"

    # -- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """`enter` where there is a choice, `r` and evidence where there is a path."""
        candidates = bool(self._candidates)
        if action == "choose":
            return candidates
        if action in ("again", "copy"):
            return self._result is not None and not candidates and not self._busy
        return True

    @property
    def _candidates(self) -> tuple[Candidate, ...]:
        return self._result.candidates if self._result is not None else ()

    @property
    def _ways(self) -> dict[str, Action]:
        """Ways out by key: of the stop, of faults behind it, of the check that is looked at."""
        result = self._result
        if result is None or self._busy or not result.chain:
            return {}
        checks = [result.chain[result.stop]] if result.stop is not None else []
        checks += [check for check in result.chain if check.status == "fail"]
        checks.append(result.chain[self._at])
        ways: dict[str, Action] = {}
        for action in chain.from_iterable(check.actions for check in checks):
            key = self._way_key(action)
            if key and key != "r":
                ways.setdefault(key, action)
        return ways

    def _way_key(self, action: Action) -> str:
        """`r` does here what it does on the row of a server."""
        if action.id == AGAIN:
            return "r"
        if action.id == "row.refresh":
            return "R" if action.domain == "marketplaces" else "r"
        return self._key_of(action.id) if action.id else ""

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """The ways out come first."""
        shown, tail = super().hints()
        base = [hint if hint.key != "up" else Hint("up,down", hint.label) for hint in shown]
        ways = [Hint(key, self._short(action)) for key, action in self._ways.items()]
        return [*ways, *base], tail

    def _short(self, action: Action) -> str:
        words = action.label.partition(",")[0]
        return words if width(words) <= SHORT else " ".join(words.split()[:2])

    def on_key(self, event: events.Key) -> None:
        """A way out: it is done where its row is."""
        action = self._ways.get(event.key) or self._ways.get(event.character or "")
        if action is not None:
            event.stop()
            event.prevent_default()
            self.dismiss(action)

    def action_again(self) -> None:
        """Ask those who know; that may start a server."""
        self._look(replace(self._asked, again=True))

    def action_step(self, by: int) -> None:
        """To the check, or the candidate, above or below."""
        count = len(self._candidates) or (len(self._result.chain) if self._result else 0)
        if count:
            self._at = max(0, min(count - 1, self._at + by))
            self._show()
            self.call_after_refresh(self._follow)

    def _follow(self) -> None:
        """Keep what is looked at on the screen."""
        top, height = self._sheet_body.scroll_offset.y, self._sheet_body.size.height
        if not top + 1 <= self._line_at < top + height - MARGIN:
            self._sheet_body.scroll_to(y=self._line_at - height // 3, animate=False)

    def action_choose(self) -> None:
        """This one is meant."""
        if self._candidates:
            chosen = self._candidates[self._at]
            self._result = None
            self._asked = replace(self._asked, target=chosen.id, kind=chosen.kind)
            self._look(self._asked)

    def action_copy(self) -> None:
        """The whole path as text."""
        page = Page(100)
        self._tell(page, every=True)
        app_of(self).copy_to_clipboard("\n".join(line.rstrip() for line in page.text_lines))
        self.set_status("copied")

    # -- the page

    def build(self, page: Page) -> None:
        """The verdict, then the path."""
        self._tell(page, every=False)

    def _tell(self, page: Page, *, every: bool) -> None:
        result = self._result
        if self._fault:
            page.item("failed", self._fault)
        if result is None:
            if not self._fault:
                page.item("busy", "Looking at what every layer says")
            return
        self._verdict(page, result)
        if result.candidates:
            self._choices(page, result.candidates)
        for at, check in enumerate(result.chain):
            self._check(page, at, check, open=every or at == self._at)

    def _verdict(self, page: Page, result: ExplainResult) -> None:
        stopped = result.outcome == "stopped"
        for number, line in enumerate(wrap(result.verdict, page.width - 2)):
            mark = page.glyphs.part(VERDICTS[result.outcome]) if number == 0 else "  "
            page.add(mark, (line, "strong-bad" if stopped else "strong"))
        stop = result.chain[result.stop] if result.stop is not None else None
        if stop is not None and stop.actions:
            self._way(page, stop.actions[0], indent=2)
        page.gap()

    def _choices(self, page: Page, candidates: Sequence[Candidate]) -> None:
        for at, candidate in enumerate(candidates):
            mark = page.glyphs.line("cursor") if at == self._at else " "
            tone: Tone = "strong" if at == self._at else ""
            words: Tone = "muted"
            page.both(
                [(f"{mark} ", "accent"), (pad(candidate.kind, 9), words), (candidate.id, tone)],
                [(candidate.about, "muted")] if candidate.about != candidate.id else [],
            )

    def _check(self, page: Page, at: int, check: Check, *, open: bool) -> None:
        self._line(page, at, check, chosen=open)
        if at == self._at:
            self._line_at = len(page.lines) - 1
        if open:
            self._evidence(page, check)
        last = self._result is None or at + 1 == len(self._result.chain)
        if not last and self.size.height >= CABLE_FROM:
            reached = check.status in ("pass", "normal", "unknown")
            mark = page.glyphs.line("cable" if reached else "dash")
            page.add(" " * (INDENT - 3), (mark, "edge"))

    def _line(self, page: Page, at: int, check: Check, *, chosen: bool) -> None:
        tone = _TONES.get(check.status, "strong" if chosen else "")
        where = self._where(check)
        room = page.width - INDENT - TITLE - (width(where) + 2 if where else 0)
        lines = wrap(check.finding, max(20, room)) or [""]
        pointer = page.glyphs.line("cursor") if chosen else " "
        head: list[Part] = [
            (pointer, "accent"),
            (f"{at + 1:2} ", "muted"),
            page.glyphs.part(SIGNS[check.status]),
            (pad(check.title, TITLE), tone),
        ]
        page.both([*head, (lines[0], tone)], [(where, "muted")] if where else [])
        for line in lines[1:]:
            page.add(" " * (INDENT + TITLE), (line, tone))

    def _where(self, check: Check) -> str:
        """The place of the first piece of evidence that has one."""
        for evidence in check.evidence:
            if evidence.file is not None:
                return self._place.short(evidence)
            if evidence.at is not None and not evidence.wire:
                return clock(evidence.at)
            if evidence.layer and evidence.layer != "default":
                return evidence.layer
        return ""

    def _evidence(self, page: Page, check: Check) -> None:
        label = "seen"
        for evidence in check.evidence:
            if told := self._seen(evidence):
                self._below(page, label, told)
                label = ""
        label = "mends it"
        for action in check.actions:
            self._below_way(page, label, action)
            label = ""

    def _seen(self, evidence: Evidence) -> str:
        parts = [evidence.wire] if evidence.wire else []
        if where := self._place.of(evidence):
            parts.append(where)
        if evidence.at is not None:
            parts.append(clock(evidence.at))
        return "  ".join(parts)

    def _below(self, page: Page, label: str, text: str) -> None:
        bar = page.glyphs.line("dash")
        room = page.width - INDENT - LABEL
        for number, line in enumerate(wrap(text, room)):
            name = label if number == 0 else ""
            page.add(
                " " * (INDENT - 3), (f"{bar}  ", "edge"), (pad(name, LABEL), "muted"), (line, "")
            )

    def _below_way(self, page: Page, label: str, action: Action) -> None:
        bar = page.glyphs.line("dash")
        who = f"{action.whom or action.who}: " if action.who != "you" else ""
        key = show_key(self._way_key(action), page.glyphs)
        room = page.width - INDENT - LABEL - (len(key) + 2 if key else 0)
        for number, line in enumerate(wrap(f"{who}{action.label}", max(20, room))):
            name, mark = (label, f"{key}  " if key else "") if number == 0 else ("", "")
            page.add(
                " " * (INDENT - 3),
                (f"{bar}  ", "edge"),
                (pad(name, LABEL), "muted"),
                (mark, "key"),
                (line, ""),
            )

    def _way(self, page: Page, action: Action, indent: int) -> None:
        """The first way out, in the verdict."""
        key = show_key(self._way_key(action), page.glyphs)
        if action.who != "you":
            whom = action.whom or action.who
            page.text(f"only {whom} can: {action.label}", indent=indent)
        elif key:
            page.add(" " * indent, (f"{key} ", "key"), (action.label, ""))
        else:
            page.text(action.label, indent=indent)
