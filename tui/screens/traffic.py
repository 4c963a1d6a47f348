"""What passes between us and a server, live: messages, stderr, states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui.server_controller import ServerController
from tui.text import Hint
from tui.theme import app_of
from tui.views.base import Place, plural
from tui.views.traffic import COLUMNS, VIEWS, TrafficText, traffic_page, traffic_row
from tui.widgets.filter_bar import FilterBar
from tui.widgets.page import Page
from tui.widgets.page_view import Detail
from tui.widgets.row_header import RowHeader
from tui.widgets.row_list import RowList
from tui.widgets.row_view import RowView
from tui.widgets.sheet import Sheet
from tui.widgets.toast import toast

EVERY = 0.25  # seconds between two looks, while the sheet is open


class TrafficSheet(Sheet[None]):
    """Follows the end of the list as long as the cursor is on its last line.

    Args:
        name: Of the server.
    """

    SIZE = "large"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "filter", id="list.filter"),
        Binding("f", "view(1)", "view", id="list.next-view"),
        Binding("F", "view(-1)", "previous view", show=False, id="list.previous-view"),
        Binding("space", "pause", "pause", id="row.switch"),
        Binding("c", "copy", "copy", id="row.copy"),
        Binding("w", "write", "write file", id="list.write"),
        Binding("escape", "back", "close", id="form.close"),
    ]
    DEFAULT_CSS = """
    TrafficSheet {
        & > #box { width: 100%; height: 100%; }
        & > #box > #body { height: 1fr; overflow: hidden; }
        & #lines { height: 3fr; }
        & #whole { height: 2fr; padding: 1 0 0 1; }
        & #box #body FilterBar { padding: 0 1 0 3; margin: 0; }
        & #box #body RowList, & #box #body RowHeader { margin-right: 0; }
    }
    """

    def __init__(self, name: str, servers: ServerController, place: Place) -> None:
        super().__init__(f"Traffic of {name}")
        self._name, self._servers, self._place = name, servers, place
        self._text = TrafficText()
        self._paused_at: int | None = None
        self._read = False
        self._bar = FilterBar(VIEWS)
        self._rows = RowList(COLUMNS, id="lines")
        self._whole = Detail(self._write_whole, id="whole")

    def body(self) -> ComposeResult:
        """Filter, list, and the selected line whole."""
        yield self._bar
        yield RowHeader(self._rows)
        yield self._rows
        yield self._whole

    def on_mount(self) -> None:
        """Look at once, then a few times a second."""
        self._rows.focus()
        self._look()
        self.set_interval(EVERY, self._look)

    @work(group="traffic", exclusive=False)
    async def _look(self) -> None:
        if not self.is_current and self._read:
            return
        result = await self._servers.traffic(self._name, self._text.last)
        first, self._read = not self._read, True
        if result is None:
            self.set_status("the core cannot be heard")
        elif self._text.take(result) or first:
            self._fill(newest=first)

    def _fill(self, *, newest: bool = False, reset: bool = False) -> None:
        ids = self._text.ids(self._bar.view, self._bar.text, self._paused_at)
        shown = self._rows.ids
        follows = newest or (bool(shown) and self._rows.cursor_id == shown[-1])
        keep = ids[-1] if ids and (follows or reset) else None
        self._bar.counts = self._text.counts()
        self._rows.needle = self._bar.text
        self._rows.set_rows(ids, self._row, keep=keep)
        self._tell()
        self._whole.redraw()
        self.refresh_bindings()

    def _row(self, key: str) -> RowView:
        return traffic_row(self._text.lines[key])

    def _tell(self) -> None:
        parts: list[str] = []
        if self._paused_at is not None:
            parts.append(f"paused, {self._text.last - self._paused_at} held")
        if self._text.lost:
            parts.append(f"{plural(self._text.lost, 'older line')} not kept")
        self.set_status(", ".join(parts))

    def _write_whole(self, page: Page) -> None:
        line = self._text.lines.get(self._rows.cursor_id or "")
        if line is not None:
            traffic_page(page, line)
        elif not self._read:
            page.text("asking", "muted")
        elif self._text.lines:
            page.text("Nothing here holds that.", "muted")
        else:
            page.text(
                f"Nothing has passed yet: {self._name} has not been started by this panel.",
                "muted",
            )

    # -- keys

    @on(RowList.Highlighted)
    def _highlighted(self) -> None:
        self._whole.follow()

    @on(RowList.Activated)
    def _into(self) -> None:
        self._whole.focus()

    @on(FilterBar.TextChanged)
    @on(FilterBar.ViewChanged)
    def _filtered(self) -> None:
        self._fill(reset=True)

    @on(FilterBar.Left)
    def _left(self) -> None:
        self._rows.focus()

    def hints(self) -> tuple[Sequence[Hint], Sequence[Hint]]:
        """`space` says what it would do."""
        shown, tail = super().hints()
        word = "go on" if self._paused_at is not None else "pause"
        named = [Hint(h.key, word if h.key == "space" else h.label) for h in shown]
        return named, tail

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What is typed into the filter is no command."""
        if self._bar.typing and action in ("pause", "copy", "write", "view", "filter"):
            return False
        if action in ("copy", "write"):
            return bool(self._rows.ids)
        return True

    def action_filter(self) -> None:
        """Type what to look for."""
        self._bar.focus_input()

    def action_view(self, by: int) -> None:
        """The next view."""
        self._bar.step(by)

    def action_pause(self) -> None:
        """Hold back what comes, or show it again."""
        self._paused_at = self._text.last if self._paused_at is None else None
        self._fill()

    def action_copy(self) -> None:
        """Copy the selected line."""
        if (line := self._text.lines.get(self._rows.cursor_id or "")) is not None:
            app_of(self).copy_to_clipboard(line.text)
            toast(app_of(self), "Copied: the line, secrets masked")

    @work(group="write", exclusive=True)
    async def action_write(self) -> None:
        """Write what is shown to a file."""
        from tui.screens.save_file import SaveSheet

        ids = list(self._rows.ids)
        what = f"{plural(len(ids), 'line')} as JSON lines"
        safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in self._name)
        text = self._text
        sheet = SaveSheet(what, f"traffic-{safe}.jsonl", self._place, lambda: text.as_text(ids))
        path = await app_of(self).push_screen_wait(sheet)
        if path is not None:
            toast(app_of(self), f"Written: {self._place.path(str(path))}")

    def action_back(self) -> None:
        """Out of the filter or the line, then close."""
        if self._bar.typing or self._bar.text:
            self._bar.clear()
            self._rows.focus()
        elif self._whole.has_focus:
            self._rows.focus()
        else:
            self.dismiss(None)
