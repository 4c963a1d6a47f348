"""The Activity tab: what happened, newest first."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import ClassVar

from core.protocol.rows import Row
from tui.commands import Offer
from tui.signs import UNICODE, Glyphs
from tui.store import Entry, ViewStore
from tui.text import Part
from tui.views.base import Cached, ListView, PeekLines, Place, plural
from tui.views.happenings import Happening, happening, wire_of
from tui.views.times import clock
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

FAULTS = frozenset({"failed", "problem"})


class ActivityView(ListView):
    """Keys are entry numbers.

    Attributes:
        paused_at: Newest entry that is shown while paused; None when it runs.
    """

    TAB = "activity"
    NOUN = "event"
    MAIN = "servers"
    REFRESHED = ()
    REFETCHES = ()
    WAITS = False
    DOMAINS = frozenset({"activity"})
    COLUMNS = (
        Column("time", "Time", 8),
        Column("area", "Area", 7, keep=3),
        Column("about", "About", 14, grow=1, most=24, match=True),
        Column("word", "Event", 10),
        Column("text", "", 29, grow=5),
        Column("ms", "ms", 6, keep=4, right=True),
    )
    VIEWS: ClassVar = (
        View("all", "all"),
        View("server", "servers"),
        View("apps", "apps"),
        View("bad", "faults"),
    )

    def __init__(self, store: ViewStore, place: Place, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(store, place, glyphs)
        self.paused_at: int | None = None
        self._entries: dict[str, Entry] = {}
        self._words: dict[str, tuple[object, Happening]] = {}
        self._shown = Cached(self._make_shown)

    def _stamp(self) -> tuple[object, ...]:
        return (self.store.happenings, self.paused_at)

    def pause(self) -> bool:
        """Hold new events back, or show them again; True when it is paused now."""
        if self.paused_at is None:
            self.paused_at = self.store.activity[-1].number if self.store.activity else 0
        else:
            self.paused_at = None
        return self.paused_at is not None

    def held(self) -> int:
        """How many events are held back."""
        if self.paused_at is None or not self.store.activity:
            return 0
        return self.store.activity[-1].number - self.paused_at

    def _make_shown(self) -> dict[str, Entry]:
        limit = self.paused_at
        return {
            str(entry.number): entry
            for entry in reversed(self.store.activity)
            if limit is None or entry.number <= limit
        }

    def entries(self) -> dict[str, Entry]:
        """What is shown, newest first."""
        newest = self.store.activity[-1].number if self.store.activity else 0
        entries: dict[str, Entry] = self._shown.get(
            (newest, len(self.store.activity), self.paused_at)
        )
        return entries

    def words(self, key: str) -> Happening | None:
        """What an entry says; made when it is drawn or looked for, and kept."""
        entry = self.entries().get(key)
        if entry is None:
            return None
        known = self._words.get(key)
        if known is None or known[0] is not entry.event:
            known = (entry.event, happening(entry, self.place))
            self._words[key] = known
        return known[1]

    def keys(self, view: str) -> Iterable[str]:
        if view == "all":
            return list(self.entries())
        return [key for key in self.entries() if self._in_view(key, view)]

    def _in_view(self, key: str, view: str) -> bool:
        words = self.words(key)
        if words is None:
            return False
        return words.sign in FAULTS if view == "bad" else words.area == view

    def count(self) -> dict[str, int]:
        entries = self.entries()
        counts = {"all": len(entries), "server": 0, "apps": 0, "bad": 0}
        for key in entries:
            words = self.words(key)
            if words is None:
                continue
            if words.area in counts:
                counts[words.area] += 1
            if words.sign in FAULTS:
                counts["bad"] += 1
        return counts

    def name(self, key: str) -> str:
        words = self.words(key)
        return words.about if words else key

    def text(self, key: str) -> str:
        words = self.words(key)
        return f"{words.area} {words.word} {words.text}" if words else ""

    def source(self, key: str) -> object:
        entry = self.entries().get(key)
        return entry.event if entry else None

    def searched(self) -> str:
        return f"names and texts of {plural(len(self.entries()), 'event')}"

    def row(self, key: str) -> RowView:
        words, entry = self.words(key), self.entries().get(key)
        if words is None or entry is None:
            return RowView("none", {"about": ""})
        word: Part = (words.word, "")
        if words.sign not in ("works", "none"):
            word = (words.word, self.glyphs.part(words.sign)[1])
        cells: dict[str, list[Part] | str] = {
            "time": [(clock(entry.at), "muted")],
            "area": [(words.area, "muted")],
            "about": [(words.about, "")],
            "word": [word],
            "text": [(words.text, "")],
            "ms": [(f"{words.ms:.0f}", "muted")] if words.ms is not None else [],
        }
        return RowView(words.sign, cells)

    # ── the selected row ──

    def subject(self, key: str) -> Row | None:
        return None

    def copy_id(self, key: str) -> str:
        words, entry = self.words(key), self.entries().get(key)
        if words is None or entry is None:
            return ""
        return f"{clock(entry.at)} {words.about} {words.word} {words.text}".strip()

    def wire(self, key: str) -> str:
        """The event as JSON, indented."""
        entry = self.entries().get(key)
        return json.dumps(wire_of(entry.event), ensure_ascii=False, indent=1) if entry else ""

    def peek(self, key: str) -> PeekLines:
        words, entry = self.words(key), self.entries().get(key)
        if words is None or entry is None:
            return PeekLines([], [], [])
        top: list[Part] = [
            (words.about, "strong"),
            (f"  {words.area}, {clock(entry.at)}", "muted"),
        ]
        return PeekLines(top, [], [(f"{words.word}  ", "strong"), (words.text, "")])

    def page(self, key: str, page: Page) -> None:
        words, entry = self.words(key), self.entries().get(key)
        if words is None or entry is None:
            return
        page.title(words.about, clock(entry.at))
        page.state(words.sign, words.word or words.area, words.text)
        page.gap()
        page.fact("area", words.area)
        if words.ms is not None:
            page.fact("took", f"{words.ms:.0f} ms")
        if entry.count > 1:
            page.fact("repeated", f"{entry.count} times")
        page.section("Event", "as on the wire")
        page.quote(self.wire(key).splitlines())

    def offers(self, key: str) -> list[Offer]:
        pause = "go on" if self.paused_at is not None else "pause"
        return [
            Offer("row.switch", pause),
            Offer("row.details", "whole event"),
        ]

    def empty(self, page: Page) -> None:
        page.title("Nothing has happened yet")
        page.gap()
        page.text("What servers, marketplaces, apps and files do is told here as it happens.")
