"""Whoever signs in or out: what runs gets it."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from core import method_table as methods
from core.auth.grants import Grant, file_entry, secret_text
from core.errors import CoreError
from core.protocol.events import FileChanged
from core.protocol.jackfield import NameParams
from core.protocol.jackfield_tools import ToolCallParams
from core.protocol.threads import ThreadStartParams
from tests.fakes.mcp_http import FakeMcpHttp
from tests.fakes.ports import MemorySecrets
from tests.integration.live import Live, deps_of, live

pytestmark = pytest.mark.anyio

SPEC = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
CHALLENGE = 'Bearer error="insufficient_scope", scope="read write"'


@dataclass
class World:
    here: Live
    server: FakeMcpHttp
    home: Path
    secrets: MemorySecrets

    @property
    def file(self) -> Path:
        return self.home / ".credentials.json"

    @property
    def row(self) -> Any:
        return self.here.server("s")

    def grant(self, token: str, *, ends_in: float = 3600, **facts: Any) -> Grant:
        known: dict[str, Any] = {
            "server_name": "s",
            "server_url": self.server.url,
            "client_id": "c",
            "access_token": token,
            "expires_at": int((time.time() + ends_in) * 1000),
            "scopes": ("read",),
        }
        return Grant(**{**known, **facts})

    def sign_in(self, token: str, **facts: Any) -> None:
        """As another program does it: a new file in place of the old one."""
        grant = self.grant(token, **facts)
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps({grant.key: file_entry(grant)}))
        new.replace(self.file)

    async def until(self, status: str, auth: str) -> None:
        await self.here.until(lambda: (self.row.status, self.row.auth) == (status, auth), 5)

    def tokens(self, method: str) -> list[str]:
        return [
            seen.headers.get("authorization", "").removeprefix("Bearer ")
            for seen in self.server.of(method)
        ]


@asynccontextmanager
async def running(home: Path, tmp_path: Path, *, mode: str = "file") -> AsyncGenerator[World]:
    with FakeMcpHttp(spec=SPEC, tokens={"one", "two"}) as server:
        codex = home / ".codex"
        codex.mkdir(parents=True, exist_ok=True)
        (codex / "config.toml").write_text(
            f'mcp_oauth_credentials_store = "{mode}"\n[mcp_servers.s]\nurl = "{server.url}"\n'
        )
        secrets = MemorySecrets()
        made = replace(deps_of(home, home, tmp_path / "etc"), secrets=secrets)
        with anyio.fail_after(20):
            async with live(made) as here:
                yield World(here, server, codex, secrets)


async def test_a_sign_in_by_another_program_shows_and_works_within_a_second(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        await world.here.start(consent_all=True)
        await world.until("authenticationRequired", "unsupported")
        began = time.monotonic()
        world.sign_in("one")
        await world.until("connected", "oAuth")
        assert time.monotonic() - began < 2.0
        changed = [event for event in world.here.events if isinstance(event, FileChanged)]
        assert [(event.file, event.ours) for event in changed] == [(str(world.file), False)]


async def test_a_sign_out_by_another_program_ends_what_it_authorised(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        await world.here.start(consent_all=True)
        await world.until("connected", "oAuth")
        world.file.unlink()
        await world.until("authenticationRequired", "unsupported")


async def test_another_sign_in_begins_a_new_session_and_a_refresh_does_not(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        await world.here.start(consent_all=True)
        await world.until("connected", "oAuth")
        world.sign_in("two", ends_in=40)
        await world.here.until(lambda: world.tokens("initialize") == ["one", "two"])
        await world.until("connected", "oAuth")
        world.sign_in("one")  # in place of one that was about to end
        await world.here.until(
            lambda: sum(isinstance(event, FileChanged) for event in world.here.events) == 2
        )
        call = ToolCallParams(id="s/t")
        await world.here.client.call(methods.JACKFIELD_TOOL_CALL, call)
        assert world.tokens("tools/call") == ["one"]
        assert world.tokens("initialize") == ["one", "two"]


async def test_our_own_writes_are_known_as_ours_and_start_nothing_anew(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        await world.here.start(consent_all=True)
        await world.until("connected", "oAuth")
        gone = await world.here.client.call(methods.JACKFIELD_LOGIN_SIGN_OUT, NameParams(name="s"))
        assert gone.removed and not world.file.exists()
        await world.until("authenticationRequired", "unsupported")
        await world.here.until(lambda: any(isinstance(e, FileChanged) for e in world.here.events))
        changed = [event for event in world.here.events if isinstance(event, FileChanged)]
        assert [event.ours for event in changed] == [True]
        assert len(world.server.of("initialize")) == 2


async def test_the_keyring_is_looked_at_when_its_files_change(home: Path, tmp_path: Path) -> None:
    keyrings = home / ".local" / "share" / "keyrings"
    keyrings.mkdir(parents=True)
    (keyrings / "login.keyring").write_bytes(b"1")
    async with running(home, tmp_path, mode="keyring") as world:
        await world.here.start(consent_all=True)
        await world.until("authenticationRequired", "unsupported")
        grant = world.grant("one")
        where = ("Codex MCP Credentials", grant.key)
        world.secrets.entries[where] = secret_text(grant, time.time())
        (keyrings / "login.keyring").write_bytes(b"22")
        await world.until("connected", "oAuth")
        assert not any(isinstance(event, FileChanged) for event in world.here.events)


async def test_a_sign_in_reaches_every_thread_that_follows_at_its_next_use(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        await world.here.start(consent_all=True)
        await world.until("connected", "oAuth")
        client = world.here.client
        thread = (await client.call(methods.THREAD_START, ThreadStartParams())).thread.id
        from core.protocol.mcp import McpServerToolCallParams

        call = McpServerToolCallParams(thread_id=thread, server="s", tool="t")
        await client.call(methods.MCP_SERVER_TOOL_CALL, call)
        assert world.tokens("initialize") == ["one", "one"]
        world.sign_in("two")
        await world.here.until(lambda: world.tokens("initialize").count("two") == 1)
        await client.call(methods.MCP_SERVER_TOOL_CALL, call)
        assert world.tokens("initialize") == ["one", "one", "two", "two"]
        assert world.tokens("tools/call") == ["one", "two"]


async def test_a_server_that_wants_more_says_so_on_its_row_and_in_the_failure(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        await world.here.start(consent_all=True)
        await world.until("connected", "oAuth")
        world.server.plan["tools/call"] = 403
        world.server.extra = {"www-authenticate": CHALLENGE}
        from core.protocol.mcp import McpServerToolCallParams

        own = next(iter(world.here.tables["threads"]))
        call = McpServerToolCallParams(thread_id=own, server="s", tool="t")
        with pytest.raises(CoreError) as caught:
            await world.here.client.call(methods.MCP_SERVER_TOOL_CALL, call)
        assert caught.value.hint == "the server wants +read +write: sign in again"
        await world.here.until(lambda: "+write" in world.row.auth_reason)
        assert world.row.auth_reason == "the server wants +write: sign in again"
        state = await world.here.client.call(
            methods.JACKFIELD_LOGIN_CREDENTIALS, NameParams(name="s")
        )
        assert (state.state, state.missing) == ("oAuth", ("write",))


async def test_a_server_that_wants_more_from_the_start_waits_for_a_sign_in(
    home: Path, tmp_path: Path
) -> None:
    async with running(home, tmp_path) as world:
        world.sign_in("one")
        world.server.plan["initialize"] = 403
        world.server.extra = {"www-authenticate": CHALLENGE}
        await world.here.start(consent_all=True)
        await world.until("authenticationRequired", "oAuth")
        assert "+write" in world.row.auth_reason
