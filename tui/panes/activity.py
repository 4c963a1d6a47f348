"""The Activity tab, which can be paused."""

from __future__ import annotations

from tui.panes.list_pane import ListPane
from tui.text import Part
from tui.views.activity import ActivityView


class ActivityPane(ListPane):
    """Shows what happens as it happens, unless it is paused."""

    def toggle_pause(self) -> None:
        """Hold new events back, or show what was held."""
        if isinstance(self.view, ActivityView):
            self.view.pause()
            self.fill()

    def _follows_top(self) -> bool:
        """Whoever stands on the newest event sees the next one."""
        return self.list.cursor_line == 0 and not self.filter.text

    def fill(self, keep: str | None = None, *, reset: bool = False) -> None:
        super().fill(keep, reset=reset)
        self.filter.note = self._held()

    def _held(self) -> list[Part]:
        view = self.view
        if not isinstance(view, ActivityView) or view.paused_at is None:
            return []
        held = view.held()
        return [("paused", "strong-care"), (f"  {held} held" if held else "", "muted")]
