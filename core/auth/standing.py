"""What has become known of stored grants while they were used; kept in memory only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256

from core.auth.grants import Grant
from core.errors import CoreError, SignInNeeded
from core.ports import Clock

PATIENCE = 20.0
"""Seconds for which a status does not try again what has just failed."""
SOON = 60.0
"""Seconds before its end at which a grant is replaced because it ends."""


@dataclass(frozen=True)
class Verdict:
    """How the last attempt to refresh a grant ended. `at`: monotonic seconds."""

    grant: str
    error: CoreError
    at: float


@dataclass(frozen=True)
class _Wanted:
    """Scopes that a server missed in a grant. `asked`: a sign-in has asked for them in vain."""

    grant: str
    scopes: tuple[str, ...]
    asked: bool


class Standings:
    """By store key.

    Attributes:
        refreshed_at: Seconds since the epoch of the last refresh here.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._verdicts: dict[str, Verdict] = {}
        self._rejected: dict[str, str] = {}
        self._wanted: dict[str, _Wanted] = {}
        self._asked: dict[str, frozenset[str]] = {}
        self._noted: dict[str, tuple[str, int | None]] = {}
        self._listeners: list[Callable[[str], None]] = []
        self.refreshed_at: dict[str, float] = {}

    def listen(self, heard: Callable[[str], None]) -> None:
        """Be told the server's name when something has become known."""
        self._listeners.append(heard)

    def _tell(self, key: str) -> None:
        for heard in self._listeners:
            heard(key.rpartition("|")[0])

    # -- refreshing

    def verdict(self, grant: Grant) -> Verdict | None:
        """On this very grant."""
        verdict = self._verdicts.get(grant.key)
        return verdict if verdict is not None and verdict.grant == digest(grant) else None

    def settled(self, grant: Grant) -> Verdict | None:
        """A verdict that a mere question about the status does not put to the test again."""
        verdict = self.verdict(grant)
        if verdict is None or self._clock.monotonic() - verdict.at > PATIENCE:
            return None
        return verdict

    def judged(self, grant: Grant, error: CoreError) -> CoreError:
        """It could not be refreshed."""
        known = self.verdict(grant)
        self._verdicts[grant.key] = Verdict(digest(grant), error, self._clock.monotonic())
        if known is None or known.error.message != error.message:
            self._tell(grant.key)
        return error

    def renewed(self, grant: Grant) -> None:
        """It is the refreshed one."""
        self._verdicts.pop(grant.key, None)
        self._rejected.pop(grant.key, None)
        if (wanted := self._wanted.get(grant.key)) is not None:
            # Refreshing widens nothing: what was missing still is.
            self._wanted[grant.key] = _Wanted(digest(grant), wanted.scopes, wanted.asked)
        self.refreshed_at[grant.key] = self._clock.now()
        self.note(grant.key, grant)
        self._tell(grant.key)

    # -- what servers say

    def reject(self, grant: Grant) -> None:
        """The server does not take its token, and there is no other."""
        if not self.rejected(grant):
            self._rejected[grant.key] = digest(grant)
            self._tell(grant.key)

    def rejected(self, grant: Grant) -> bool:
        """The server does not take its token."""
        return self._rejected.get(grant.key) == digest(grant)

    def want(self, grant: Grant, scopes: Iterable[str]) -> None:
        """The server misses scopes in it."""
        before, now = self._wanted.get(grant.key), digest(grant)
        known = before.scopes if before is not None and before.grant == now else ()
        together = tuple(dict.fromkeys((*known, *scopes)))
        asked = self._asked.get(grant.key, frozenset[str]()) >= frozenset(together)
        wanted = _Wanted(now, together, asked)
        if wanted != before:
            self._wanted[grant.key] = wanted
            self._tell(grant.key)

    def missing(self, grant: Grant) -> tuple[str, ...]:
        """What the server wants beyond what was granted."""
        wanted = self._wanted.get(grant.key)
        if wanted is None or wanted.grant != digest(grant):
            return ()
        return tuple(scope for scope in wanted.scopes if scope not in grant.scopes)

    def why(self, grant: Grant) -> str:
        """What there is to say about it, for people; "" when nothing is."""
        if self.rejected(grant):
            return "the server does not take the token: sign in again"
        verdict = self.verdict(grant)
        if verdict is not None and isinstance(verdict.error, SignInNeeded):
            return _ended(verdict.error.message)
        wanted = self._wanted.get(grant.key)
        if wanted is not None and wanted.grant == digest(grant):
            return _wants(self.missing(grant), wanted)
        return verdict.error.message if verdict is not None else ""

    # -- signing in and out

    def asked(self, key: str, scopes: Iterable[str]) -> None:
        """A sign-in asks for these."""
        self._asked[key] = frozenset(scopes)

    def forget(self, key: str) -> None:
        """Something else is stored now, by us or by others."""
        self._verdicts.pop(key, None)
        self._rejected.pop(key, None)
        self._wanted.pop(key, None)

    def note(self, key: str, grant: Grant | None) -> None:
        """This is what is stored, and everybody knows."""
        self._noted[key] = ("", None) if grant is None else (digest(grant), grant.expires_at)

    def used(self, key: str, grant: Grant | None) -> None:
        """This is what the first request went out with, or without."""
        if key not in self._noted:
            self.note(key, grant)

    def moved(self, key: str, grant: Grant | None) -> str:
        """What has become of an entry since it was noted, and note it.

        Returns:
            "" when nothing has, `first` where nothing was noted before, `gone`, `refreshed` when
            a grant that was about to end has made way for another, else `replaced`.
        """
        before = self._noted.get(key)
        self.note(key, grant)
        if before == self._noted[key]:
            return ""
        if before is None:
            return "first"
        if grant is None:
            return "gone"
        ended = before[1] is not None and self._clock.now() + SOON >= before[1] / 1000
        return "refreshed" if before[0] and ended else "replaced"


def _ended(message: str) -> str:
    if message == "Token expired":
        return "the sign-in has expired: sign in again"
    if "issuer" in message:
        return "the authorization server is another one now: sign in again"
    return "the authorization server refuses to renew it: sign in again"


def _wants(missing: tuple[str, ...], wanted: _Wanted) -> str:
    from core.net.challenge import wanted as shown

    if not missing:
        return "the server refuses what was granted"
    if wanted.asked:
        return f"the server wants {shown(missing)}, which was asked for and not granted"
    return f"the server wants {shown(missing)}: sign in again"


def digest(grant: Grant) -> str:
    """Tells grants apart without keeping their tokens."""
    return sha256(grant.access_token.encode("utf-8", "surrogatepass")).hexdigest()
