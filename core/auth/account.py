"""Who is signed in: Codex's own sign-in as it is stored. Owner of the account row."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from core.auth.account_store import KEYRING_SERVICE, keyring_entry
from core.auth.auth_file import Login, parse_login
from core.auth.routing import Routing, discover
from core.errors import CoreError, InvalidRequest
from core.ports import Deps
from core.protocol.events import StateChanged
from core.protocol.rows import AccountRow
from core.seams import BackendAccount
from core.snapshot import SnapshotOwner

if TYPE_CHECKING:
    from core.config.model import Loaded

BASE_URL = "chatgpt_base_url"
DEFAULT_BACKEND = "https://chatgpt.com/backend-api"
ROUTING_DEADLINE = 30.0
_KEYRING_TRUSTED_FOR = 10.0
_PROVIDERS = {"openai": True, "ollama": False, "lmstudio": False, "amazon-bedrock": False}


@dataclass(frozen=True, kw_only=True)
class AccountState:
    """The answer to `account/read`, without its wire spelling.

    Attributes:
        login: The sign-in, or None where the model provider needs none.
        bedrock: The provider is Amazon's, which has an account of its own kind.
        needs_openai: The provider wants a sign-in at OpenAI.
        routing: Of the selected workspace, with a ChatGPT sign-in that names one.
    """

    login: Login | None
    bedrock: bool
    needs_openai: bool
    routing: Routing | None = None


@dataclass(frozen=True, kw_only=True)
class AccountPlace:
    """What the configuration says about signing in.

    Attributes:
        keeps: `auth.json` or `keyring`: where the next sign-in is kept.
        file: Path of the former.
        backend: URL; "" where the configuration that names it cannot be read.
        apps: Why there are no apps whoever signs in, or "".
        methods: Ways that are allowed, of `api` and `chatgpt`.
    """

    keeps: str
    file: str
    backend: str
    apps: str
    methods: tuple[str, ...]


class Account:
    """Reads the sign-in, from `auth.json` or the keyring as `cli_auth_credentials_store` says.

    The file is read again only when it has changed. A trusted project cannot send the tokens
    elsewhere: the backend's address comes from the user's and the system's layers alone.

    Emits: `AccountChanged`.

    Args:
        load: The configuration without any project's; cheap.
        auth_file: `CODEX_HOME/auth.json`.
        codex_home: Names the entry in the keyring.

    Attributes:
        given: A sign-in that a client brought; it goes before what is stored.
        renew: Refreshes what is about to end, or in any case where that is asked for; None when
            there was nothing to do.
    """

    def __init__(
        self,
        *,
        deps: Deps,
        load: Callable[[], Loaded],
        auth_file: Path,
        codex_home: Path,
        emit: Callable[[StateChanged], None],
    ) -> None:
        self.owner: SnapshotOwner[AccountRow] = SnapshotOwner("account", emit)
        self._deps, self._load, self._file = deps, load, auth_file
        self._codex_home = codex_home
        self._stamp: tuple[int, ...] | None = None
        self._stored = Login()
        self._in_keyring: tuple[float, Login | None] | None = None
        self._routing: tuple[str, Routing] | None = None
        self._ended: tuple[str, str] | None = None
        self.given: Callable[[], Login | None] = lambda: None
        self.renew: Callable[[Login, bool], Awaitable[Login | None]] | None = None

    async def login(self) -> Login:
        """The sign-in as it is stored now. Never raises: what cannot be read says so."""
        loaded = await anyio.to_thread.run_sync(self._load)
        return await self._login(loaded)

    def kind(self) -> str:
        """`none`, `apiKey` or `chatgpt`, as the file says or the keyring said last. Blocks."""
        if (given := self.given()) is not None:
            return given.kind
        login = self._read_file()
        if login.kind == "none" and self._in_keyring is not None and self._in_keyring[1]:
            login = self._in_keyring[1]
        return login.kind

    async def backend_account(self) -> BackendAccount | None:
        """The ChatGPT sign-in as the backend's methods need it, or None.

        Raises:
            CoreError: Something is stored and cannot be read, or may not be sent anywhere because
                the configuration that names the backend cannot be read.
        """
        loaded = await anyio.to_thread.run_sync(self._load)
        login = await self._login(loaded)
        if login.kind == "unknown":
            raise CoreError(f"the sign-in cannot be used: {login.reason}")
        login = await self._renewed(login)
        return backend_of(login, loaded) if login.kind == "chatgpt" else None

    async def refresh(self) -> bool:
        """Publish the row; True when it is not whom it was before."""
        self._in_keyring = None
        loaded = await anyio.to_thread.run_sync(self._load)
        login = await self._login(loaded)
        routing = self._known_routing(login, loaded)
        row = AccountRow(
            id="account",
            kind=login.kind,
            email=login.email,
            plan=login.plan,
            workspace=(routing.name or "") if routing else "",
            store=login.store,
            reason=login.reason or self._why_ended(login),
        )
        before = self.owner.current.rows.get("account")
        self.owner.publish(self.owner.begin(), (row,), at=self._deps.clock.now())
        return before != row

    async def state(self, *, fresh: bool = False) -> AccountState:
        """What `account/read` answers; with a ChatGPT sign-in the backend is asked once.

        Args:
            fresh: Get fresh tokens first; where that fails, those that are there are used.

        Raises:
            InvalidRequest: A ChatGPT sign-in without tokens.
            InternalError: The workspace's routing could not be found.
        """
        loaded = await anyio.to_thread.run_sync(self._load)
        provider = loaded.get("model_provider", default="openai")
        needs = _needs_openai(loaded, provider)
        login = await self._login(loaded)
        if fresh and needs:
            login = await self._renewed(login, forced=True)
        state = AccountState(
            login=login if needs else None, bedrock=provider == "amazon-bedrock", needs_openai=needs
        )
        if not needs or login.kind != "chatgpt":
            return state
        if not login.access_token:
            raise InvalidRequest("plan type is required for chatgpt authentication")
        if not login.account_id:
            return state
        routing = await self._route(login, loaded)
        return AccountState(login=login, bedrock=False, needs_openai=True, routing=routing)

    async def place(self) -> AccountPlace:
        """Where sign-ins are kept and used. Reads the configuration, and asks nobody."""
        loaded = await anyio.to_thread.run_sync(self._load)
        base: object = "" if loaded.illegible(BASE_URL) else loaded.get(BASE_URL)
        forced, allowed = loaded.get("forced_login_method"), loaded.requirements.login_methods
        return AccountPlace(
            keeps="keyring" if _store(loaded) in ("keyring", "auto") else self._file.name,
            file=str(self._file),
            backend=base if isinstance(base, str) else DEFAULT_BACKEND,
            apps="" if loaded.feature("apps") else "apps are off ([features] apps)",
            methods=tuple(
                each
                for each in ("api", "chatgpt")
                if forced in (None, each) and (not allowed or each in allowed)
            ),
        )

    async def _renewed(self, login: Login, *, forced: bool = False) -> Login:
        if self.renew is None or login.kind != "chatgpt":
            return login
        try:
            renewed = await self.renew(login, forced)
        except CoreError as error:
            # The backend has the last word on the tokens that are there.
            self._ended = (login.refresh_token, error.message)
            return login
        self._ended = None
        if renewed is None:
            return login
        self._in_keyring = None
        return replace(renewed, store=login.store)

    def _why_ended(self, login: Login) -> str:
        if self._ended is None or self._ended[0] != login.refresh_token:
            return ""
        return f"the tokens were not refreshed: {self._ended[1]}"

    async def _route(self, login: Login, loaded: Loaded) -> Routing:
        known = self._known_routing(login, loaded)
        if known is not None:
            return known
        account = backend_of(login, loaded)
        routing = await discover(self._deps.http, account, deadline=ROUTING_DEADLINE)
        self._routing = (account.identity, routing)
        return routing

    def _known_routing(self, login: Login, loaded: Loaded) -> Routing | None:
        if self._routing is None or login.kind != "chatgpt" or loaded.illegible(BASE_URL):
            return None
        identity, routing = self._routing
        return routing if backend_of(login, loaded).identity == identity else None

    async def _login(self, loaded: Loaded) -> Login:
        if (given := self.given()) is not None:
            return given
        store = _store(loaded)
        if store in ("keyring", "auto"):
            try:
                kept = await self._keyring_login()
            except CoreError as failure:
                if store == "keyring":
                    reason = f"the keyring: {failure.message}"
                    return Login(kind="unknown", reason=reason, store="keyring")
                kept = None
            if kept is not None or store == "keyring":
                return replace(kept, store="keyring") if kept else Login()
        return await anyio.to_thread.run_sync(self._read_file)

    def _read_file(self) -> Login:
        try:
            stat = self._file.stat()
            stamp = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
            if stamp != self._stamp:
                login = replace(parse_login(self._file.read_bytes()), store=self._file.name)
                self._stored, self._stamp = login, stamp
        except FileNotFoundError:
            self._stored, self._stamp = Login(), None
        except OSError as error:
            self._stamp = None
            self._stored = Login(kind="unknown", reason=error.strerror or "it cannot be read")
        return self._stored

    async def _keyring_login(self) -> Login | None:
        now = self._deps.clock.monotonic()
        if self._in_keyring is None or now - self._in_keyring[0] > _KEYRING_TRUSTED_FOR:
            entry = await anyio.to_thread.run_sync(keyring_entry, self._codex_home)
            secret = await self._deps.secrets.get(KEYRING_SERVICE, entry)
            self._in_keyring = (now, None if secret is None else parse_login(secret.encode()))
        return self._in_keyring[1]


def backend_of(login: Login, loaded: Loaded) -> BackendAccount:
    """A ChatGPT sign-in with the configured backend.

    Raises:
        CoreError: Nobody knows which backend that is: the tokens are sent nowhere.
    """
    if (problem := loaded.illegible(BASE_URL)) is not None:
        file = problem.evidence.file
        named = os.path.basename(file) if file else problem.evidence.layer or "the configuration"
        raise CoreError(
            f"the sign-in is not used: {named} cannot be read, so its backend is not known",
            evidence=problem.evidence,
            hint=f"mend {named}",
        )
    base = loaded.get(BASE_URL, default=DEFAULT_BACKEND)
    key: dict[str, Any] = {
        "account_id": login.account_id or None,
        "chatgpt_user_id": login.user_id or None,
        "is_workspace_account": login.workspace,
    }
    return BackendAccount(
        key=key,
        base_url=(base if isinstance(base, str) else DEFAULT_BACKEND).rstrip("/"),
        account_id=login.account_id,
        workspace=login.workspace,
        access_token=login.access_token,
    )


def _store(loaded: Loaded) -> str:
    store = loaded.get("cli_auth_credentials_store", default="file")
    return store if isinstance(store, str) else "file"


def _needs_openai(loaded: Loaded, provider: object) -> bool:
    if not isinstance(provider, str) or provider in _PROVIDERS:
        return _PROVIDERS.get(str(provider), True)
    if loaded.get("model_providers", provider) is None:
        return True
    return loaded.get("model_providers", provider, "requires_openai_auth") is True
