"""The sign-in layer of a core, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from core.auth.bearer import StoredBearer
from core.auth.credential_file import CredentialFile
from core.auth.credentials import Credentials
from core.auth.grant_locks import GrantLocks
from core.auth.grants import Grant
from core.auth.sender import Sender
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
    """

    def __init__(self, deps: Deps, home: Home, load: Callable[[], Loaded]) -> None:
        self.sender = Sender(http=deps.http, environ=deps.environ)
        self.credentials = Credentials(
            secrets=deps.secrets,
            file=CredentialFile(home.credentials_file),
            locks=GrantLocks(home.codex_home),
            clock=deps.clock,
            load=load,
            read_only=deps.read_only,
        )
        self.bearer = StoredBearer(
            self.credentials,
            deps.clock,
            opens=self.sender.open,
            client_of=_client_of,
            resource_of=_resource_of,
        )


async def _client_of(target: SignInTarget, grant: Grant) -> Client:
    secret = target.client_secret if target.client_id == grant.client_id else None
    return Client(client_id=grant.client_id, secret=secret)


async def _resource_of(target: SignInTarget) -> str | None:
    return target.url
