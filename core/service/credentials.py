"""What stored sign-ins mean for what runs: followed in the stores, told per server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import anyio

from core.auth.credentials import Credentials
from core.auth.grants import store_key
from core.auth.sign_in import SignIns
from core.config.paths import Home
from core.errors import CoreError, InvalidRequest
from core.mcp.spec import Endpoint
from core.ports import Clock
from core.protocol.login import CredentialState
from core.seams import AuthProbe, SignInTarget
from core.threads.manager import ThreadManager
from core.threads.panel import Panel

_KEYRINGS = ("keyrings/*.keyring", "kwalletd/*.kwl")


class CredentialFollower:
    """Gives running servers the credentials that are stored now, whoever stored them.

    Args:
        environ: Tells where the keyring keeps its files.
    """

    def __init__(
        self,
        sign_ins: SignIns,
        threads: ThreadManager,
        panel: Panel,
        probe: AuthProbe,
        clock: Clock,
        home: Home,
        environ: Mapping[str, str],
    ) -> None:
        self._sign_ins, self._threads, self._panel = sign_ins, threads, panel
        self._probe, self._clock, self._home, self._environ = probe, clock, home, environ
        self._turn = anyio.Lock()
        sign_ins.bearer.standings.listen(panel.rejudge)

    @property
    def _credentials(self) -> Credentials:
        return self._sign_ins.credentials

    # -- the files

    def watched_paths(self) -> Sequence[Path]:
        """Files that change when somebody signs in or out. Blocks.

        The Secret Service announces nothing that can be waited for cheaply, but its daemons write
        their files at each change.
        """
        data = Path(self._environ.get("XDG_DATA_HOME", ""))
        if not data.is_absolute():
            data = self._home.home / ".local" / "share"
        keyrings = [path for pattern in _KEYRINGS for path in sorted(data.glob(pattern))]
        return (self._home.credentials_file, *keyrings)

    def wrote(self, path: str, content: bytes | None) -> bool:
        """Whether a content of a watched file is what we wrote last. Blocks."""
        return self._credentials.wrote(path, content)

    async def follow(self) -> None:
        """Somebody has written to a store: what is different is used from now on."""
        async with self._turn:
            self._credentials.forget()
            for target in self._targets():
                how = await self._moved(target)
                if how == "first":
                    self._panel.rejudge(target.server)  # nothing runs that was authorised by it
                elif how:
                    self._sign_ins.bearer.forget(target.server, target.url)
                    self._probe.forget(target.url)
                    self._everywhere(target.server, target.url, refreshed=how == "refreshed")

    def _targets(self) -> Iterator[SignInTarget]:
        own = self._panel.thread
        for spec in tuple(own.runtime.specs.values()) if own is not None else ():
            endpoint = spec.target
            if isinstance(endpoint, Endpoint) and endpoint.sign_in and not endpoint.authorized:
                yield spec.sign_in_target(endpoint)

    async def _moved(self, target: SignInTarget) -> str:
        try:
            grant = await self._credentials.get(target.server, target.url, fresh=True)
        except CoreError:
            self._panel.rejudge(target.server)  # nobody can say, which the row is to tell
            return ""
        return self._sign_ins.bearer.standings.moved(self._credentials.key_of(target), grant)

    # -- what runs

    def stored(self, server: str, url: str, thread_id: str | None) -> None:
        """We have just signed in or out.

        Args:
            thread_id: Of the thread on whose behalf, which is started anew in any case.
        """
        self._probe.forget(url)
        own = self._panel.thread
        if thread_id is not None and (own is None or thread_id != own.id):
            try:
                self._threads.signed_in(thread_id, server)
            except InvalidRequest:
                pass  # the thread has gone meanwhile
        self._everywhere(server, url)

    def _everywhere(self, server: str, url: str, *, refreshed: bool = False) -> None:
        if refreshed:
            self._panel.refreshed(server)
        else:
            self._threads.credentials_changed(server, url)
            self._panel.signed_in(server)

    # -- for the person

    async def state(self, target: SignInTarget) -> CredentialState:
        """What is stored for a server; never the tokens. Asks the stores, and nobody else."""
        credentials, standings = self._credentials, self._sign_ins.bearer.standings
        registered = await self._sign_ins.clients.get(store_key(target.server, target.url))
        known = registered is not None and bool(registered.client_id)
        try:
            grant, store = await credentials.find(target.server, target.url)
        except CoreError as error:
            keyring = await credentials.keyring(target.server, target.url)
            return CredentialState(
                state="unknown",
                keeps=await credentials.keeps(target.server, target.url),
                reason=error.message,
                keyring=keyring.state,
                keyring_words=keyring.words,
                registered=known,
            )
        keyring = await credentials.keyring(target.server, target.url)
        keeps = await credentials.keeps(target.server, target.url)
        if grant is None:
            return CredentialState(
                state="none",
                keeps=keeps,
                keyring=keyring.state,
                keyring_words=keyring.words,
                registered=known,
            )
        usable = grant.renewable or not grant.expired(self._clock.now())
        return CredentialState(
            state="oAuth" if usable and not standings.rejected(grant) else "notLoggedIn",
            store=store,
            keeps=keeps,
            expires_at=None if grant.expires_at is None else grant.expires_at / 1000,
            refreshed_at=standings.refreshed_at.get(grant.key),
            renewable=grant.renewable,
            scopes=grant.scopes,
            missing=standings.missing(grant),
            reason=standings.why(grant) or ("" if usable else "the sign-in has expired"),
            keyring=keyring.state,
            keyring_words=keyring.words,
            registered=known,
        )
