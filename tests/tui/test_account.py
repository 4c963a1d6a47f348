"""Codex's own account by keys, over a real core and an issuer on a loopback port."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import anyio.lowlevel
import httpx
import pytest

from core.compose import open_core
from core.net.http import HttpClients
from core.ports import Deps
from tests.fakes.account_issuer import AccountIssuerSite
from tests.fakes.ports import FakeBrowser, FakeClock
from tests.tui.panel import NARROW, WIDE, Panel
from tui.app import JackfieldApp
from tui.screens.account import AccountSheet
from tui.screens.sign_in_link import WholeLink
from tui.widgets.confirm import Confirm
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio


@dataclass
class Holding(Panel):
    """A panel beside an issuer."""

    site: AccountIssuerSite = field(default_factory=AccountIssuerSite)
    home: Path = Path()
    clock: FakeClock = field(default_factory=FakeClock)
    browser: FakeBrowser = field(default_factory=FakeBrowser)

    async def until(self, condition: Callable[[], Any]) -> None:
        with anyio.fail_after(20):
            while not condition():
                await self.pilot.pause()
                await anyio.lowlevel.checkpoint()

    @property
    def said(self) -> str:
        lines = [line for view in self.app.screen.query(PageView) for line in view.page.text_lines]
        return "\n".join(line.rstrip() for line in lines)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.said)

    async def sheet(self) -> AccountSheet:
        await self.press("A")
        await self.until(lambda: isinstance(self.app.screen, AccountSheet))
        sheet = self.app.screen
        assert isinstance(sheet, AccountSheet)
        await self.until(lambda: sheet.facts is not None)
        return sheet

    @property
    def keys(self) -> str:
        screen = self.app.screen
        assert isinstance(screen, AccountSheet)
        hints, tail = screen.hints()
        return "  ".join(f"{hint.key} {hint.label}" for hint in (*hints, *tail))

    async def approve(self, url: str) -> None:
        asked = dict(parse_qsl(urlsplit(url).query))
        query = {"code": "c1", "state": asked["state"]}
        async with httpx.AsyncClient(trust_env=False) as browser:
            await browser.get(asked["redirect_uri"], params=query)

    @property
    def auth_file(self) -> Path:
        return self.home / ".codex" / "auth.json"


@asynccontextmanager
async def holding(
    deps: Deps, *, size: tuple[int, int] = WIDE, config: str = "", **options: Any
) -> AsyncGenerator[Holding]:
    site, clock, browser = AccountIssuerSite(), FakeClock(auto=False), FakeBrowser()
    home = Path(deps.environ["HOME"])
    write_config(home, config)
    with site.running():
        environ = {**deps.environ, **site.environ}
        own = replace(deps, http=HttpClients({}), clock=clock, browser=browser, environ=environ)
        async with open_core(own) as core:
            client = core.client()

            async def connect() -> Any:
                return client

            app = JackfieldApp(connect, now=clock.now, consent_all=True, **options)
            app.animation_level = "none"
            async with app.run_test(size=size, notifications=True) as pilot:
                p = Holding(app, pilot, client, site, home, clock, browser)  # type: ignore[arg-type]
                await p.until(lambda: app.controller is not None)
                await p.until(lambda: app.store.account.rows)
                yield p


def write_config(home: Path, config: str) -> None:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex/config.toml").write_text(config)


async def test_a_browser_signs_the_account_in_and_the_sheet_tells_who_it_is(deps: Deps) -> None:
    async with holding(deps) as p:
        sheet = await p.sheet()
        assert "not signed in" in p.said
        assert "b sign in" in p.keys and "S sign out" not in p.keys
        await p.press("b")
        await p.shows("left")
        assert "o open" in p.keys and "close, keep waiting" in p.keys
        await p.press("o")
        await p.until(lambda: p.browser.opened)
        await p.approve(sheet.state.url)
        await p.shows("dev@example.com")
        await p.shows("with ChatGPT")
        assert "plan plus" in p.said
        assert "auth.json, shared with Codex" in p.said
        assert "it can own enterprise sign-ins" in p.said
        assert "b another account" in p.keys and "S sign out" in p.keys
        for secret in (
            "refresh-1",
            "sk-exchanged",
            json.loads(p.auth_file.read_text())["tokens"]["access_token"],
        ):
            assert secret not in p.said


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_a_device_code_is_shown_to_be_typed_in_elsewhere(
    deps: Deps, size: tuple[int, int]
) -> None:
    async with holding(deps, size=size) as p:
        await p.sheet()
        await p.press("d")
        await p.shows("A B C D  1 2 3 4")
        assert "/codex/device" in p.said
        await p.press("escape")
        await p.until(lambda: not isinstance(p.app.screen, AccountSheet))
        await p.until(lambda: p.clock.sleepers)
        p.site.pending = 0
        await p.clock.advance(2)
        await p.until(p.auth_file.exists)
        await p.until(lambda: p.app.store.account.rows["account"].kind == "chatgpt")


async def test_a_key_is_kept_and_never_shown(deps: Deps) -> None:
    async with holding(deps) as p:
        await p.sheet()
        await p.press("k")
        await p.press("enter")
        await p.type("sk-1")
        assert "sk-1" not in p.said
        await p.press("enter")
        await p.shows("with an API key")
        assert json.loads(p.auth_file.read_text())["OPENAI_API_KEY"] == "sk-1"
        assert "an API key has none" in p.said


async def test_signing_out_asks_first_and_says_that_codex_is_signed_out_too(deps: Deps) -> None:
    async with holding(deps) as p:
        p.auth_file.write_text(json.dumps({"tokens": p.site.tokens()}))
        await p.sheet()
        await p.shows("with ChatGPT")
        await p.press("S")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        assert "Codex itself is signed out too" in p.said
        await p.press("escape")
        await p.shows("with ChatGPT")
        assert p.auth_file.exists()
        await p.press("S")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        await p.press("right", "enter")
        await p.shows("not signed in")
        assert not p.auth_file.exists()
        assert p.site.asked("/oauth/revoke")


async def test_a_cancelled_attempt_and_one_that_is_refused_say_so(deps: Deps) -> None:
    async with holding(deps) as p:
        await p.sheet()
        await p.press("b")
        await p.shows("left")
        await p.press("u")
        await p.until(lambda: isinstance(p.app.screen, WholeLink))
        await p.press("escape")
        await p.press("ctrl+x")
        await p.shows("cancelled")
        assert "o open" not in p.keys
        p.site.answers["/api/accounts/deviceauth/usercode"] = (404, {})
        await p.press("d")
        await p.shows("device code login is not enabled")


async def test_ways_that_the_configuration_forbids_have_no_key(deps: Deps) -> None:
    async with holding(deps, config='forced_login_method = "chatgpt"\n') as p:
        await p.sheet()
        assert "b sign in" in p.keys and "k API key" not in p.keys


async def test_who_has_closed_the_sheet_is_told_how_it_ended(deps: Deps) -> None:
    async with holding(deps) as p:
        sheet = await p.sheet()
        await p.press("b")
        await p.shows("left")
        url = sheet.state.url
        await p.press("escape")
        await p.approve(url)
        await p.toast("Account: signed in")
