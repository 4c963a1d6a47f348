"""`^o`: go to a part of the screen by one key."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Offset

from tui.family import Family
from tui.widgets.tab_bar import TabBar

if TYPE_CHECKING:
    from tui.app import JackfieldApp
    from tui.screens.jump import Part


class JumpDeeds(Family):
    """Tabs by their digits, the filter by `/`, list and details by letters."""

    DEEDS: ClassVar = {"app.jump": "jump"}

    def jump(self) -> None:
        """Show the letters."""
        self.app.open_dialog(_jumped)


async def _jumped(app: JackfieldApp) -> None:
    from tui.screens.jump import JumpScreen

    chosen = await app.push_screen_wait(JumpScreen(_parts(app)))
    pane = app.pane
    if chosen is None:
        return
    match chosen.partition(":"):
        case "tab", _, tab:
            await app.open_tab(tab)
        case "row", _, row:
            pane.go_to(row)
            pane.list.focus()
        case "filter", _, _:
            pane.filter.focus_input()
        case "details", _, _:
            pane.detail.focus()
        case _:
            pane.list.focus()


def _parts(app: JackfieldApp) -> list[Part]:
    from tui.screens.jump import Part

    bar, pane = app.screen_stack[0].query_one(TabBar), app.pane
    parts = [
        Part(f"tab:{tab}", Offset(x, bar.region.y), str(number))
        for number, (tab, x) in enumerate(bar.places(), 1)
    ]
    parts.append(Part("filter", pane.filter.region.offset, "/"))
    if not app.narrow:
        parts.append(Part("details", pane.detail.region.offset))
    rows = pane.list
    for line, id in rows.on_screen():
        parts.append(Part(f"row:{id}", Offset(rows.region.x, rows.region.y + line)))
    return parts
