"""Signing in by keys, over a real core and a pretended authorization server."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.lowlevel
import httpx
import pytest
from textual import events

from core.compose import open_core
from core.errors import CoreError
from core.ports import Deps
from core.protocol.rows import ToolRow
from tests.fakes.client import FakeClient
from tests.fakes.oauth_server import FakeOAuth
from tests.fakes.ports import FakeBrowser, FakeClock
from tests.tui import world
from tests.tui.panel import NARROW, WIDE, Panel, panel
from tui.app import JackfieldApp
from tui.screens import sign_in as sheet_of
from tui.screens.sign_in import SignInSheet
from tui.screens.sign_in_forms import BearerSheet, ClientSheet
from tui.screens.sign_in_link import SaveLink, WholeLink
from tui.widgets.confirm import Confirm
from tui.widgets.page_view import PageView

pytestmark = pytest.mark.anyio
CONFIG = f"""
mcp_oauth_credentials_store = "file"

[mcp_servers.oa]
url = "{FakeOAuth().url}"
"""
CHALLENGE = (
    f'Bearer resource_metadata="{FakeOAuth().host}/.well-known/oauth-protected-resource/mcp", '
    'scope="read"'
)


@dataclass
class Signing(Panel):
    """A panel whose server `oa` wants a sign-in."""

    site: FakeOAuth = field(default_factory=FakeOAuth)
    home: Path = Path()
    clock: FakeClock = field(default_factory=FakeClock)

    async def until(self, condition: Callable[[], Any]) -> None:
        with anyio.fail_after(20):
            while not condition():
                await self.pilot.pause()
                await anyio.lowlevel.checkpoint()

    @property
    def sheet(self) -> SignInSheet:
        assert isinstance(self.app.screen, SignInSheet), self.app.screen
        return self.app.screen

    @property
    def said(self) -> str:
        lines = [line for view in self.app.screen.query(PageView) for line in view.page.text_lines]
        return "\n".join(line.rstrip() for line in lines)

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.said)

    async def begin(self, key: str = "s") -> SignInSheet:
        await self.press(key)
        await self.until(lambda: isinstance(self.app.screen, SignInSheet))
        await self.shows("left")
        return self.sheet

    @property
    def url(self) -> str:
        state = self.sheet.state
        assert state is not None
        return state.url

    async def paste(self, text: str) -> None:
        """As a terminal does."""
        self.app.post_message(events.Paste(text))
        await self.pilot.pause()

    async def closed(self) -> None:
        await self.until(lambda: len(self.app.screen_stack) == 1)

    def stored(self) -> Any:
        file = self.home / ".codex/.credentials.json"
        return json.loads(file.read_text()) if file.exists() else {}

    def config(self) -> dict[str, Any]:
        return tomllib.loads((self.home / ".codex/config.toml").read_text())


@asynccontextmanager
async def signing(
    deps: Deps,
    site: FakeOAuth | None = None,
    *,
    size: tuple[int, int] = WIDE,
    store: dict[str, Any] | None = None,
    **options: Any,
) -> AsyncGenerator[Signing]:
    site, clock = site or FakeOAuth(), FakeClock(auto=False)
    site.pages.setdefault("/mcp", httpx.Response(401, headers={"www-authenticate": CHALLENGE}))
    home = Path(deps.environ["HOME"])
    (home / ".codex/config.toml").write_text(CONFIG)
    async with open_core(replace(deps, http=site, clock=clock)) as core:
        client = core.client()

        async def connect() -> Any:
            return client

        app = JackfieldApp(connect, now=clock.now, consent_all=True, **options)
        app.animation_level = "none"
        async with app.run_test(size=size, notifications=True) as pilot:
            p = Signing(app, pilot, client, site, home, clock)  # type: ignore[arg-type]
            await p.press("4")
            await p.until(lambda: "sign-in" in p.line("oa"))
            await p.until(lambda: p.pane.selected == "oa")
            yield p


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_of, "DONE_SHOWN", 0.01)


# ── from the key to the tokens ──


@pytest.mark.parametrize("key", ["s", "m"])
@pytest.mark.parametrize("size", [NARROW, WIDE])
@pytest.mark.usefixtures("quick")
async def test_a_sign_in_begun_by_key_ends_with_stored_tokens_and_a_closed_sheet(
    deps: Deps, size: tuple[int, int], key: str
):
    async with signing(deps, size=size) as p:
        assert "m sign in" in p.keys
        await p.begin(key)
        said = p.said
        assert "h.example wants an account at h.example" in said
        assert "Open this page in any browser" in said
        assert "5:00 left" in said
        assert "asks for   read" in said
        assert "● 401 h.example/mcp" in said and "asks for sign-in" in said
        assert "…/.well-known/oauth-protected-resource/mcp" in said
        await p.shows("keeps in   .credentials.json, shared with Codex")
        assert "ssh -N -L " in said and "HOST" not in said
        del p.site.pages["/mcp"]
        await p.paste(f"http://127.0.0.1/callback?{p.site.person(p.url)}")
        await p.closed()
        (entry,) = p.stored().values()
        assert entry["access_token"].startswith("access-")
        assert p.app.store.sign_ins == {}


async def test_what_was_stored_is_said_with_its_end(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        await p.paste(p.site.person(p.url))
        await p.shows("● signed in until ")
        assert "kept in    .credentials.json, shared with Codex" in p.said


async def test_a_browser_that_comes_to_the_redirect_is_noticed(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        asked = parse_qs(urlsplit(p.url).query)
        async with httpx.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(f"{asked['redirect_uri'][0]}?{p.site.person(p.url)}")
        assert answer.status_code == 200
        await p.shows("● signed in until ")


@pytest.mark.usefixtures("quick")
async def test_a_link_that_a_terminal_has_broken_into_lines_is_whole_again(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        query = p.site.person(p.url)
        await p.paste(f"http://127.0.0.1/callback?{query[:30]}\n   {query[30:]}\n")
        await p.closed()
        assert p.stored()


# ── what comes back ──


async def test_a_paste_that_is_not_it_says_why_and_keeps_asking(deps: Deps):
    async with signing(deps) as p:
        sheet = await p.begin()
        for text, why in (
            ("https://h.example/welcome", "it holds no code"),
            (p.site.person(p.url, state="other"), "another sign-in (state)"),
            (p.site.person(p.url, iss="https://evil.example"), "another authorization server"),
        ):
            await p.paste(text)
            await p.until(lambda why=why: why in sheet._paste.fault)  # type: ignore[reportPrivateUsage]
            assert sheet._paste.display  # type: ignore[reportPrivateUsage]
        assert not p.stored()
        await p.paste(p.site.person(p.url))
        await p.shows("● signed in until ")


async def test_v_goes_to_the_field_whose_text_is_never_shown(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        await p.press("v")
        await p.type("code=topsecret")
        shown = p.app.export_screenshot()
        assert "topsecret" not in shown
        assert p.sheet._paste.value == "code=topsecret"  # type: ignore[reportPrivateUsage]


async def test_over_ssh_the_field_is_there_from_the_start(
    deps: Deps, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SSH_CONNECTION", "1 2 3 4")
    async with signing(deps) as p:
        sheet = await p.begin()
        assert sheet._paste.display  # type: ignore[reportPrivateUsage]
        assert p.app.focused is None


# ── while it waits ──


async def test_closed_it_goes_on_in_its_row_and_the_status_line_and_s_comes_back(deps: Deps):
    async with signing(deps) as p:
        url = (await p.begin()).state.url  # type: ignore[union-attr]
        await p.press("escape")
        await p.closed()
        assert "? oa" in p.line("oa") and "waiting for the browser 5:00" in p.line("oa")
        assert "◐ sign-in to oa, 5:00 left   s back to it" in p.status
        await p.clock.advance(48)
        p.app.show_status()
        assert "sign-in to oa, 4:12 left" in p.status
        assert "m back to sign-in" in p.keys
        await p.press("1")
        await p.press("s")
        await p.until(lambda: isinstance(p.app.screen, SignInSheet))
        await p.shows("4:12 left")
        assert p.url == url


async def test_its_end_is_told_where_the_sheet_was_closed(deps: Deps):
    async with signing(deps) as p:
        query = p.site.person((await p.begin()).state.url)  # type: ignore[union-attr]
        redirect = parse_qs(urlsplit(p.url).query)["redirect_uri"][0]
        await p.press("escape")
        async with httpx.AsyncClient(trust_env=False) as browser:
            await browser.get(f"{redirect}?{query}")
        await p.toast("oa: signed in until ")
        assert "left" not in p.status


async def test_ctrl_x_ends_it_and_s_begins_anew(deps: Deps):
    async with signing(deps) as p:
        first = (await p.begin()).state.login_id  # type: ignore[union-attr]
        await p.press("ctrl+x")
        await p.shows("cancelled")
        assert p.app.store.sign_ins == {} and not p.app.store.faults.get(("oa", "not signed in"))
        await p.press("s")
        await p.shows("left")
        assert p.sheet.state.login_id != first  # type: ignore[union-attr]


async def test_a_denial_is_told_in_the_same_sheet(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        asked = parse_qs(urlsplit(p.url).query)
        denial = f"{asked['redirect_uri'][0]}?error=access_denied&state={asked['state'][0]}"
        async with httpx.AsyncClient(trust_env=False) as browser:
            await browser.get(denial)
        await p.shows("✗ not signed in  denied at h.example (access_denied)")
        assert "s try again" in p.said


async def test_a_redirect_with_a_wrong_state_is_named_and_waits_on(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        redirect = parse_qs(urlsplit(p.url).query)["redirect_uri"][0]
        async with httpx.AsyncClient(trust_env=False) as browser:
            await browser.get(f"{redirect}?code=x&state=y")
        await p.shows("a redirect was not taken: it belongs to another sign-in (state)")
        assert "5:00 left" in p.said


# ── the link ──


async def test_o_opens_a_browser_only_when_asked(deps: Deps, browser: FakeBrowser):
    async with signing(deps) as p:
        await p.begin()
        assert browser.opened == []
        await p.press("o")
        await p.shows("the page is open in your browser")
        browser.works = False
        await p.press("o")
        await p.shows("no browser could be opened here: c copies the link")
        assert len(browser.opened) == 2


async def test_the_link_is_copied_shown_whole_and_written_for_the_person_alone(deps: Deps):
    async with signing(deps, size=NARROW) as p:
        await p.begin()
        url = p.url
        await p.press("c")
        assert p.app.clipboard == url
        await p.press("u")
        await p.until(lambda: isinstance(p.app.screen, WholeLink))
        whole: Any = p.app.screen
        await p.until(lambda: url == whole.shown.replace("\n", ""))
        lines: list[str] = whole.shown.split("\n")
        assert {len(line) for line in lines[:-1]} == {80}
        await p.press("escape")
        await p.until(lambda: isinstance(p.app.screen, SignInSheet))
        await p.press("w")
        await p.until(lambda: isinstance(p.app.screen, SaveLink) and p.app.focused is not None)
        await p.press("enter")
        await p.shows("written to")
        file = deps.cwd / "sign-in.txt"
        assert file.read_text() == url
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600


# ── other ways ──


async def test_a_device_code_is_spaced_and_asked_for_until_it_is_typed_in(deps: Deps):
    site = FakeOAuth()
    site.metadata["device_authorization_endpoint"] = f"{site.host}/device"
    site.device_answers = ["authorization_pending"]
    async with signing(deps, site) as p:
        await p.begin()
        await p.press("d")
        await p.shows("W X Y Z")
        assert "asking every 5 s" in p.said and "h.example/device" in p.said
        await p.clock.advance(5)
        assert "W X Y Z" in p.said
        await p.clock.advance(5)
        await p.shows("● signed in until ")


async def test_no_device_code_is_offered_where_there_is_none(deps: Deps):
    async with signing(deps) as p:
        sheet = await p.begin()
        assert "d" not in [hint.key for hint in sheet.hints()[0]]


async def test_without_registration_a_client_id_is_asked_for_and_used(deps: Deps):
    site = FakeOAuth()
    del site.metadata["registration_endpoint"]
    async with signing(deps, site) as p:
        await p.press("s")
        await p.until(lambda: isinstance(p.app.screen, ClientSheet))
        await p.shows("This server needs a client id")
        await p.press("c")
        redirect = p.app.clipboard
        assert redirect.startswith("http://127.0.0.1:")
        await p.press("tab")
        await p.type("mine")
        await p.shows("Will be written")
        await p.press("ctrl+s")
        await p.until(lambda: isinstance(p.app.screen, SignInSheet))
        await p.shows("left")
        asked = parse_qs(urlsplit(p.url).query)
        assert (asked["client_id"], asked["redirect_uri"]) == (["mine"], [redirect])
        port = urlsplit(redirect).port
        written = p.config()["mcp_servers"]["oa"]["oauth"]
        assert written == {"client_id": "mine", "callback_port": port}


async def test_where_nobody_tells_a_way_the_variable_of_a_token_is_asked_for(deps: Deps):
    site = FakeOAuth()
    site.resource = None
    gone = httpx.Response(404)
    site.pages["/.well-known/oauth-authorization-server"] = gone
    async with signing(deps, site) as p:
        await p.press("s")
        await p.until(lambda: isinstance(p.app.screen, BearerSheet))
        await p.shows("the server asks for a token but tells no way")
        await p.shows('+ bearer_token_env_var = "OA_TOKEN"')
        assert "404" in p.said
        await p.paste("ey.J0-topsecret")
        await p.shows("this may be the token")
        await p.press("ctrl+s")
        assert "bearer_token_env_var" not in p.config()["mcp_servers"]["oa"]
        p.app.screen.FIELDS[0].value = "OA_TOKEN"  # type: ignore[attr-defined]
        await p.shows("OA_TOKEN")
        await p.press("ctrl+s")
        await p.closed()
        assert p.config()["mcp_servers"]["oa"]["bearer_token_env_var"] == "OA_TOKEN"


async def test_a_server_that_fails_is_told_with_the_trail_and_tried_again(deps: Deps):
    site = FakeOAuth()
    place = "/.well-known/oauth-authorization-server"
    site.pages[place] = httpx.Response(503)
    async with signing(deps, site) as p:
        await p.press("s")
        await p.until(lambda: isinstance(p.app.screen, SignInSheet))
        await p.shows("✗ not signed in  HTTP 503")
        assert f"503 …{place}" in p.said
        del site.pages[place]
        await p.press("s")
        await p.shows("left")


# ── signing out ──


async def test_signing_out_asks_first_then_revokes_and_removes(deps: Deps):
    site = FakeOAuth()
    site.metadata["revocation_endpoint"] = f"{site.host}/revoke"
    async with signing(deps, site) as p:
        await p.begin()
        await p.paste(p.site.person(p.url))
        await p.shows("● signed in until ")
        await p.press("escape")
        await p.closed()
        await p.until(lambda: "S" in [key for key, *_ in p.app.registry.key_line(p.app.offers())])
        await p.press("S")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        await p.shows("Codex shares this sign-in")
        await p.press("enter")
        await p.closed()
        assert p.stored()
        await p.press("S")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        await p.press("right", "enter")
        await p.toast("Signed out of oa: its tokens are revoked and removed")
        assert p.stored() == {}
        assert site.revoked


async def test_a_registration_is_forgotten_and_made_anew(deps: Deps):
    async with signing(deps) as p:
        await p.begin()
        await p.paste(p.site.person(p.url))
        await p.shows("● signed in until ")
        await p.press("escape")
        await p.closed()
        await p.until(lambda: not p.app.command_offer("servers.forget").why)  # type: ignore[union-attr]
        p.app.run_command("servers.forget")
        await p.toast("oa: its registration is forgotten")
        await p.press("s")
        await p.shows("left")
        assert p.site.paths.count("/register") == 2


async def test_read_only_nobody_signs_in(deps: Deps):
    async with signing(replace(deps, read_only=True), read_only=True) as p:
        await p.press("s")
        await p.toast("Nothing is written")
        assert len(p.app.screen_stack) == 1 and p.site.paths.count("/register") == 0


# ── from other tabs ──


@pytest.mark.parametrize("key", ["s", "m"])
async def test_a_tool_that_stops_at_its_servers_sign_in_leads_to_it(key: str):
    client = FakeClient(**world.ALL)
    client.put(
        "inventory", ToolRow(id="issues/search", name="search", owner="issues", effect="reads")
    )
    client.answers["jackfield/login/start"] = CoreError("nobody is there")
    async with panel(client, tab="3") as p:
        await p.until(lambda: p.pane.list.move_to("issues/search"))
        await p.until(lambda: "m sign in" in p.keys)
        await p.press(key)
        (asked,) = await p.calls("jackfield/login/start")
        assert (asked.name, asked.anew) == ("issues", False)


async def test_an_app_is_not_signed_in_to_but_linked():
    async with panel(tab="2") as p:
        await p.press("s")
        await p.toast("an app is linked on its page")
