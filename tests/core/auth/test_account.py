from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from core.auth.account import KEYRING_SERVICE, Account
from core.auth.auth_file import parse_login
from core.config.paths import Home
from core.config.store import ConfigStore
from core.errors import CoreError, InternalError, InvalidRequest
from core.net.http import HttpClients
from core.ports import Deps
from core.protocol.account import AccountReadParams
from core.protocol.events import AccountChanged
from core.scope import Caller, RequestScope
from core.service.account import AccountService
from core.threads.policy import CODEX
from tests.fakes.chatgpt_backend import ChatGptBackend, auth_json, jwt, write_auth
from tests.fakes.ports import MemorySecrets
from tests.fakes.seen import Seen

pytestmark = pytest.mark.anyio
ORIGIN = "https://workspace.example"


def workspace(**members: Any) -> dict[str, Any]:
    return {
        "id": "account-1",
        "name": "Team Rocket",
        "workspace_backend_origin": ORIGIN,
        "account_routing_override": "NO_CONSTRAINT",
        **members,
    }


@dataclass
class AccountWorld:
    account: Account
    backend: ChatGptBackend
    codex_home: Path
    events: Seen[Any]

    def configure(self, text: str) -> None:
        content = f'chatgpt_base_url = "{self.backend.url}/"\n{text}'
        (self.codex_home / "config.toml").write_text(content, encoding="utf-8")

    def sign_in(self, **members: Any) -> None:
        write_auth(self.codex_home, auth_json(**members))

    def store(self, value: Any) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        (self.codex_home / "auth.json").write_text(text)

    async def read(self) -> dict[str, Any]:
        service = AccountService(self.account)
        scope = RequestScope(caller=Caller(policy=CODEX))
        result = await service.read(AccountReadParams(), scope)
        return result.model_dump(mode="json")


@asynccontextmanager
async def account_world(deps: Deps, home: Path) -> AsyncGenerator[AccountWorld]:
    events: Seen[Any] = Seen()
    configs = ConfigStore(Home.of(deps), deps)
    backend = ChatGptBackend()
    with backend.running():
        account = Account(
            deps=replace(deps, http=HttpClients({})),
            load=configs.load,
            auth_file=home / ".codex" / "auth.json",
            codex_home=home / ".codex",
            emit=events.append,
        )
        world = AccountWorld(account, backend, home / ".codex", events)
        world.configure("")
        yield world


# --- what is stored ---


@pytest.mark.parametrize(
    ("stored", "kind"),
    [
        ({"OPENAI_API_KEY": "sk-1"}, "apiKey"),
        ({"OPENAI_API_KEY": ""}, "apiKey"),
        ({**auth_json(), "OPENAI_API_KEY": "sk-1"}, "apiKey"),
        ({**auth_json(), "OPENAI_API_KEY": "sk-1", "auth_mode": "chatgpt"}, "chatgpt"),
        ({**auth_json(), "auth_mode": "apikey"}, "unknown"),
        ({**auth_json(), "auth_mode": "bogus"}, "unknown"),
        (auth_json(), "chatgpt"),
        ({}, "chatgpt"),
        ({"tokens": None}, "chatgpt"),
        ({"tokens": {"id_token": "a.b.c", "access_token": "x"}}, "unknown"),
        ({"tokens": {"access_token": "x"}}, "unknown"),
        ([], "unknown"),
    ],
)
def test_the_kind_of_sign_in_follows_from_what_is_stored(stored: Any, kind: str) -> None:
    assert parse_login(json.dumps(stored).encode()).kind == kind


def test_text_that_is_no_json_is_a_sign_in_that_cannot_be_read() -> None:
    for text in (b"{", b"", b"\xff\xfe", b"[" * 100_000):
        assert parse_login(text).kind == "unknown"


def test_the_id_tokens_claims_say_who_it_is() -> None:
    login = parse_login(json.dumps(auth_json(plan="team")).encode())
    assert (login.email, login.plan, login.user_id, login.account_id, login.workspace) == (
        "dev@example.com",
        "team",
        "user-1",
        "account-1",
        True,
    )
    stored = auth_json()
    stored["tokens"]["id_token"] = jwt(
        {
            "https://api.openai.com/profile": {"email": "profile@example.com"},
            "https://api.openai.com/auth": {"chatgpt_plan_type": "hc", "user_id": "other"},
        }
    )
    stored["tokens"]["login_owner_id"] = "login-1"
    stored["oauth_provenance"] = {"issuer": "https://auth.example", "client_id": "app_1"}
    login = parse_login(json.dumps(stored).encode())
    assert (login.email, login.plan, login.user_id) == (
        "profile@example.com",
        "enterprise",
        "other",
    )
    assert (login.login_id, login.issuer, login.client_id) == (
        "login-1",
        "https://auth.example",
        "app_1",
    )


@pytest.mark.parametrize(
    ("told", "plan", "has_own_directory"),
    [
        ("plus", "plus", False),
        ("promax", "promax", False),
        ("business", "business", True),
        ("education", "edu", True),
        ("self_serve_business_usage_based", "self_serve_business_usage_based", True),
        ("TEAM", "unknown", False),
        ("k12", "unknown", False),
        ("", "unknown", False),
    ],
)
def test_plans_that_are_not_known_are_called_so(
    told: str, plan: str, has_own_directory: bool
) -> None:
    login = parse_login(json.dumps(auth_json(plan=told)).encode())
    assert (login.plan, login.workspace) == (plan, has_own_directory)


def test_tokens_are_in_no_repr() -> None:
    login = parse_login(json.dumps(auth_json(token="secret-token")).encode())
    assert "secret-token" not in repr(login)
    assert "refresh-1" not in repr(login)


# --- where it is stored ---


async def test_the_file_is_read_again_only_when_it_has_changed(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        assert (await world.account.login()).kind == "none"
        world.sign_in(email="one@example.com")
        assert (await world.account.login()).email == "one@example.com"
        stamp = (world.codex_home / "auth.json").stat()
        first = await world.account.login()
        assert await world.account.login() is first
        world.sign_in(email="two@example.com")
        assert (await world.account.login()).email == "two@example.com"
        os.utime(world.codex_home / "auth.json", ns=(stamp.st_atime_ns, stamp.st_mtime_ns + 1))
        assert (await world.account.login()).email == "two@example.com"
        (world.codex_home / "auth.json").unlink()
        assert (await world.account.login()).kind == "none"


async def test_a_file_that_may_not_be_read_says_so(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        (world.codex_home / "auth.json").mkdir()
        login = await world.account.login()
        assert (login.kind, login.reason) == ("unknown", "Is a directory")


class BrokenSecrets(MemorySecrets):
    async def get(self, service: str, account: str) -> str | None:
        raise CoreError("it does not answer")


def entry_of(codex_home: Path) -> str:
    return "cli|" + sha256(str(codex_home.resolve()).encode()).hexdigest()[:16]


async def test_the_keyring_is_read_where_the_configuration_says_so(
    deps: Any, home: Path, secrets: MemorySecrets
) -> None:
    secrets.entries[KEYRING_SERVICE, entry_of(home / ".codex")] = json.dumps(
        auth_json(email="kept@example.com")
    )
    async with account_world(deps, home) as world:
        world.sign_in(email="file@example.com")
        assert (await world.account.login()).email == "file@example.com"
        world.configure('cli_auth_credentials_store = "keyring"')
        login = await world.account.login()
        assert (login.email, login.store) == ("kept@example.com", "keyring")
        world.configure('cli_auth_credentials_store = "auto"')
        secrets.entries.clear()
        await world.account.refresh()
        assert (await world.account.login()).email == "file@example.com"
        world.configure('cli_auth_credentials_store = "keyring"')
        assert (await world.account.login()).kind == "none"


async def test_a_keyring_that_does_not_answer_is_not_taken_for_signed_out(
    deps: Any, home: Path
) -> None:
    async with account_world(replace(deps, secrets=BrokenSecrets()), home) as world:
        world.configure('cli_auth_credentials_store = "keyring"')
        await world.account.refresh()
        row = world.account.owner.current.rows["account"]
        assert (row.kind, row.reason) == ("unknown", "the keyring: it does not answer")
        world.configure('cli_auth_credentials_store = "auto"')
        world.sign_in()
        assert (await world.account.login()).kind == "chatgpt"


# --- for the backend ---


async def test_the_backend_account_differs_with_backend_user_workspace_and_plan(
    deps: Any, home: Path
) -> None:
    async with account_world(deps, home) as world:
        seen: set[str] = set()
        for members in (
            {},
            {"user": "user-2"},
            {"account": "account-2"},
            {"plan": "team"},
            {"token": "token-2"},
        ):
            world.sign_in(**members)
            account = await world.account.backend_account()
            assert account is not None
            assert account.base_url == world.backend.url
            seen.add(account.identity)
        assert len(seen) == 4  # a renewed token is the same account
        world.store({"OPENAI_API_KEY": "sk-1"})
        assert await world.account.backend_account() is None


async def test_the_row_says_who_is_signed_in_and_where_it_is_kept(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        world.sign_in(plan="team", token="secret-token")
        assert await world.account.refresh()
        assert not await world.account.refresh()
        row = world.account.owner.current.rows["account"]
        assert (row.kind, row.email, row.plan, row.store) == (
            "chatgpt",
            "dev@example.com",
            "team",
            "auth.json",
        )
        [event] = world.events
        assert isinstance(event, AccountChanged)
        assert "secret-token" not in repr(world.events)


# --- account/read ---


async def test_nobody_and_an_api_key_need_no_request(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        nobody = {
            "account": None,
            "userId": None,
            "requiresOpenaiAuth": True,
            "workspaceRouting": None,
        }
        assert await world.read() == nobody
        world.store({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-test"})
        assert await world.read() == {**nobody, "account": {"type": "apiKey"}}
        world.store("{")
        assert await world.read() == nobody
        assert world.backend.requests == []


async def test_a_chatgpt_account_comes_with_its_workspace_asked_once(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        world.sign_in()
        world.backend.accounts = {"accounts": [{"id": "other"}, workspace()]}
        expected = {
            "account": {
                "type": "chatgpt",
                "email": "dev@example.com",
                "planType": "plus",
                "workspaceName": "Team Rocket",
            },
            "userId": "user-1",
            "requiresOpenaiAuth": True,
            "workspaceRouting": {
                "chatgptAccountId": "account-1",
                "backendOrigin": ORIGIN,
                "accountRoutingOverride": "NO_CONSTRAINT",
            },
        }
        assert await world.read() == expected
        world.backend.accounts = {}
        assert await world.read() == expected
        assert world.backend.count("/api/codex/accounts/check") == 1
        assert world.account.owner.current.rows["account"].workspace == "Team Rocket"


async def test_a_sign_in_without_a_workspace_has_no_routing(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        stored = auth_json()
        stored["tokens"]["account_id"] = None
        world.store(stored)
        read = await world.read()
        assert read["account"]["workspaceName"] is None
        assert read["workspaceRouting"] is None
        assert world.backend.requests == []


async def test_a_sign_in_without_tokens_is_refused(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        world.store({})
        with pytest.raises(InvalidRequest) as caught:
            await world.read()
        assert caught.value.message == "plan type is required for chatgpt authentication"


FAILED = "workspace routing discovery failed"
NOT_HTTPS = "workspace backend must use an HTTPS origin without credentials"


@pytest.mark.parametrize(
    ("accounts", "message"),
    [
        ({}, FAILED),
        ({"accounts": 5}, FAILED),
        ({"accounts": {"account-1": workspace()}}, FAILED),
        ({"accounts": []}, "selected workspace missing from routing discovery"),
        ({"accounts": [workspace(), workspace()]}, "duplicate workspace in routing discovery"),
        (
            {"accounts": [workspace(workspace_backend_origin=None, account_routing_override=None)]},
            "workspace routing discovery missing backend origin",
        ),
        (
            {
                "accounts": [
                    workspace(
                        workspace_backend_origin="http://127.0.0.1:5", account_routing_override="US"
                    )
                ]
            },
            "workspace routing discovery has invalid account routing override",
        ),
        ({"accounts": [workspace(workspace_backend_origin="http://127.0.0.1:5")]}, NOT_HTTPS),
        ({"accounts": [workspace(workspace_backend_origin="https://u:p@x.example")]}, NOT_HTTPS),
        (
            {"accounts": [workspace(workspace_backend_origin="nope")]},
            "invalid workspace backend URL",
        ),
        (
            {"accounts": [workspace(workspace_backend_origin="https://x.example/path")]},
            "workspace routing discovery must return an origin",
        ),
    ],
)
async def test_routing_that_cannot_be_used_fails_in_the_wires_words(
    deps: Any, home: Path, accounts: Any, message: str
) -> None:
    async with account_world(deps, home) as world:
        world.sign_in()
        world.backend.accounts = accounts
        with pytest.raises(InternalError) as caught:
            await world.read()
        assert caught.value.message == message


async def test_an_origin_is_written_without_its_default_port(deps: Any, home: Path) -> None:
    async with account_world(deps, home) as world:
        world.sign_in()
        for given, written in (
            ("https://X.example:443/", "https://x.example"),
            ("https://x.example:444", "https://x.example:444"),
        ):
            world.sign_in(user=given)
            origin = workspace(workspace_backend_origin=given, account_routing_override="us")
            world.backend.accounts = {"accounts": [origin]}
            assert (await world.read())["workspaceRouting"]["backendOrigin"] == written


MINE = 'model_provider = "mine"\n[model_providers.mine]\nname = "Mine"\n'


@pytest.mark.parametrize(
    ("config", "account", "needs"),
    [
        (MINE, None, False),
        (MINE + "requires_openai_auth = true\n", "chatgpt", True),
        ('model_provider = "ollama"', None, False),
        ('model_provider = "amazon-bedrock"', "amazonBedrock", False),
        ('model_provider = "openai"', "chatgpt", True),
    ],
)
async def test_the_model_provider_decides_whether_a_sign_in_counts(
    deps: Any, home: Path, config: str, account: str | None, needs: bool
) -> None:
    async with account_world(deps, home) as world:
        world.sign_in()
        world.configure(config)
        world.backend.accounts = {"accounts": [workspace()]}
        read = await world.read()
        assert (read["account"] or {}).get("type") == account
        assert read["requiresOpenaiAuth"] is needs
