"""What the panel asks of signing in: parameters and results of `jackfield/login/*`."""

from __future__ import annotations

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of parameters and results here."""


class LoginStartParams(Message, frozen=True, kw_only=True):
    """Begin to sign in to a server.

    Attributes:
        scopes: None = as configured or offered.
        timeout_secs: To wait for the person.
        resource: Send the resource indicator (RFC 8707).
        allow_hosts: Hosts on private networks that may be contacted for it.
        device: Get a device code too, where they are offered.
        anew: End an attempt that waits for this server; otherwise that one is the answer.
    """

    name: str
    scopes: tuple[str, ...] | None = None
    timeout_secs: float = 300.0
    resource: bool = True
    allow_hosts: tuple[str, ...] = ()
    device: bool = False
    anew: bool = False


class LoginStep(Message, frozen=True, kw_only=True):
    """One request that was made. `status` 0: there was no answer, `note` says why."""

    verb: str
    url: str
    status: int = 0
    note: str = ""


class LoginDevice(Message, frozen=True, kw_only=True):
    """What to type in where. `interval`: seconds between two questions whether that was done."""

    user_code: str
    page: str
    page_with_code: str = ""
    interval: float = 5.0


class LoginState(Message, frozen=True, kw_only=True):
    """An attempt as it stands.

    Attributes:
        stage: `waiting`, `exchanging`, `done`, `failed`, `cancelled`.
        host, authorizer: Of the server, and of the authorization server that guards it.
        url: To be opened; only for the person, as it ties the answer to this attempt.
        forward: Command that lets a browser on another machine reach the redirect, or "".
        open_to_network: The redirect is listened for on every interface.
        offers_device: Device codes are to be had (RFC 8628); `device` has one if it was asked for.
        ends_at: Seconds since the epoch.
        scopes: That are asked for; `scopes_before` were granted last time, `missing` are what the
            server has said is lacking in those.
        store: `file` or `keyring`, once it is done; `store_note`: what to know about that.
        rejected: Why a redirect that came was not taken.
    """

    login_id: str
    name: str
    stage: str
    host: str = ""
    authorizer: str = ""
    url: str = ""
    redirect_uri: str = ""
    forward: str = ""
    open_to_network: bool = False
    offers_device: bool = False
    device: LoginDevice | None = None
    ends_at: float = 0.0
    scopes: tuple[str, ...] = ()
    scopes_before: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    trail: tuple[LoginStep, ...] = ()
    warnings: tuple[str, ...] = ()
    store: str = ""
    store_note: str = ""
    reason: str = ""
    rejected: str = ""


class LoginList(Message, frozen=True, kw_only=True):
    """All attempts, those that have ended too for a while, the newest first."""

    attempts: tuple[LoginState, ...] = ()


class LoginIdParams(Message, frozen=True, kw_only=True):
    """An attempt by its id."""

    login_id: str


class LoginPasteParams(Message, frozen=True, kw_only=True):
    """The redirect's URL, its query, or the bare code."""

    login_id: str
    text: str


class LoginPasteResult(Message, frozen=True, kw_only=True):
    """`reason`: why it was not taken; the attempt goes on."""

    accepted: bool
    reason: str = ""


class LoginOpenResult(Message, frozen=True, kw_only=True):
    """Whether a browser took the page."""

    opened: bool


class SignOutResult(Message, frozen=True, kw_only=True):
    """`removed`: something was stored. `note`: why the tokens were not revoked, or ""."""

    removed: bool
    revoked: bool = False
    note: str = ""


class CredentialState(Message, frozen=True, kw_only=True):
    """What is stored for a server; never the tokens.

    Attributes:
        state: `none`, `oAuth`, `notLoggedIn` (of no use any more), `unknown` (unreadable).
        store: `file`, `keyring` or "". `keeps`: where the next sign-in would be kept.
        expires_at, refreshed_at: Seconds since the epoch, None when nobody knows; the latter of
            the last refresh by this process.
        renewable: It is refreshed by itself.
        missing: Scopes that the server has said are lacking.
        reason: Why the store cannot be read, what is stored is of no use, or not enough.
        keyring: What is wrong with the keyring: `absent`, `locked`, `unreadable`, `silent`,
            `volatile`; "" when nothing is, or it is not used. `keyring_words`: the same in words.
        registered: A client of ours is kept for the server's authorization server.
    """

    state: str
    store: str = ""
    keeps: str = ""
    expires_at: float | None = None
    refreshed_at: float | None = None
    renewable: bool = False
    scopes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    keyring: str = ""
    keyring_words: str = ""
    registered: bool = False
