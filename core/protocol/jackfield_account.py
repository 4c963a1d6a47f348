"""What the panel asks about the account: parameters and results of `jackfield/account/*`."""

from __future__ import annotations

from core.protocol.jackfield import Message


class AccountFacts(Message, frozen=True, kw_only=True):
    """Who is signed in, and what that sign-in reaches; never a token.

    Attributes:
        kind: `none`, `apiKey`, `chatgpt`, `unknown`.
        workspace, workspace_id: The selected one; the name once the backend has told it.
        store: `auth.json`, `keyring`, `memory` or ""; `keeps`: where the next sign-in is kept.
        backend, issuer: Hosts; `backend` is "" where the configuration cannot be read.
        ends_at: Of the access token, seconds since the epoch; None when it does not say.
        renewable: It is refreshed by itself.
        owner: It counts as the owner of enterprise sign-ins.
        reason: Why what is stored is of no use, or was not refreshed.
        apps: Why there are no apps, or "" where there are.
        ways: `browser`, `device` and `key`, where signing in that way is allowed.
        file: Which is kept in; "" with the keyring.
    """

    kind: str = "none"
    email: str = ""
    plan: str = ""
    workspace: str = ""
    workspace_id: str = ""
    store: str = ""
    keeps: str = ""
    file: str = ""
    backend: str = ""
    issuer: str = ""
    ends_at: float | None = None
    renewable: bool = False
    owner: bool = False
    reason: str = ""
    apps: str = ""
    ways: tuple[str, ...] = ()


class AccountLoginParams(Message, frozen=True, kw_only=True):
    """Begin to sign in. `way`: `browser`, `device` or `key`; `key` goes with the last."""

    way: str
    key: str = ""

    def __repr__(self) -> str:
        return f"AccountLoginParams(way={self.way!r})"


class AccountAttemptState(Message, frozen=True, kw_only=True):
    """An attempt as it stands.

    Attributes:
        login_id: "" where the sign-in needed no attempt.
        stage: `waiting`, `exchanging`, `done`, `failed`, `cancelled`; "" when there is none.
        url: To be opened; with `browser` only for the person, as it ties the answer to this
            attempt.
        user_code: To be typed in at `url`.
        forward: Command that lets a browser on another machine reach the redirect, or "".
        ends_at: Seconds since the epoch.
        store: Where the sign-in is kept, once it is done.
        rejected: Why a redirect that came was not taken.
    """

    login_id: str = ""
    way: str = ""
    stage: str = ""
    url: str = ""
    user_code: str = ""
    forward: str = ""
    ends_at: float = 0.0
    store: str = ""
    reason: str = ""
    rejected: str = ""


class AccountSignOutResult(Message, frozen=True, kw_only=True):
    """`removed`: something was stored. `note`: why the tokens were not revoked, or ""."""

    removed: bool
    note: str = ""
