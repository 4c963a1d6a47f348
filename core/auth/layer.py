"""The sign-in layer of a core, put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from core.auth.bearer import StoredBearer
from core.auth.client_store import ClientStore
from core.auth.credential_file import CredentialFile
from core.auth.credentials import Credentials
from core.auth.grant_locks import GrantLocks
from core.auth.grants import Grant, store_key
from core.auth.outgoing import Outgoing
from core.auth.registration import client_of
from core.auth.sender import Sender
from core.auth.sign_in import SignIns
from core.auth.token_endpoint import Client
from core.config.paths import Home
from core.ports import Deps
from core.seams import SignInTarget

if TYPE_CHECKING:
    from core.config.model import Loaded


class SignInLayer:
    """What the parts of signing in share.

    Args:
        load: The configuration without any project's; cheap, called in threads.
        tasks: Where attempts wait.
    """

    def __init__(
        self, deps: Deps, home: Home, load: Callable[[], Loaded], tasks: TaskGroup
    ) -> None:
        self.sender = Sender(http=deps.http, environ=deps.environ)
        self.credentials = Credentials(
            secrets=deps.secrets,
            file=CredentialFile(home.credentials_file),
            locks=GrantLocks(home.codex_home),
            clock=deps.clock,
            load=load,
            read_only=deps.read_only,
        )
        self.clients = ClientStore(deps.state_dir, deps.clock)
        self.bearer = StoredBearer(
            self.credentials,
            deps.clock,
            opens=self.open,
            client_of=self._client_of,
            resource_of=self._resource_of,
            lost=self.clients.remove,
        )
        self.sign_ins = SignIns(
            sender=self.sender,
            credentials=self.credentials,
            bearer=self.bearer,
            clients=self.clients,
            client_of=self._client_of,
            clock=deps.clock,
            tasks=tasks,
        )

    async def _client_of(self, target: SignInTarget, grant: Grant) -> Client:
        """The one that the grant was given to, with its secret where there is one."""
        if target.client_id == grant.client_id:
            return Client(client_id=grant.client_id, secret=target.client_secret)
        kept = await self.clients.get(grant.key)
        if kept is not None and (kept.client_id, kept.issuer) == (grant.client_id, grant.issuer):
            return client_of(kept)
        return Client(client_id=grant.client_id)

    async def open(self, target: SignInTarget) -> AsyncGenerator[Outgoing]:
        """What sends requests on behalf of a server, as the person allowed it to."""
        kept = await self.clients.get(store_key(target.server, target.url))
        opened = asynccontextmanager(self.sender.open)
        async with opened(target, allowed=kept.allowed if kept else ()) as out:
            yield out

    async def _resource_of(self, target: SignInTarget) -> str | None:
        kept = await self.clients.get(store_key(target.server, target.url))
        return target.url if kept is None or kept.sends_resource else None
