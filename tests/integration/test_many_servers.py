"""Good servers wait for no bad one, and each bad one says why."""

from __future__ import annotations

import socket
from pathlib import Path

import anyio
import pytest

from core import method_table as methods
from core.protocol import jackfield as wire
from core.protocol.events import ConsentRequested
from tests.fakes.mcp_stdio import argv
from tests.integration.live import Live, deps_of, live
from tests.terminal.homes import server_table, url_table, write_config

pytestmark = pytest.mark.anyio

GOOD = {f"good-{number}": argv(spec={"delay": {"initialize": number / 10}}) for number in range(5)}
SLOWEST = "good-4"
BAD = {
    "crashing": (argv("exit"), "exited 3 — error: no API key configured"),
    "missing": (["no-such-mcp-server"], "No such file or directory: no-such-mcp-server"),
}
SPARE = 0.5
"""Seconds that the good ones may need beyond what the slowest of them needs alone."""
BUSY = 4
"""The same on a machine that runs other tests."""
QUIT = 3.0


def config(home: Path, servers: dict[str, list[str]], refused: int = 0) -> None:
    tables = [server_table(name, command) for name, command in servers.items()]
    if refused:
        tables.append(url_table("refused", f"http://127.0.0.1:{refused}/mcp"))
    write_config(home / ".codex", *tables)


async def agree(here: Live) -> None:
    """Say yes to everything that is asked about."""
    items = (await here.client.call(methods.JACKFIELD_CONSENT_READ, wire.NoParams())).items
    answers = wire.ConsentAnswers(answers={item.id: True for item in items})
    await here.client.call(methods.JACKFIELD_CONSENT_WRITE, answers)


async def seconds_until_connected(here: Live, *names: str) -> float:
    """From the moment of consent."""
    await here.start()
    await here.until(lambda: all(here.server(name).status == "review" for name in names))
    began = anyio.current_time()
    await agree(here)
    await here.until(lambda: all(here.server(name).status == "connected" for name in names))
    return anyio.current_time() - began


async def test_five_good_servers_are_up_while_four_bad_ones_are_not(
    home: Path, tmp_path: Path
) -> None:
    config(home, {SLOWEST: GOOD[SLOWEST]})
    before = deps_of(home, tmp_path, tmp_path / "etc", XDG_STATE_HOME=str(tmp_path / "before"))
    async with live(before) as here:
        alone = await seconds_until_connected(here, SLOWEST)

    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        bad = {name: command for name, (command, _) in BAD.items()}
        config(home, {**bad, "sleeping": ["sleep", "600"], **GOOD}, refused=port)
        async with live(deps_of(home, tmp_path, tmp_path / "etc")) as here:
            together = await seconds_until_connected(here, *GOOD)
            assert here.server("sleeping").status == "starting"
            assert together < alone + SPARE * BUSY

            for name, (_, reason) in BAD.items():
                await here.until(lambda name=name: here.server(name).status == "failed")
                assert here.server(name).reason == reason
            await here.until(lambda: here.server("refused").status == "waiting")
            said = f"connection refused by 127.0.0.1:{port}; try 2 in 1 s"
            assert here.server("refused").reason == said
            assert here.server("sleeping").status == "starting"
            leaving = anyio.current_time()
        assert anyio.current_time() - leaving < QUIT


async def test_consent_is_asked_for_once(home: Path, tmp_path: Path) -> None:
    deps = deps_of(home, tmp_path, tmp_path / "etc")
    config(home, {"good": argv()})
    async with live(deps) as here:
        await seconds_until_connected(here, "good")
    async with live(deps) as here:
        await here.start()
        await here.until(lambda: here.server("good").status == "connected")
        assert not [event for event in here.events if isinstance(event, ConsentRequested)]
