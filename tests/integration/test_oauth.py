"""Signing in at a certified authorization server, to a server that takes its tokens only."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio
import httpx
import pytest

from core import method_table as methods
from core.errors import CoreError
from core.protocol.events import LoginCompleted
from core.protocol.jackfield import NameParams
from core.protocol.jackfield_tools import ToolCallParams
from core.protocol.login import (
    CredentialState,
    LoginIdParams,
    LoginPasteParams,
    LoginStartParams,
    LoginState,
)
from tests.fakes.ports import FakeBrowser
from tests.integration.live import Live, deps_of, live
from tests.integration.oauth.world import (
    Guarded,
    Provider,
    approve_device,
    browse,
    expire,
    stored,
    write_config,
)

pytestmark = [pytest.mark.anyio, pytest.mark.needs("node")]


@dataclass
class World:
    """A panel, signed in or not."""

    here: Live
    codex: Path
    browser: FakeBrowser

    @property
    def row(self) -> Any:
        return self.here.server("g")

    async def until(self, status: str, auth: str) -> None:
        await self.here.until(lambda: (self.row.status, self.row.auth) == (status, auth))

    async def begin(self, **wishes: Any) -> LoginState:
        params = LoginStartParams(name="g", **wishes)
        return await self.here.client.call(methods.JACKFIELD_LOGIN_START, params)

    async def state(self, login_id: str) -> LoginState:
        params = LoginIdParams(login_id=login_id)
        return await self.here.client.call(methods.JACKFIELD_LOGIN_STATE, params)

    async def ended(self, login_id: str) -> LoginState:
        """Wait for the end of an attempt."""

        def told() -> bool:
            ends = [event for event in self.here.events if isinstance(event, LoginCompleted)]
            return any(event.login_id == login_id for event in ends)

        await self.here.until(told)
        return await self.state(login_id)

    async def open(self, login_id: str) -> httpx.Response:
        """Open the page with the address that browsers are given, and go on to the end."""
        params = LoginIdParams(login_id=login_id)
        assert (await self.here.client.call(methods.JACKFIELD_LOGIN_OPEN, params)).opened
        _, page = await browse(self.browser.opened[-1])
        assert page is not None
        return page

    async def paste(self, login_id: str, text: str) -> tuple[bool, str]:
        params = LoginPasteParams(login_id=login_id, text=text)
        result = await self.here.client.call(methods.JACKFIELD_LOGIN_PASTE, params)
        return result.accepted, result.reason

    async def sign_in(self, **wishes: Any) -> LoginState:
        begun = await self.begin(**wishes)
        assert (await self.open(begun.login_id)).status_code == 200
        ended = await self.ended(begun.login_id)
        assert ended.stage == "done", ended.reason
        return ended

    async def call(self, tool: str) -> Any:
        params = ToolCallParams(id=f"g/{tool}")
        return await self.here.client.call(methods.JACKFIELD_TOOL_CALL, params)

    async def whoami(self) -> str:
        return (await self.call("whoami")).content[0]["text"]

    async def credentials(self) -> CredentialState:
        params = NameParams(name="g")
        return await self.here.client.call(methods.JACKFIELD_LOGIN_CREDENTIALS, params)


@asynccontextmanager
async def panel(home: Path, server: Guarded, **config: Any) -> AsyncGenerator[World]:
    write_config(home / ".codex", server.url, **config)
    browser = FakeBrowser()
    deps = replace(deps_of(home, home, home / "etc"), browser=browser)
    with anyio.fail_after(60):
        async with live(deps) as here:
            await here.start(consent_all=True)
            yield World(here, home / ".codex", browser)


def redirect_of(begun: LoginState) -> str:
    return parse_qs(urlsplit(begun.url).query)["redirect_uri"][0]


async def test_the_first_sign_in_connects_the_server_that_asked_for_it(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.until("authenticationRequired", "notLoggedIn")
        ended = await world.sign_in()
        assert (ended.store, ended.scopes) == ("file", ("mcp:read", "offline_access"))
        await world.until("connected", "oAuth")
        assert await world.whoami() == "alice mcp:read"
        known = await world.credentials()
        assert known.renewable and known.registered and known.scopes == ("mcp:read",)
    link = urlsplit(world.browser.opened[0])
    assert link.hostname == "127.0.0.1" and link.query == ""
    assert oct((world.codex / ".credentials.json").stat().st_mode & 0o777) == "0o600"


async def test_a_restart_with_an_expired_token_refreshes_and_opens_no_browser(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.sign_in()
    expire(world.codex)
    people = len(provider.events("person"))
    async with panel(home, server) as world:
        await world.until("connected", "oAuth")
        assert await world.whoami() == "alice mcp:read"
        assert (await world.credentials()).refreshed_at is not None
    assert len(provider.events("person")) == people and world.browser.opened == []
    assert len(provider.events("grant.success", kind="refresh_token")) == 1


async def test_whoever_says_no_is_told_so_and_nothing_is_stored(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start(person="denies")
    async with panel(home, server) as world:
        begun = await world.begin()
        page = await world.open(begun.login_id)
        assert page.status_code == 400 and "refused" in page.text
        ended = await world.ended(begun.login_id)
    assert (ended.stage, ended.reason) == ("failed", "OAuth provider returned `access_denied`")
    assert stored(world.codex) == {}


async def test_nobody_comes(home: Path, server: Guarded, provider: Provider) -> None:
    provider.start(person="hesitates")
    async with panel(home, server) as world:
        begun = await world.begin(timeout_secs=1)
        await world.open(begun.login_id)
        ended = await world.ended(begun.login_id)
    assert (ended.stage, ended.reason) == ("failed", "timed out waiting for OAuth callback")


@pytest.mark.parametrize(
    ("over", "why"),
    [
        ({"state": "guessed"}, "it belongs to another sign-in (state)"),
        ({"iss": "https://evil.example"}, "it comes from another authorization server (iss)"),
        ({"iss": None}, "it does not name its authorization server (iss)"),
    ],
)
async def test_a_forged_answer_is_not_taken_and_the_right_one_still_is(
    home: Path, server: Guarded, provider: Provider, over: dict[str, str | None], why: str
) -> None:
    provider.start()
    async with panel(home, server) as world:
        begun = await world.begin()
        right, _ = await browse(begun.url, stop_at=redirect_of(begun))
        members = {key: values[0] for key, values in parse_qs(urlsplit(right).query).items()}
        wrong = {key: value for key, value in (members | over).items() if value is not None}
        _, page = await browse(f"{redirect_of(begun)}?{urlencode(wrong)}")
        assert page is not None and page.status_code == 400
        state = await world.state(begun.login_id)
        assert (state.stage, state.rejected) == ("waiting", why)
        assert await world.paste(begun.login_id, f"?{urlencode(wrong)}") == (False, why)
        assert await world.paste(begun.login_id, right) == (True, "")
        await world.until("connected", "oAuth")


async def test_a_registration_that_the_server_lost_is_made_anew(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.sign_in()
        provider.stop()
        provider.start()  # it keeps everything in memory
        ended = await world.sign_in()
        assert any(step.verb == "GET" and step.status == 400 for step in ended.trail)
        await world.until("connected", "oAuth")
        assert await world.whoami() == "alice mcp:read"
    assert len(provider.events("registration_create.success")) == 2


async def test_a_tool_that_needs_more_is_reached_by_asking_for_the_difference(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.sign_in()
        await world.until("connected", "oAuth")
        assert (await world.call("admin")).outcome == "failed"
        await world.here.until(lambda: "+mcp:write" in world.row.auth_reason)
        begun = await world.begin()
        assert (begun.scopes_before, begun.missing) == (("mcp:read",), ("mcp:write",))
        assert set(begun.scopes) == {"mcp:read", "mcp:write", "offline_access"}
        await world.open(begun.login_id)
        assert (await world.ended(begun.login_id)).stage == "done"
        await world.here.until(
            lambda: world.row.status == "connected" and not world.row.auth_reason
        )
        assert (await world.call("admin")).content[0]["text"] == "done"
    assert len(provider.events("registration_create.success")) == 1


async def test_a_code_typed_in_elsewhere_signs_in_here(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        begun = await world.begin(device=True)
        assert begun.device is not None and begun.device.user_code
        assert begun.device.page.startswith(server.issuer)
        await approve_device(begun.device.page_with_code)
        ended = await world.ended(begun.login_id)
        assert ended.stage == "done", ended.reason
        await world.until("connected", "oAuth")
        assert (await world.whoami()).startswith("alice")


async def test_signing_out_revokes_what_was_granted(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.sign_in()
        await world.until("connected", "oAuth")
        before = stored(world.codex)
        result = await world.here.client.call(
            methods.JACKFIELD_LOGIN_SIGN_OUT, NameParams(name="g")
        )
        assert (result.removed, result.revoked, result.note) == (True, True, "")
        await world.until("authenticationRequired", "notLoggedIn")
    form = {
        "grant_type": "refresh_token",
        "refresh_token": before["refresh_token"],
        "client_id": before["client_id"],
    }
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.post(f"{server.issuer}/token", data=form)
    assert answer.json()["error"] == "invalid_grant"
    assert not (world.codex / ".credentials.json").exists()


async def test_without_dynamic_registration_a_client_id_is_asked_for_and_used(
    home: Path, server: Guarded, provider: Provider
) -> None:
    # Below the range that outgoing connections are given.
    port = 20_000 + server.port % 10_000
    client = {
        "client_id": "known-here",
        "redirect_uris": [f"http://127.0.0.1:{port}/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "application_type": "native",
    }
    provider.start(registration=False, clients=[client])
    async with panel(home, server) as world:
        with pytest.raises(CoreError, match="registration not supported") as caught:
            await world.begin()
        assert "client id" in caught.value.hint and "/callback" in caught.value.hint
    oauth = f'oauth = {{ client_id = "known-here", callback_port = {port} }}\n'
    async with panel(home, server, more=oauth) as world:
        await world.sign_in()
        await world.until("connected", "oAuth")
    assert stored(world.codex)["client_id"] == "known-here"


async def test_an_outage_of_the_token_endpoint_logs_nobody_out(
    home: Path, server: Guarded, provider: Provider
) -> None:
    provider.start()
    async with panel(home, server) as world:
        await world.sign_in()
    before = stored(world.codex)
    expire(world.codex)
    provider.token_endpoint_answers(503)
    async with panel(home, server) as world:
        await world.here.until(lambda: world.row.auth == "oAuth" and world.row.auth_reason)
        assert "HTTP 503" in world.row.auth_reason
        assert stored(world.codex)["refresh_token"] == before["refresh_token"]
        provider.token_endpoint_answers(0)
        await world.until("connected", "oAuth")
        assert stored(world.codex)["refresh_token"] != before["refresh_token"]
