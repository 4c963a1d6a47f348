"""Traffic of a server in words: messages, stderr and states in one order, oldest first."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable

from core.protocol.jackfield_servers import TrafficLine, TrafficResult
from tui.signs import SignName
from tui.text import Part, Tone
from tui.views.times import clock
from tui.widgets.columns import Column
from tui.widgets.filter_bar import View
from tui.widgets.page import Page
from tui.widgets.row_view import RowView

KEPT = 2_000
COLUMNS = (
    Column("time", "Time", 8),
    Column("way", "", 8),
    Column("method", "Method", 22, grow=1, most=34, match=True),
    Column("ms", "ms", 6, keep=3, right=True),
    Column("text", "", 20, grow=6, match=True),
)
VIEWS = (
    View("all", "all"),
    View("messages", "messages"),
    View("stderr", "stderr"),
    View("states", "states"),
    View("bad", "errors"),
)
_WAYS: dict[str, tuple[str, Tone]] = {
    "out": ("sends", "accent"),
    "in": ("answers", ""),
    "stderr": ("stderr", "muted"),
    "state": ("is", "strong"),
}
_BAD_STATES = ("failed", "ended")


class TrafficText:
    """What has come so far, bounded, and which of it is shown."""

    def __init__(self) -> None:
        self.lines: dict[str, TrafficLine] = {}
        self.lost = 0
        self.last = 0
        self._order: deque[str] = deque()

    def take(self, result: TrafficResult) -> bool:
        """Add what is new; False when nothing is."""
        self.lost += result.lost
        for line in result.lines:
            self.lines[str(line.number)] = line
            self._order.append(str(line.number))
            self.last = max(self.last, line.number)
        while len(self._order) > KEPT:
            self.lines.pop(self._order.popleft(), None)
            self.lost += 1
        return bool(result.lines)

    def ids(self, view: str, text: str, until: int | None = None) -> list[str]:
        """Ids of a view's lines that hold every word of `text`; of a pause those up to `until`."""
        words = text.casefold().split()
        return [
            key
            for key in self._order
            if (until is None or int(key) <= until)
            and in_view(self.lines[key], view)
            and _holds(self.lines[key], words)
        ]

    def counts(self) -> dict[str, int]:
        """Lines of each view."""
        every = self.lines.values()
        return {view.id: sum(in_view(line, view.id) for line in every) for view in VIEWS}

    def as_text(self, ids: Iterable[str]) -> str:
        """Lines of a file: JSON, one a line."""
        return "".join(json.dumps(_json(self.lines[key]), ensure_ascii=False) + "\n" for key in ids)


def _holds(line: TrafficLine, words: list[str]) -> bool:
    if not words:
        return True
    whole = f"{line.kind} {line.method} {line.text}".casefold()
    return all(word in whole for word in words)


def in_view(line: TrafficLine, view: str) -> bool:
    """Whether a view shows the line."""
    match view:
        case "messages":
            return line.kind in ("in", "out")
        case "stderr":
            return line.kind == "stderr"
        case "states":
            return line.kind == "state"
        case "bad":
            return is_bad(line)
        case _:
            return True


def is_bad(line: TrafficLine) -> bool:
    """An error that was answered, or a state that is none to be in."""
    if line.kind == "state":
        return line.method in _BAD_STATES
    return line.kind in ("in", "out") and line.text.startswith('{"error":')


def traffic_row(line: TrafficLine) -> RowView:
    """A line of the list."""
    way, tone = _way(line)
    sign: SignName = "failed" if is_bad(line) else "none"
    cells: dict[str, list[Part] | str] = {
        "time": [(clock(line.at), "muted")],
        "way": [(way, tone)],
        "method": [(line.method, "")],
        "ms": [(f"{line.ms:.0f}", "muted")] if line.ms is not None else [],
        "text": [(line.text, "bad" if is_bad(line) else "muted" if line.kind != "stderr" else "")],
    }
    return RowView(sign, cells)


def _way(line: TrafficLine) -> tuple[str, Tone]:
    if line.kind == "in" and line.ms is None and line.method:
        return "tells", ""
    return _WAYS[line.kind]


def traffic_page(page: Page, line: TrafficLine) -> None:
    """All of one line; JSON is indented."""
    way, _ = _way(line)
    page.both(
        [(f"{way} ", "strong"), (line.method, "strong")],
        [(_note(line), "muted")],
    )
    page.gap()
    try:
        text = json.dumps(json.loads(line.text), ensure_ascii=False, indent=2)
    except ValueError:
        text = line.text
    page.quote(text.splitlines(), tone="")
    if line.bytes > len(line.text.encode()) and line.kind in ("in", "out"):
        page.gap()
        page.text(f"The message has {line.bytes:,} bytes; its beginning is kept.", "muted")


def _note(line: TrafficLine) -> str:
    parts = [clock(line.at)]
    if line.bytes:
        parts.append(f"{line.bytes:,} B")
    if line.ms is not None:
        parts.append(f"{line.ms:.0f} ms")
    return ", ".join(parts)


def _json(line: TrafficLine) -> dict[str, object]:
    whole: dict[str, object] = {"at": line.at, "kind": line.kind}
    if line.method:
        whole["method"] = line.method
    try:
        whole["body"] = json.loads(line.text)
    except ValueError:
        whole["text"] = line.text
    if line.ms is not None:
        whole["ms"] = line.ms
    return whole
