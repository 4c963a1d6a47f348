"""Out of the screen: lists, the event stream and pictures go to files."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from core.protocol.rows import detail_of
from tui.family import Family
from tui.views.activity import ActivityView
from tui.views.base import ListView, plural
from tui.views.happenings import wire_of
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from core.protocol.events import Event
    from core.protocol.rows import Row
    from tui.app import JackfieldApp
    from tui.store import RowSeen


class ExportDeeds(Family):
    """`w` and the picture of the screen."""

    DEEDS: ClassVar = {"list.write": "write", "app.picture": "picture"}

    def why_not(self, id: str) -> str:
        if id == "list.write" and not self.pane.list.ids:
            return "the list is empty"
        return ""

    def write(self) -> None:
        """What the list shows now, folded rows too: JSON, and JSON lines for events."""
        view, shown = self.pane.view, self.pane.list
        ids = [id for id in shown.ids if not shown.is_head(id)]
        if isinstance(view, ActivityView):
            entries = view.entries()
            events = [entries[id].event for id in reversed(ids) if id in entries]
            self._save(events, view, "jsonl", partial(_event_lines, events))
        else:
            rows = [row for id in ids if (row := view.subject(id)) is not None]
            self._save(rows, view, "json", partial(_row_list, rows))

    def _save(
        self, things: Sequence[Any], view: ListView, ending: str, text: Callable[[], str]
    ) -> None:
        kind = "JSON lines" if ending == "jsonl" else "JSON"
        what = f"{plural(len(things), view.NOUN)} as {kind}"
        self.app.open_dialog(_saving(what, f"jackfield-{view.TAB}.{ending}", text))

    def picture(self) -> None:
        """The screen as SVG: what is on it has been masked before it came there."""
        svg = self.app.export_screenshot(title="jackfield")
        self.app.open_dialog(
            _saving("a picture of this screen as SVG", "jackfield.svg", lambda: svg)
        )


def _row_list(rows: Sequence[Row]) -> str:
    return json.dumps([detail_of(row) for row in rows], ensure_ascii=False, indent=1) + "\n"


def _event_lines(events: Sequence[Event | RowSeen]) -> str:
    # The oldest first, as in a log.
    return "".join(json.dumps(wire_of(event), ensure_ascii=False) + "\n" for event in events)


def _saving(
    what: str, name: str, text: Callable[[], str]
) -> Callable[[JackfieldApp], Awaitable[None]]:
    async def dialog(app: JackfieldApp) -> None:
        from tui.screens.save_file import SaveSheet

        path = await app.push_screen_wait(SaveSheet(what, name, app.place, text))
        if path is not None:
            toast(app, f"Written: {app.place.path(str(path))}")

    return dialog
