"""Signing the account in and out through a real core, against an issuer on a loopback port."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
from collections.abc import AsyncGenerator
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
from core.errors import INTERNAL, INVALID_REQUEST, CoreError
from core.method_table import METHODS
from core.net.http import HttpClients
from core.ports import Deps
from core.protocol.events import LoginCompleted
from core.protocol.jackfield_account import AccountLoginParams
from core.scope import Caller, RequestScope
from core.threads.policy import CODEX
from tests.fakes.account_issuer import FAR, AccountIssuerSite
from tests.fakes.chatgpt_backend import jwt
from tests.fakes.ports import BrokenSecrets, FakeBrowser, FakeClock, MemorySecrets
from tests.fakes.seen import Seen

pytestmark = pytest.mark.anyio
CODEX_BIN = Path("/opt/codex/node_modules/.bin/codex")
ENTRY_SERVICE = "Codex Auth"


@dataclass
class Client:
    """A client of a core, and what it was told."""

    core: Any
    site: AccountIssuerSite
    home: Path
    told: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    stirred: anyio.Event = field(default_factory=anyio.Event)
    later: list[Any] = field(default_factory=list[Any])

    async def ask(self, name: str, /, **params: Any) -> Any:
        method = METHODS[name]
        scope = RequestScope(
            caller=Caller(policy=CODEX, name="tester"),
            notify=self._tell,
            after_answer=self.later.append,
        )
        result = await self.core.dispatcher.handle(name, method.params(**params), scope)
        later, self.later = self.later, []
        for do in later:
            do()
        return result.model_dump(mode="json") if hasattr(result, "model_dump") else result

    def _tell(self, name: str, params: Any) -> None:
        self.told.append((name, params))
        self.stirred.set()

    async def until(self, name: str, count: int = 1) -> dict[str, Any]:
        while len(found := [params for told, params in self.told if told == name]) < count:
            self.stirred = anyio.Event()
            await self.stirred.wait()
        return found[count - 1].model_dump(mode="json")

    @property
    def auth_file(self) -> Path:
        return self.home / "auth.json"

    @property
    def stored(self) -> dict[str, Any]:
        return json.loads(self.auth_file.read_text())

    def configure(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    async def arrive(self, url: str, **members: str) -> tuple[int, str]:
        """Do what a browser does after the issuer has sent it back."""
        asked = query_of(url)
        query = {"state": asked["state"], **members}
        async with httpx.AsyncClient(trust_env=False) as browser:
            answer = await browser.get(asked["redirect_uri"], params=query)
        return answer.status_code, answer.text


def query_of(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query))


def write_home(home: Path, config: str) -> None:
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(config)


@asynccontextmanager
async def signing(deps: Deps, config: str = "", **changed: Any) -> AsyncGenerator[Client]:
    site = AccountIssuerSite()
    home = Path(deps.environ["CODEX_HOME"])
    write_home(home, config)
    with site.running(), anyio.fail_after(20):
        environ = {**deps.environ, **site.environ}
        own = replace(deps, http=HttpClients({}), environ=environ, **changed)
        async with open_core(own) as core:
            yield Client(core, site, home)


async def refused(client: Client, /, **params: Any) -> tuple[int, str]:
    with pytest.raises(CoreError) as error:
        await client.ask("account/login/start", **params)
    return error.value.code, error.value.message


# --- API key ---


async def test_an_api_key_is_kept_as_codex_keeps_it_and_told_after_the_answer(deps: Deps) -> None:
    async with signing(deps) as client:
        answer = await client.ask("account/login/start", type="apiKey", api_key="sk-1")
        assert answer == {"type": "apiKey"}
        assert client.stored == {"auth_mode": "apikey", "OPENAI_API_KEY": "sk-1"}
        assert stat.S_IMODE(client.auth_file.stat().st_mode) == 0o600
        assert await client.until("account/login/completed") == {
            "loginId": None,
            "success": True,
            "error": None,
            "onboardingEntrypoint": None,
        }
        updated = {"authMode": "apikey", "planType": None, "reason": None}
        assert await client.until("account/updated") == updated
        await client.ask("account/logout")
        assert not client.auth_file.exists()
        updated = {"authMode": None, "planType": None, "reason": None}
        assert await client.until("account/updated", 2) == updated
        assert client.site.requests == []


async def test_missing_members_are_named(deps: Deps) -> None:
    async with signing(deps) as client:
        assert await refused(client, type="apiKey") == (
            INVALID_REQUEST,
            "Invalid request: missing field `apiKey`",
        )


def test_the_key_is_in_no_repr() -> None:
    assert "sk-1" not in repr(AccountLoginParams(way="key", key="sk-1"))
    params = METHODS["account/login/start"].params(type="apiKey", api_key="sk-1")
    assert "sk-1" not in repr(params)


# --- browser ---


async def test_a_browser_signs_in_and_the_sign_in_owns_what_enterprise_servers_ask_for(
    deps: Deps,
) -> None:
    async with signing(deps) as client:
        begun = await client.ask("account/login/start", type="chatgpt")
        asked = query_of(begun["authUrl"])
        assert asked["redirect_uri"] in (
            "http://127.0.0.1:1455/auth/callback",
            "http://127.0.0.1:1457/auth/callback",
        )
        assert asked["originator"] == "tester"
        assert (await client.arrive(begun["authUrl"], code="c1", state="other"))[0] == 400
        status, page = await client.arrive(begun["authUrl"], code="c1")
        assert (status, page) == (200, "Authentication complete. You may close this window.")
        done = await client.until("account/login/completed")
        assert (done["loginId"], done["success"]) == (begun["loginId"], True)
        updated = {"authMode": "chatgpt", "planType": "plus", "reason": None}
        assert await client.until("account/updated") == updated
        stored = client.stored
        assert (stored["auth_mode"], stored["OPENAI_API_KEY"]) == ("chatgpt", "sk-exchanged")
        tokens = stored["tokens"]
        assert tokens["oauth_provenance"] == {
            "issuer": client.site.url,
            "client_id": "app_EMoamEEZ73f0CkXaXp7hrann",
        }
        assert len(tokens["login_owner_id"]) == 43
        assert (tokens["account_id"], tokens["refresh_token"]) == ("account-1", "refresh-1")
        redeemed = client.site.asked("/oauth/token")[0]
        assert (redeemed["code"], redeemed["redirect_uri"]) == ("c1", asked["redirect_uri"])
        facts = await client.ask("jackfield/account/facts")
        assert (facts.email, facts.store, facts.owner) == ("dev@example.com", "auth.json", True)


@pytest.mark.skipif(not CODEX_BIN.exists(), reason="Codex is not there")
async def test_codex_takes_the_sign_ins_that_are_made_here(deps: Deps) -> None:
    def status(home: Path) -> str:
        environ = {"PATH": os.environ["PATH"], "HOME": str(home), "CODEX_HOME": str(home)}
        done = subprocess.run(
            [CODEX_BIN, "login", "status"], env=environ, capture_output=True, text=True, timeout=60
        )
        return done.stdout + done.stderr

    async with signing(deps) as client:
        begun = await client.ask("account/login/start", type="chatgpt")
        await client.arrive(begun["authUrl"], code="c1")
        await client.until("account/updated")
        assert "Logged in using ChatGPT" in await anyio.to_thread.run_sync(status, client.home)
        await client.ask("account/login/start", type="apiKey", api_key="sk-proj-0123456789")
        told = await anyio.to_thread.run_sync(status, client.home)
        assert "API key configured" in told


async def test_a_refusal_ends_the_attempt_in_the_wires_words(deps: Deps) -> None:
    async with signing(deps) as client:
        begun = await client.ask("account/login/start", type="chatgpt")
        members = {"error": "access_denied", "error_description": "no"}
        assert (await client.arrive(begun["authUrl"], **members))[0] == 400
        done = await client.until("account/login/completed")
        assert done["error"] == "Login server error: Sign-in failed: no"
        assert not client.auth_file.exists()


async def test_a_second_start_takes_the_place_of_the_first(deps: Deps) -> None:
    async with signing(deps) as client:
        first = await client.ask("account/login/start", type="chatgpt")
        second = await client.ask("account/login/start", type="chatgpt")
        done = await client.until("account/login/completed")
        assert (done["loginId"], done["error"]) == (
            first["loginId"],
            "Login server error: Login cancelled",
        )
        ports = [
            urlsplit(query_of(each["authUrl"])["redirect_uri"]).port for each in (first, second)
        ]
        assert ports[0] == ports[1]
        assert (await client.arrive(second["authUrl"], code="c2"))[0] == 200


async def test_a_cancelled_attempt_frees_its_port_and_says_so(deps: Deps) -> None:
    async with signing(deps) as client:
        begun = await client.ask("account/login/start", type="chatgpt")
        cancelled = await client.ask("account/login/cancel", login_id=begun["loginId"])
        assert cancelled == {"status": "canceled"}
        done = await client.until("account/login/completed")
        assert done["error"] == "Login server error: Login was not completed"
        again = await client.ask("account/login/cancel", login_id=begun["loginId"])
        assert again == {"status": "notFound"}
        with pytest.raises(CoreError, match="invalid login id: x"):
            await client.ask("account/login/cancel", login_id="x")
        with pytest.raises(httpx.ConnectError):
            await client.arrive(begun["authUrl"], code="late")


async def test_tokens_that_cannot_be_read_are_not_stored(deps: Deps) -> None:
    async with signing(deps) as client:
        for answer in ((200, {"id_token": "x"}), (500, b"<html>"), (200, b"{")):
            client.site.answers["/oauth/token"] = answer
            begun = await client.ask("account/login/start", type="chatgpt")
            assert (await client.arrive(begun["authUrl"], code="c1"))[0] == 400
            await client.until("account/login/completed", 1)
            client.told.clear()
        assert not client.auth_file.exists()


async def test_only_the_allowed_workspace_is_taken(deps: Deps) -> None:
    async with signing(deps, 'forced_chatgpt_workspace_id = "account-9"\n') as client:
        begun = await client.ask("account/login/start", type="chatgpt")
        assert "allowed_workspace_id=account-9" in begun["authUrl"]
        assert (await client.arrive(begun["authUrl"], code="c1"))[0] == 400
        done = await client.until("account/login/completed")
        assert "restricted to workspace id account-9" in done["error"]
        assert not client.auth_file.exists()


@pytest.mark.parametrize(
    ("forced", "params", "words"),
    [
        (
            "chatgpt",
            {"type": "apiKey", "api_key": "k"},
            "API key login is disabled. Use ChatGPT login instead.",
        ),
        (
            "api",
            {"type": "chatgpt"},
            "ChatGPT login is disabled. Use API key login instead.",
        ),
    ],
)
async def test_a_forced_method_forbids_the_others(
    deps: Deps, forced: str, params: dict[str, Any], words: str
) -> None:
    async with signing(deps, f'forced_login_method = "{forced}"\n') as client:
        assert await refused(client, **params) == (INVALID_REQUEST, words)


async def test_nothing_is_begun_read_only(deps: Deps) -> None:
    async with signing(deps, read_only=True) as client:
        code, words = await refused(client, type="chatgpt")
        assert (code, words) == (INVALID_REQUEST, "Jackfield was started read-only")
        assert (await refused(client, type="apiKey", api_key="k"))[0] == INVALID_REQUEST
        assert not client.auth_file.exists()


# --- device code ---


async def test_a_device_code_is_asked_about_until_it_is_granted(deps: Deps) -> None:
    async with signing(deps) as client:
        client.site.pending = 2
        begun = await client.ask("account/login/start", type="chatgptDeviceCode")
        assert begun["userCode"] == "ABCD-1234"
        assert begun["verificationUrl"] == f"{client.site.url}/codex/device"
        assert (await client.until("account/login/completed"))["success"]
        assert len(client.site.asked("/api/accounts/deviceauth/token")) == 3
        redeemed = client.site.asked("/oauth/token")[0]
        assert (redeemed["code"], redeemed["code_verifier"]) == ("code-d", "ver")
        assert client.stored["OPENAI_API_KEY"] is None


async def test_an_issuer_without_device_codes_is_named_as_that(deps: Deps) -> None:
    async with signing(deps) as client:
        client.site.answers["/api/accounts/deviceauth/usercode"] = (404, {})
        code, words = await refused(client, type="chatgptDeviceCode")
        assert code == INTERNAL
        assert words.startswith("device code login is not enabled for this Codex server.")


# --- given tokens ---


def given_token() -> str:
    auth = {"chatgpt_plan_type": "plus", "chatgpt_user_id": "u", "chatgpt_account_id": "a"}
    return jwt({"email": "x@e.com", "exp": FAR, "https://api.openai.com/auth": auth})


async def test_given_tokens_stay_in_memory_and_keep_other_logins_out(deps: Deps) -> None:
    async with signing(deps) as client:
        await client.ask(
            "account/login/start",
            type="chatgptAuthTokens",
            access_token=given_token(),
            chatgpt_account_id="a",
            chatgpt_plan_type="team",
        )
        updated = {"authMode": "chatgptAuthTokens", "planType": "team", "reason": None}
        assert await client.until("account/updated") == updated
        assert not client.auth_file.exists()
        code, words = await refused(client, type="apiKey", api_key="k")
        assert (code, words[:24]) == (INVALID_REQUEST, "External auth is active.")
        facts = await client.ask("jackfield/account/facts")
        assert (facts.email, facts.plan, facts.store) == ("x@e.com", "team", "memory")
        await client.ask("account/logout")
        assert (await client.ask("jackfield/account/facts")).kind == "none"


async def test_given_text_that_is_no_token_is_refused(deps: Deps) -> None:
    async with signing(deps) as client:
        params = {"access_token": "a.b.c", "chatgpt_account_id": "a"}
        assert await refused(client, type="chatgptAuthTokens", **params) == (
            INTERNAL,
            "failed to set external auth: invalid ID token format",
        )


# --- signing out ---


async def test_signing_out_revokes_and_removes_even_where_revoking_fails(deps: Deps) -> None:
    async with signing(deps) as client:
        answers: list[tuple[int, Any]] = [(200, {}), (503, b"down")]
        for answer in answers:
            client.site.answers["/oauth/revoke"] = answer
            client.auth_file.write_text(json.dumps({"tokens": client.site.tokens()}))
            result = await client.ask("jackfield/account/logout")
            assert result.removed
            assert ("HTTP 503" in result.note) == (answer[0] == 503)
            assert not client.auth_file.exists()
        revoked = client.site.asked("/oauth/revoke")
        assert revoked[0]["token"] == "refresh-1"


# --- the keyring ---


async def test_with_a_keyring_the_document_lies_there_and_in_no_file(deps: Deps) -> None:
    secrets = MemorySecrets()
    config = 'cli_auth_credentials_store = "keyring"\n'
    async with signing(deps, config, secrets=secrets) as client:
        client.auth_file.write_text("{}")
        await client.ask("account/login/start", type="apiKey", api_key="sk-1")
        assert not client.auth_file.exists()
        ((service, entry),) = secrets.entries
        assert service == ENTRY_SERVICE and entry.startswith("cli|")
        assert json.loads(secrets.entries[service, entry])["OPENAI_API_KEY"] == "sk-1"
        assert (await client.ask("account/read"))["account"] == {"type": "apiKey"}
        await client.ask("account/logout")
        assert not secrets.entries


async def test_without_a_keyring_auto_falls_back_to_the_file_and_keyring_says_why(
    deps: Deps,
) -> None:
    broken = BrokenSecrets()
    async with signing(deps, 'cli_auth_credentials_store = "auto"\n', secrets=broken) as client:
        await client.ask("account/login/start", type="apiKey", api_key="sk-1")
        assert client.stored["OPENAI_API_KEY"] == "sk-1"
        client.configure('cli_auth_credentials_store = "keyring"\n')
        code, words = await refused(client, type="apiKey", api_key="sk-2")
        assert code == INTERNAL
        assert words == (
            "failed to write the sign-in to the keyring: there is no keyring on this machine"
        )
        assert client.stored["OPENAI_API_KEY"] == "sk-1"


# --- fresh tokens ---


def old(site: AccountIssuerSite, **members: Any) -> dict[str, Any]:
    tokens = {**site.tokens(access_ends=10), "account_id": "account-1", "kept": "by others"}
    return {"auth_mode": "chatgpt", "tokens": tokens, "of_others": 1, **members}


async def test_who_asks_at_once_shares_one_refresh_that_keeps_what_others_have_stored(
    deps: Deps,
) -> None:
    async with signing(deps) as client:
        client.auth_file.write_text(json.dumps(old(client.site)))
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(read_quietly, client)
        assert client.site.refreshes == 1
        assert client.stored["of_others"] == 1
        assert client.stored["tokens"]["kept"] == "by others"
        assert client.stored["tokens"]["refresh_token"] == "refresh-2"


async def read_quietly(client: Client) -> None:
    try:
        await client.ask("account/read", refresh_token=True)
    except CoreError:
        return  # there is no backend here: routing is not what this is about


async def test_what_another_program_refreshed_meanwhile_is_taken_and_nobody_asked(
    deps: Deps,
) -> None:
    async with signing(deps) as client:
        client.auth_file.write_text(json.dumps(old(client.site)))
        lock = os.open(client.home / "auth.lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_quietly, client)
            with anyio.move_on_after(0.2):
                await client.until("never")
            assert client.site.refreshes == 0
            theirs = old(client.site)
            theirs["tokens"] = {**client.site.tokens(refresh="theirs"), "account_id": "account-1"}
            client.auth_file.write_text(json.dumps(theirs))
            os.close(lock)
        assert client.site.refreshes == 0
        assert client.stored["tokens"]["refresh_token"] == "theirs"


async def test_a_refresh_token_that_is_spent_is_not_sent_again_and_the_row_says_so(
    deps: Deps,
) -> None:
    async with signing(deps) as client:
        error = {"error": {"code": "refresh_token_reused", "message": "refresh-1 was used"}}
        client.site.answers["/oauth/token"] = (401, error)
        client.auth_file.write_text(json.dumps(old(client.site)))
        before = client.auth_file.read_bytes()
        await read_quietly(client)
        await read_quietly(client)
        assert len(client.site.asked("/oauth/token")) == 1
        assert client.auth_file.read_bytes() == before
        await client.ask("jackfield/refresh", domain="account")
        while not (facts := await client.ask("jackfield/account/facts")).reason:
            await anyio.lowlevel.checkpoint()
        assert "not refreshed" in facts.reason and "refresh-1" not in facts.reason


# --- the panel ---


async def test_the_browser_gets_an_address_that_leads_to_the_page_once(deps: Deps) -> None:
    browser = FakeBrowser()
    async with signing(deps, browser=browser) as client:
        begun = await client.ask("jackfield/account/login", way="browser")
        same = await client.ask("jackfield/account/login", way="browser")
        assert begun.login_id == same.login_id
        assert (await client.ask("jackfield/account/open")).opened
        (address,) = browser.opened
        assert "state=" not in address
        async with httpx.AsyncClient(trust_env=False) as web:
            answer = await web.get(address)
        assert (answer.status_code, answer.headers["location"]) == (302, begun.url)
        events: Seen[Any] = Seen()
        client.core.hub.listen(events.append)
        await client.ask("jackfield/account/cancel")
        ended = [event for event in events if isinstance(event, LoginCompleted)]
        assert [(event.of, event.success) for event in ended] == [("account", False)]
        assert (await client.ask("jackfield/account/state")).stage == "cancelled"


async def test_an_attempt_ends_by_itself(deps: Deps) -> None:
    clock = FakeClock()
    async with signing(deps, clock=clock) as client:
        state = await client.ask("jackfield/account/login", way="browser")
        assert state.ends_at - clock.now() == 600
        assert state.forward.startswith("ssh -N -L ")
