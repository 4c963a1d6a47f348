"""Signing in through a real core, against a pretended authorization server."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core.compose import open_core
from core.errors import INTERNAL, INVALID_REQUEST, CoreError
from core.method_table import METHODS
from core.ports import Deps
from core.protocol.events import LoginCompleted
from core.scope import Caller, RequestScope
from core.threads.policy import CODEX, PANEL
from tests.fakes.oauth_server import FakeOAuth

pytestmark = pytest.mark.anyio

CONFIG = f"""
mcp_oauth_credentials_store = "file"
[mcp_servers.oa]
url = "{FakeOAuth().url}"
[mcp_servers.off]
url = "{FakeOAuth().url}"
enabled = false
[mcp_servers.local]
command = "true"
[mcp_servers.corp]
url = "{FakeOAuth().url}"
auth = "ema_auth"
[mcp_servers.blocked]
url = "{FakeOAuth().url}"
"""


class Asking:
    """A client of a core, and what it was told."""

    def __init__(self, core: Any, policy: Any) -> None:
        self._core = core
        self.told: list[tuple[str, Any]] = []
        self.completed = anyio.Event()
        self._scope = RequestScope(caller=Caller(policy=policy), notify=self._tell)

    def _tell(self, method: str, params: Any) -> None:
        self.told.append((method, params))
        if method == "mcpServer/oauthLogin/completed":
            self.completed.set()

    async def ask(self, name: str, /, **params: Any) -> Any:
        method = METHODS[name]
        return await self._core.dispatcher.handle(name, method.params(**params), self._scope)


def write_home(deps: Deps, site: FakeOAuth) -> None:
    home = Path(deps.environ["CODEX_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(CONFIG)
    deps.system_dir.mkdir(parents=True, exist_ok=True)
    allowed = "".join(
        f'[mcp_servers.{name}.identity]\nurl = "{site.url}"\n' for name in ("oa", "off", "corp")
    )
    command = '[mcp_servers.local.identity]\ncommand = "true"\n'
    (deps.system_dir / "requirements.toml").write_text(allowed + command)


@asynccontextmanager
async def asking(
    deps: Deps, site: FakeOAuth, policy: Any = CODEX
) -> AsyncGenerator[tuple[Asking, Any]]:
    write_home(deps, site)
    with anyio.fail_after(20):
        async with open_core(replace(deps, http=site)) as core:
            yield Asking(core, policy), core


@pytest.mark.parametrize(
    ("params", "code", "message"),
    [
        ({"name": "zz"}, INVALID_REQUEST, "No MCP server named 'zz' found."),
        (
            {"name": "oa", "environment_id": "nope"},
            INVALID_REQUEST,
            "No MCP server named 'oa (environment nope)' found.",
        ),
        (
            {"name": "local"},
            INVALID_REQUEST,
            "OAuth login is only supported for streamable HTTP servers.",
        ),
        (
            {"name": "corp"},
            INVALID_REQUEST,
            "enterprise MCP login requires a connected thread",
        ),
        (
            {"name": "blocked"},
            INTERNAL,
            "failed to resolve MCP server runtime: the MCP server is disabled by managed "
            "requirements",
        ),
    ],
)
async def test_what_cannot_be_signed_in_to_is_refused_before_anybody_is_asked(
    deps: Deps, params: dict[str, Any], code: int, message: str
) -> None:
    site = FakeOAuth()
    async with asking(deps, site) as (client, _):
        with pytest.raises(CoreError) as caught:
            await client.ask("mcpServer/oauth/login", **params)
    assert (caught.value.code, caught.value.message) == (code, message)
    assert site.requests == []


@pytest.mark.parametrize("name", ["oa", "off"])
async def test_a_sign_in_over_the_wire_is_told_to_its_client_and_in_an_event(
    deps: Deps, name: str
) -> None:
    site = FakeOAuth()
    async with asking(deps, site) as (client, core):
        events: list[Any] = []
        core.hub.listen(events.append)
        begun = await client.ask("mcpServer/oauth/login", name=name)
        state = await client.ask("jackfield/login/state", login_id=begun.login_id)
        assert state.stage == "waiting" and state.forward.startswith("ssh -N -L ")
        pasted = await client.ask(
            "jackfield/login/paste",
            login_id=begun.login_id,
            text=site.person(begun.authorization_url),
        )
        assert pasted.accepted
        await client.completed.wait()
        known = await client.ask("jackfield/login/credentials", name=name)
    method, params = client.told[-1]
    assert method == "mcpServer/oauthLogin/completed"
    assert params.model_dump(by_alias=True) == {
        "name": name,
        "threadId": None,
        "loginId": begun.login_id,
        "success": True,
    }
    ends = [event for event in events if isinstance(event, LoginCompleted)]
    assert [(event.name, event.success) for event in ends] == [(name, True)]
    assert (known.state, known.store, known.renewable) == ("oAuth", "file", True)


async def test_a_failure_is_told_without_secrets_and_a_trail_only_to_the_panel(
    deps: Deps,
) -> None:
    site = FakeOAuth()
    del site.metadata["registration_endpoint"]
    words = "^failed to login to MCP server 'oa': Registration failed: Dynamic client"
    async with asking(deps, site) as (client, core):
        with pytest.raises(CoreError, match=words) as caught:
            await client.ask("mcpServer/oauth/login", name="oa")
        assert caught.value.data is None
        panel = Asking(core, PANEL)
        with pytest.raises(CoreError, match=words) as caught:
            await panel.ask("jackfield/login/start", name="oa")
        assert caught.value.data["trail"][0]["status"] == 401


async def test_signing_out_removes_what_the_real_one_would_find(deps: Deps) -> None:
    site = FakeOAuth()
    site.metadata["revocation_endpoint"] = f"{site.host}/revoke"
    file = Path(deps.environ["CODEX_HOME"]) / ".credentials.json"
    async with asking(deps, site, PANEL) as (client, _):
        begun = await client.ask("jackfield/login/start", name="oa")
        text = site.person(begun.url)
        paste = {"login_id": begun.login_id, "text": text}
        assert (await client.ask("jackfield/login/paste", **paste)).accepted
        assert len(json.loads(file.read_text())) == 1
        gone = await client.ask("jackfield/login/signOut", name="oa")
        assert (gone.removed, gone.revoked, gone.note) == (True, True, "")
        assert not file.exists()
        assert (await client.ask("jackfield/login/credentials", name="oa")).state == "none"
        assert len(site.revoked) == 2


async def test_whoever_wants_to_sign_in_meanwhile_joins_the_attempt_that_waits(deps: Deps) -> None:
    site = FakeOAuth()
    async with asking(deps, site, PANEL) as (client, _):
        first = await client.ask("jackfield/login/start", name="oa")
        again = await client.ask("jackfield/login/start", name="oa")
        other = await client.ask("jackfield/login/start", name="off")
        assert again.login_id == first.login_id != other.login_id
        anew = await client.ask("jackfield/login/start", name="oa", anew=True)
        assert anew.login_id != first.login_id
        stages = {
            each.login_id: each.stage
            for each in (await client.ask("jackfield/login/list")).attempts
        }
        assert stages == {
            first.login_id: "cancelled",
            other.login_id: "waiting",
            anew.login_id: "waiting",
        }


@pytest.mark.parametrize(("variable", "direct"), [("SSH_CONNECTION", True), ("TERM", False)])
async def test_a_browser_gets_an_address_without_secrets_unless_it_may_be_far_away(
    deps: Deps, variable: str, direct: bool
) -> None:
    site = FakeOAuth()
    deps = replace(deps, environ={**deps.environ, variable: "x"})
    browser: Any = deps.browser
    async with asking(deps, site, PANEL) as (client, _):
        begun = await client.ask("jackfield/login/start", name="oa")
        assert (await client.ask("jackfield/login/open", login_id=begun.login_id)).opened
        assert (browser.opened == [begun.url]) is direct
        assert ("state=" in browser.opened[0]) is direct
        await client.ask("jackfield/login/cancel", login_id=begun.login_id)
        with pytest.raises(CoreError, match="does not wait"):
            await client.ask("jackfield/login/open", login_id=begun.login_id)
