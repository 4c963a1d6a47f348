"""A tab: filter, list, and the details of the selected row beside it."""

from __future__ import annotations

from dataclasses import dataclass

import anyio.lowlevel
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.signal import Signal

from tui.commands import Offer
from tui.panes.states import (
    empty_view_state,
    failed_state,
    loading_state,
    nothing_state,
    progress_of,
    unreadable_state,
)
from tui.store import Changed, ViewStore
from tui.switching import SwitchTarget
from tui.text import Part
from tui.views.base import Details, ListView
from tui.views.summary import broken_file
from tui.widgets.filter_bar import FilterBar
from tui.widgets.notice import Notice
from tui.widgets.page import Page, key_parts
from tui.widgets.page_view import Detail
from tui.widgets.peek import Peek
from tui.widgets.progress_line import ProgressLine
from tui.widgets.row_header import RowHeader
from tui.widgets.row_list import RowList

AGES = 30  # ticks after which ages are written anew


class ListPane(Horizontal):
    """Shows one `ListView` and keeps cursor, scroll, query and folds over every update.

    Attributes:
        view: What it shows; takes its rows from the store.
    """

    DEFAULT_CSS = """
    ListPane {
        height: 1fr;
        & > .side { width: 1fr; }
        &.-notice RowList, &.-notice RowHeader, &.-notice Peek { display: none; }
        & Notice { display: none; }
        &.-notice Notice { display: block; }
    }
    """

    @dataclass
    class Selected(Message):
        """Another row is selected, or what it offers has changed."""

        pane: ListPane

    @dataclass
    class DetailsWanted(Message):
        """The core may know more of a row; answered with `give_details`."""

        pane: ListPane
        key: str
        kind: str
        id: str

    @dataclass
    class Opened(Message):
        """Enter or a second click on a row: show its details."""

        pane: ListPane

    def __init__(self, view: ListView, changes: Signal[set[Changed]]) -> None:
        # As it looks before there are rows: a class that comes later restyles everything.
        super().__init__(id=view.TAB, classes="-notice")
        self.view = view
        self._changes = changes
        self._stale = True
        self._settled = False
        self._following = False
        self._ticks = 0

    @property
    def store(self) -> ViewStore:
        """The store behind the view."""
        return self.view.store

    def compose(self) -> ComposeResult:
        """The list on the left, the details on the right."""
        with Vertical(classes="side"):
            yield FilterBar(self.view.VIEWS)
            yield ProgressLine()
            row_list = RowList(self.view.columns(False))
            yield RowHeader(row_list)
            yield row_list
            yield Notice()
            yield Peek()
        yield Detail(self._write_page)

    def on_mount(self) -> None:
        """Follow the store; the clock of what is starting ticks once a second."""
        self._changes.subscribe(self, self._on_store_changed)
        self.set_interval(1.0, self.tick)
        self.fill()

    # ── parts ──

    @property
    def list(self) -> RowList:
        """The list."""
        return self.query_one(RowList)

    @property
    def filter(self) -> FilterBar:
        """The filter above it."""
        return self.query_one(FilterBar)

    @property
    def detail(self) -> Detail:
        """The details beside it."""
        return self.query_one(Detail)

    @property
    def selected(self) -> str | None:
        """Key of the row under the cursor."""
        return None if self.has_class("-notice") else self.list.cursor_id

    @property
    def active(self) -> bool:
        """This tab is the open one."""
        return bool(self.display)

    # ── filling ──

    def _on_store_changed(self, changed: set[Changed]) -> None:
        if not changed & {*self.view.DOMAINS, "config"}:
            return
        if self.active:
            self.fill()
        else:
            self._stale = True

    def fill(self, keep: str | None = None, *, reset: bool = False) -> None:
        """Take the rows from the view again; cursor, scroll and folds stay.

        Args:
            keep: The row that gets the cursor.
            reset: Begin at the first row: another search.
        """
        self._stale = False
        reset = reset or self._follows_top()
        bar = self.filter
        text = bar.text.strip()
        listing = self.view.arrange(text, bar.view)
        bar.counts = self.view.counts()
        rows = self.list
        rows.columns = self.view.columns(bool(text))
        rows.needle = text
        rows.set_rows(listing.ids, self.view.row, heads=listing.heads, keep=keep, reset=reset)
        self._settled = self.store.table(self.view.MAIN).settled
        self._progress()
        self._notice(bool(listing.ids), text)
        self._show_selected()

    def _follows_top(self) -> bool:
        """The list is still being filled and nobody has moved: stay on the first row."""
        return not self._settled and self.list.cursor_line == 0

    def take_over(self) -> None:
        """This tab was opened: catch up, and take the keys."""
        if self._stale:
            self.fill()
        self.list.focus()
        self._show_selected()

    def go_to(self, key: str) -> bool:
        """Put the cursor on a row, through filter and view; False when there is none."""
        if not self.list.move_to(key):
            self.filter.clear()
            self.filter.view = self.view.VIEWS[0].id
            self.fill(keep=key)
        self.list.focus()
        return self.list.cursor_id == key

    def tick(self) -> None:
        """Draw again what counts seconds."""
        if not self.active:
            return
        self._ticks += 1
        if self._ticks % AGES == 0:
            self.list.invalidate()
        if self.has_class("-notice"):
            self._notice(False, self.filter.text.strip())
        elif ticking := self.view.ticking():
            self.list.update_rows(ticking)
            if self.selected in ticking:
                self._show_selected()

    def _progress(self) -> None:
        line = self.query_one(ProgressLine)
        state = progress_of(self.view)
        if state is None:
            line.hide()
        elif state.fault:
            line.fail(state.text, ("R", "again"))
        else:
            line.show(state.text, state.loads)

    def _notice(self, any_rows: bool, text: str) -> None:
        self.set_class(not any_rows, "-notice")
        notice = self.query_one(Notice)
        if any_rows:
            notice.hide()
            return
        counts, view = self.view.counts(), self.filter.view
        if text and counts.get(view):
            notice.show(nothing_state(self.view, text))
        elif counts["all"]:
            label = next(known.label for known in self.view.VIEWS if known.id == view)
            notice.show(empty_view_state(label))
        else:
            self._no_row_at_all(notice)

    def _no_row_at_all(self, notice: Notice) -> None:
        table = self.store.table(self.view.MAIN)
        outcome = table.outcome
        if table.refresh is None and (
            table.unread or (outcome and outcome.finished.outcome == "failed")
        ):
            notice.show(failed_state(self.view, "R", "exclamation_mark"))
        elif self.view.WAITS and table.waiting:
            notice.show_later(loading_state(self.view))
        elif self.view.WAITS and (broken := broken_file(self.store)):
            notice.show(unreadable_state(self.view, broken, "exclamation_mark"))
        else:
            notice.show(self.view.empty)

    # ── the selected row ──

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        # The cursor's own line is painted first; keys that come faster share what follows.
        if not self._following:
            self._following = True
            self.call_after_refresh(self._follow_cursor)

    def _follow_cursor(self) -> None:
        self._following = False
        self._show_selected()

    @on(RowList.Activated)
    def _activated(self) -> None:
        self.post_message(self.Opened(self))

    def _show_selected(self) -> None:
        key = self.selected
        if key is not None:
            peek = self.view.peek(key)
            self.query_one(Peek).show(peek.top, self._mend(key) or peek.right, peek.below)
            if wanted := self.view.wants_details(key):
                self.post_message(self.DetailsWanted(self, key, *wanted))
        self.detail.redraw()
        self.post_message(self.Selected(self))

    def _mend(self, key: str) -> list[Part]:
        mend = [offer for offer in self.view.offers(key) if offer.id == "row.mend"]
        return key_parts([("m", offer.label) for offer in mend], self.view.glyphs)

    def _write_page(self, page: Page) -> None:
        if (key := self.selected) is not None:
            self.view.write(key, page)

    def give_details(self, key: str, details: Details) -> None:
        """What the core told of a row."""
        if self.view.details.get(key) == details:
            return
        self.view.details[key] = details
        if key == self.selected:
            self.detail.redraw()

    def offers(self) -> list[Offer]:
        """What keys mean on the selected row."""
        key = self.selected
        return self.view.offers(key) if key is not None else []

    def switch_target(self) -> SwitchTarget | None:
        """What `space` would turn on or off."""
        key = self.selected
        return self.view.switch_target(key) if key is not None else None

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _focus_moved(self) -> None:
        self.post_message(self.Selected(self))
        if self.filter.typing:
            self.run_worker(self._warm, group="warm", exclusive=True)

    async def _warm(self) -> None:
        for _ in self.view.warm():
            await anyio.lowlevel.checkpoint()

    # ── the filter ──

    @on(FilterBar.TextChanged)
    def _typed(self) -> None:
        # Best hits come first; an emptied filter gives back the row that was found.
        self.fill(reset=bool(self.filter.text.strip()))

    @on(FilterBar.ViewChanged)
    def _viewed(self) -> None:
        self.fill()

    @on(FilterBar.Left)
    def _left(self) -> None:
        self.list.focus()

    def step_back(self) -> bool:
        """One step back: out of the details, out of the filter, then its text; False at the end."""
        if not self.list.has_focus and not self.has_class("-notice"):
            self.list.focus()
            return True
        if self.filter.text:
            self.filter.clear()
            self.list.focus()
            return True
        return False
