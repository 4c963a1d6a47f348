"""A link of a server: where it leads is shown first, and only then is it opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tui.text import clean
from tui.tool_controller import Refused, ToolController
from tui.widgets.confirm import Choice, Confirm
from tui.widgets.toast import toast

if TYPE_CHECKING:
    from tui.app import JackfieldApp

SHOWN = 9


def host_of(url: str) -> str:
    """The host of a page as browsers take it, with its port; "" when there is none."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    return f"{host}:{port}" if port is not None else host


async def open_link(app: JackfieldApp, tools: ToolController, links: Sequence[str]) -> None:
    """Ask which of the links, hosts first, and open it."""
    shown = list(links[:SHOWN])
    choices = [
        Choice(str(n), f"Open {clean(host_of(url), limit=40) or 'it'}", url)
        for n, url in enumerate(shown)
    ]
    title = f"Open {host_of(shown[0])}?" if len(shown) == 1 else "Open which page?"
    said = "The server names this page; it opens in your browser."
    answer = await app.push_screen_wait(Confirm(title, said, choices))
    if answer:
        await show_page(app, tools, shown[int(answer)])


async def show_page(app: JackfieldApp, tools: ToolController, url: str) -> None:
    """Open a page that the person has agreed to."""
    try:
        opened = await tools.open_link(url)
    except Refused as why:
        toast(app, f"Not opened: {why}", fault=True)
        return
    toast(app, f"Opened: {host_of(url)}" if opened else "No browser could be started; c copies")
