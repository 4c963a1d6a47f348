from __future__ import annotations

from typing import Any

import pytest

from core.protocol.jackfield_tools import LinkResult
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import Panel, panel
from tui.widgets.confirm import Confirm
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio


class Opening(FakeClient):
    """Opens links."""

    def __init__(self) -> None:
        super().__init__(**world.ALL)
        self.opened: list[str] = []

    async def call(self, method: Any, params: Any) -> Any:
        if method.name != "jackfield/link/open":
            return await super().call(method, params)
        self.opened.append(params.url)
        return LinkResult(opened=True)


async def asked(p: Panel) -> str:
    """Go to an app with a page; the link that the question shows."""
    await p.press("2")
    rows = p.app.store.apps.rows
    await p.until(lambda: "calendar" in rows)
    p.pane.go_to("calendar")
    await p.until(lambda: p.pane.selected == "calendar")
    await p.press("o")
    await p.until(lambda: isinstance(p.app.screen, Confirm))
    lines = [line for view in p.app.screen.query(PageView) for line in view.page.text_lines]
    url = rows["calendar"].install_url
    assert url[:30] in "\n".join(lines)
    return url


async def test_the_page_of_an_app_is_shown_and_opened_only_when_that_is_chosen() -> None:
    client = Opening()
    async with panel(client) as p:
        await asked(p)
        await p.press("escape")
        assert client.opened == []
        url = await asked(p)
        await p.press("right", "enter")
        await p.until(lambda: client.opened)
        assert client.opened == [url]
        await p.toast("Opened: apps.example")


async def test_the_link_can_be_copied_instead() -> None:
    client = Opening()
    async with panel(client) as p:
        url = await asked(p)
        await p.press("right", "right", "enter")
        await p.toast("Copied: the link")
        assert (p.app.clipboard, client.opened) == (url, [])
