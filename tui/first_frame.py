"""The first frame with rows: it takes the place of the kept one, and is kept for the next start."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import anyio.to_thread
from textual._compositor import CompositorUpdate

if TYPE_CHECKING:
    from tui.following import FollowingApp
    from tui.last_frame import LastFrame

PATIENCE = 0.8
"""Seconds that a kept frame may stay on show."""


@runtime_checkable
class Holding(Protocol):
    """A driver that writes nothing until it is released."""

    def release(self) -> None: ...


class FirstFrame:
    """Watches what is displayed until there are rows.

    Args:
        kept: Where frames are kept.
    """

    def __init__(self, app: FollowingApp, kept: LastFrame) -> None:
        self._app, self._kept = app, kept
        self._over = False

    def wait(self) -> None:
        """Rows or none: the kept frame goes in the end."""
        self._app.set_timer(PATIENCE, self.release)

    def release(self) -> None:
        """Show what the panel has painted."""
        driver = self._app._driver  # pyright: ignore[reportPrivateUsage]
        if isinstance(driver, Holding):
            driver.release()

    def displayed(self) -> None:
        """Something was painted."""
        plugins = self._app.store.plugins
        if self._over or not plugins.rows or not self._rows_stand:
            return
        self._over = True
        self.release()
        # Only what is marked as not yet confirmed may be shown before it is confirmed.
        if plugins.phase == "cached" and len(self._app.screen_stack) == 1:
            frame = self._frame()
            if frame:
                self._app.run_worker(partial(self._keep, frame), group="frame")

    @property
    def _rows_stand(self) -> bool:
        """The list has its place on the screen and rows in it; the store has them earlier."""
        from tui.widgets.row_list import RowList

        lists = self._app.screen.query(RowList)
        return any(each.size.height > 0 and len(each.visible_ids) > 0 for each in lists)

    async def _keep(self, frame: str) -> None:
        await anyio.to_thread.run_sync(self._kept.keep, frame)

    def _frame(self) -> str:
        app = self._app
        compositor: Any = app.screen._compositor  # pyright: ignore[reportPrivateUsage]
        update: object = compositor.render_update(full=True)
        return update.render_segments(app.console) if isinstance(update, CompositorUpdate) else ""
