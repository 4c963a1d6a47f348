"""The panel on a core that runs elsewhere."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from core.client.contract import CoreClient
from core.errors import Unavailable
from core.protocol.jackfield import PanelStartResult, SwitchResult
from tests.fakes.client import FakeClient
from tests.fakes.wired import Faked, FarSide, far
from tests.tui import world
from tests.tui.panel import Panel, panel
from tui import bridge
from tui.__main__ import options_of, verb_of
from tui.last_frame import last_frame
from tui.launch import is_first_start

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridge, "PAUSES", (0.0,))


@asynccontextmanager
async def connected(refusal: Unavailable | None = None) -> AsyncGenerator[tuple[Panel, FarSide]]:
    client = FakeClient(**world.ALL)
    client.answers["jackfield/panel/start"] = PanelStartResult(thread_id="t")
    async with far(Faked(client), client.hub) as (remote, side):
        side.refusal = refusal

        async def connect() -> CoreClient:
            return remote

        async with panel(client, connect=connect) as made:
            if refusal is None:
                await made.until(lambda: made.app.store.config.loaded)
            yield made, side


async def test_rows_come_and_switches_go_over_the_wire():
    async with connected() as (made, _):
        assert "code-review" in made.line("code-review")
        made.client.answers["jackfield/switch"] = SwitchResult(
            written=True, effective=False, message="code-review is off"
        )
        await made.press("down", "down", "space")
        await made.toast("code-review is off")


async def test_rows_stay_while_the_connection_is_lost_and_it_is_made_again():
    async with connected() as (made, side):
        side.refusal = Unavailable("no route")
        side.kill()
        await made.until(lambda: "no route" in made.app.store.lost)
        await made.pilot.pause()
        assert "the core cannot be heard: no connection: no route" in made.status
        assert "code-review" in made.line("code-review")
        made.client.put("plugins", *world.PLUGINS[2:])
        side.refusal = None
        await made.until(lambda: not made.app.store.lost and not made.line("code-review"))
        assert len(made.client.asked("jackfield/panel/start")) == 2


async def test_a_side_that_is_not_there_at_the_start_is_found_later():
    async with connected(Unavailable("no route")) as (made, side):
        await made.until(lambda: "no route" in made.app.store.lost)
        side.refusal = None
        await made.until(lambda: made.app.store.config.loaded and made.app.place.codex_home)
        await made.until(lambda: made.client.asked("jackfield/panel/start"))
        assert not made.app.store.lost


def test_the_command_is_an_option_and_no_verb():
    command = "ssh devbox jackfield app-server"
    assert verb_of(["--connect", command]) == ""
    options = options_of(["--connect", command])
    assert options.connect == command
    # Neither a frame nor a first start of this machine has anything to do with it.
    assert last_frame(options) is None
    assert not is_first_start(options)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "--connect", "x"], "demo is of no use"),
        (["--home", os.curdir, "--connect", "x"], "--home is of no use"),
        (["--cwd", os.curdir, "--connect", "x"], "--cwd is of no use"),
        (["--connect", ""], "no command is named"),
        (["--connect", "'x"], "`'x` is no command: No closing quotation"),
        (["--connect", "unix:"], "`unix:` is not unix:PATH"),
    ],
)
def test_what_cannot_be_connected_to_is_wrong_usage(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit) as caught:
        options_of(arguments)
    assert caught.value.code == 2
    assert f"--connect: {said}" in capsys.readouterr().err
