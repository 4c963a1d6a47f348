"""A panel in a test: a fake core behind it, keys in, painted lines out."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.lowlevel
from textual.pilot import Pilot

from core.client.contract import CoreClient
from tests.fakes.client import FakeClient
from tests.fakes.wired import wired
from tests.tui import world
from tui.app import JackfieldApp
from tui.panes.list_pane import ListPane
from tui.widgets.key_bar import KeyBar
from tui.widgets.line import Line
from tui.widgets.notice import Notice
from tui.widgets.peek import Peek
from tui.widgets.status_line import StatusLine

NARROW, WIDE = (80, 24), (120, 40)


@dataclass
class Panel:
    app: JackfieldApp
    pilot: Pilot[None]
    client: FakeClient

    @property
    def pane(self) -> ListPane:
        return self.app.pane

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*(" " if char == "space" else char for char in text))

    async def until(self, condition: Callable[[], Any]) -> None:
        """Let things happen until they have; the test fails after five seconds."""
        with anyio.fail_after(5):
            while not condition():
                await self.pilot.pause()
                await anyio.lowlevel.checkpoint()

    async def calls(self, method: str, count: int = 1) -> list[Any]:
        await self.until(lambda: len(self.client.asked(method)) >= count)
        return self.client.asked(method)

    def lines(self) -> list[str]:
        """The list as it is painted, blank lines left out."""
        rows = self.pane.list
        height = rows.scrollable_content_region.height
        return [text for y in range(height) if (text := rows.render_line(y).text.rstrip())]

    def line(self, name: str) -> str:
        """The painted line with that name in it, or ""."""
        return next((line for line in self.lines() if name in line), "")

    def painted(self, widget: type[Line]) -> str:
        here = self.pane.query(widget)
        found = here.first() if here else self.app.screen_stack[0].query_one(widget)
        return "".join(text for text, _ in found.parts(found.content_size.width)).rstrip()

    @property
    def keys(self) -> str:
        return self.painted(KeyBar)

    @property
    def status(self) -> str:
        return self.painted(StatusLine)

    @property
    def notice(self) -> str:
        return "\n".join(text.rstrip() for text in self.pane.query_one(Notice).page.text_lines)

    @property
    def details(self) -> str:
        return "\n".join(text.rstrip() for text in self.pane.detail.page.text_lines)

    @property
    def peek(self) -> str:
        return self.pane.query_one(Peek).render().plain  # type: ignore[union-attr]

    @property
    def toasts(self) -> list[str]:
        return [notification.message for notification in self.app._notifications]  # type: ignore[reportPrivateUsage]

    async def toast(self, text: str) -> None:
        await self.until(lambda: any(text in toast for toast in self.toasts))


@asynccontextmanager
async def panel(
    client: FakeClient | None = None,
    *,
    size: tuple[int, int] = WIDE,
    tab: str = "",
    connect: Callable[[], Any] | None = None,
    settle: bool = True,
    **options: Any,
) -> AsyncGenerator[Panel]:
    """A running panel; `tab` is the key of the tab to begin with.

    With JACKFIELD_PILOT=wire in the environment the fake core is on the other end of a wire.
    """
    client = client or FakeClient(**world.ALL)
    over_wire = os.environ.get("JACKFIELD_PILOT") == "wire"
    async with wired(client) if over_wire else nullcontext(client) as reached:

        async def ready() -> CoreClient:
            return reached

        async with _running(client, ready, size, tab, connect, settle, options) as made:
            yield made


@asynccontextmanager
async def _running(
    client: FakeClient,
    ready: Callable[[], Any],
    size: tuple[int, int],
    tab: str,
    connect: Callable[[], Any] | None,
    settle: bool,
    options: dict[str, Any],
) -> AsyncGenerator[Panel]:
    options.setdefault("now", world.now)
    app = JackfieldApp(connect or ready, **options)
    app.animation_level = "none"
    async with app.run_test(size=size, notifications=True) as pilot:
        made = Panel(app, pilot, client)
        if settle and connect is None:
            await made.until(lambda: app.store.config.loaded and app.controller is not None)
        if tab:
            await made.press(tab)
        yield made


def whole() -> FakeClient:
    """The world of the tests behind a fake client."""
    client = FakeClient(**world.ALL)
    client.consent = world.CONSENT
    return client
