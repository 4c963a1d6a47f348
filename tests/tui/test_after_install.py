"""What is left to do after an install: apps to link, servers to sign in to."""

from __future__ import annotations

import pytest

from core.errors import InvalidRequest
from core.protocol.jackfield_install import AppToLink, Compatibility, PluginInstalled
from core.protocol.jackfield_tools import LinkResult
from tests.fakes.client import FakeClient
from tests.tui import world
from tests.tui.panel import Panel, panel, whole
from tui.plugin_controller import NotAdded, last_words
from tui.screens.after_install import AfterInstall
from tui.screens.trust import TrustSheet

pytestmark = pytest.mark.anyio
NAME = "internationalisation-helper"
URL = "https://chatgpt.com/apps/x/app_1"
SEEN = Compatibility(plugin_id=f"{NAME}@acme-tools", name=NAME, marketplace_path=world.ACME)


def client_of(result: object) -> FakeClient:
    client = whole()
    client.answers |= {
        "jackfield/plugin/compatibility": SEEN,
        "jackfield/plugin/install": result,
        "jackfield/link/open": LinkResult(opened=True),
    }
    return client


async def install(p: Panel) -> None:
    await p.until(lambda: p.pane.list.move_to(f"plugin:{NAME}@acme-tools"))
    await p.pilot.pause()
    await p.press("i")
    await p.until(lambda: isinstance(p.app.screen, TrustSheet))
    await p.pilot.pause()
    await p.press("right", "enter")


async def test_apps_that_want_a_link_are_named_with_their_page():
    result = PluginInstalled(
        plugin_id=SEEN.plugin_id,
        version="1",
        apps_needing_auth=(AppToLink(id="app_1", name="Boards", url=URL),),
        message="it is installed",
    )
    async with panel(client_of(result)) as p:
        await install(p)
        await p.until(lambda: isinstance(p.app.screen, AfterInstall))
        await p.pilot.pause()
        await p.press("o")
        (opened,) = await p.calls("jackfield/link/open")
        assert opened.url == URL


async def test_servers_that_want_a_sign_in_are_one_key_away():
    result = PluginInstalled(
        plugin_id=SEEN.plugin_id, version="1", sign_in=("far",), message="it is installed"
    )
    async with panel(client_of(result)) as p:
        await install(p)
        await p.until(lambda: isinstance(p.app.screen, AfterInstall))
        await p.pilot.pause()
        await p.press("s")
        await p.until(lambda: p.app.pane.view.TAB == "servers")


async def test_an_install_that_fails_says_the_last_words():
    said = "git clone X failed with status exit status: 128\nstdout:\n\nstderr:\nCloning\nfatal: no"
    async with panel(client_of(InvalidRequest(said))) as p:
        await install(p)
        await p.toast(f"{NAME}: not installed: fatal: no")


def test_last_words_are_the_fault_of_a_tool():
    assert last_words("plain") == "plain"
    assert last_words("x\nstdout:\n\nstderr:\na\nfatal: b\nc") == "fatal: b"
    assert last_words("x\nstdout:\n\nstderr:\na\nb\n") == "b"


def test_a_taken_name_is_found_in_the_refusal():
    said = "marketplace 'm' is already added from a different source; remove it before adding"
    assert NotAdded(said).taken == "m"
    assert NotAdded("something else").taken == ""
