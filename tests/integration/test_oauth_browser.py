"""A real browser is sent to a real authorization server, and comes back."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from core import method_table as methods
from core.browser import SystemBrowser
from core.protocol.login import LoginIdParams
from tests.integration.live import deps_of, live
from tests.integration.oauth.world import Guarded, Provider, write_config
from tests.integration.test_oauth import World

pytestmark = [pytest.mark.anyio, pytest.mark.needs("node", "chromium")]
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run"
)


def chromium(folder: Path) -> Path:
    """A program that opens an address, keeps what it was called with and the page it ended on."""
    script = folder / "chromium-for-tests"
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" >"{folder}/arguments"\n'
        f'chromium {FLAGS} --user-data-dir="{folder}/profile" '
        f'--virtual-time-budget=20000 --dump-dom "$1" >"{folder}/page.part" 2>/dev/null '
        f'&& mv "{folder}/page.part" "{folder}/page"\n'
    )
    script.chmod(0o755)
    return script


async def test_a_browser_with_scripts_completes_a_sign_in_that_was_started_here(
    home: Path, tmp_path: Path, server: Guarded, provider: Provider
) -> None:
    provider.start(person="clicks")
    write_config(home / ".codex", server.url)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "BROWSER": str(chromium(tmp_path)),
        "NO_PROXY": "127.0.0.1",
    }
    deps = replace(deps_of(home, home, home / "etc"), browser=SystemBrowser(environ))
    with anyio.fail_after(55):
        async with live(deps) as here:
            await here.start(consent_all=True)
            world = World(here, home / ".codex", browser=None)  # type: ignore[arg-type]
            await world.until("authenticationRequired", "notLoggedIn")
            begun = await world.begin()
            opened = await here.client.call(
                methods.JACKFIELD_LOGIN_OPEN, LoginIdParams(login_id=begun.login_id)
            )
            assert opened.opened
            assert (await world.ended(begun.login_id)).stage == "done"
            await world.until("connected", "oAuth")
            assert await world.whoami() == "alice mcp:read"
            page = tmp_path / "page"
            while not page.exists():  # noqa: ASYNC110 - another program writes it
                await anyio.sleep(0.05)
    assert "Authentication complete." in page.read_text()
    assert any("HeadlessChrome" in each["agent"] for each in provider.events("person"))
    called = (tmp_path / "arguments").read_text()
    secrets = parse_qs(urlsplit(begun.url).query)
    assert called.startswith("http://127.0.0.1:")
    assert secrets["state"][0] not in called and secrets["code_challenge"][0] not in called
