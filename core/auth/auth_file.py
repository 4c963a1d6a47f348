"""What a sign-in that Codex has stored says; never written here, never shown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, cast

import msgspec

_CLAIMS = "https://api.openai.com/auth"
_PROFILE = "https://api.openai.com/profile"
_PERSONAL = frozenset({"free", "go", "plus", "pro", "prolite", "promax"})
_WORKSPACE = frozenset(
    {
        "team",
        "self_serve_business_prolite",
        "self_serve_business_usage_based",
        "business",
        "ent26",
        "enterprise_cbp_automation",
        "enterprise_cbp_usage_based",
        "enterprise",
        "edu",
        "edu_plus",
        "edu_pro",
        "sci",
    }
)
_OTHER_NAMES = {"hc": "enterprise", "education": "edu"}

Kind = Literal["none", "apiKey", "chatgpt", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Login:
    """A sign-in, only decoded: no signature is checked, nobody is asked.

    Attributes:
        kind: `none`, `apiKey`, `chatgpt`; `unknown` when something is stored that cannot be
            used: `reason` says why.
        plan: One of the plans known to Codex 0.171.0, else `unknown`; "" where none is told.
        user_id: Of the ID token's claims.
        account_id: Of the selected workspace; "" when the sign-in does not name one.
        workspace: The plan is one of a team's, with a directory of its own.
        login_id: Random per sign-in by the real program; "" in hand-written files.
        store: `auth.json`, `keyring`, or "" where nothing is stored.
        issuer, client_id: Who signed the account in, and for which client.
    """

    kind: Kind = "none"
    reason: str = ""
    email: str = ""
    plan: str = ""
    user_id: str = ""
    account_id: str = ""
    workspace: bool = False
    login_id: str = ""
    store: str = ""
    issuer: str = ""
    client_id: str = ""
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)

    def with_plan(self, told: str) -> Login:
        """The same sign-in with the plan that somebody who knows has told."""
        plan = _plan(told)
        return replace(self, plan=plan, workspace=plan in _WORKSPACE)


def parse_login(content: bytes) -> Login:
    """Read the text of `auth.json`, or of its copy in the keyring. Never raises."""
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return Login(kind="unknown", reason="it is no JSON")
    if not isinstance(value, dict):
        return Login(kind="unknown", reason="it is no JSON object")
    stored = cast("dict[str, Any]", value)
    key, mode = stored.get("OPENAI_API_KEY"), stored.get("auth_mode")
    if mode is None:
        mode = "chatgpt" if key is None else "apikey"
    if mode == "apikey":
        if isinstance(key, str):
            return Login(kind="apiKey")
        return Login(kind="unknown", reason="it names an API key and holds none")
    if mode == "chatgpt":
        return _chatgpt(stored)
    return Login(kind="unknown", reason="its kind of sign-in is not known")


def _chatgpt(stored: Mapping[str, Any]) -> Login:
    tokens = stored.get("tokens")
    if tokens is None:
        return Login(kind="chatgpt", reason="it holds no tokens")
    tokens = _members(tokens)
    claims = decode_claims(_text(tokens.get("id_token")))
    if claims is None or not _text(tokens.get("access_token")):
        return Login(kind="unknown", reason="its tokens cannot be read")
    auth = _members(claims.get(_CLAIMS))
    provenance = _members(stored.get("oauth_provenance") or tokens.get("oauth_provenance"))
    plan = _plan(_text(auth.get("chatgpt_plan_type")))
    return Login(
        kind="chatgpt",
        email=_text(claims.get("email")) or _text(_members(claims.get(_PROFILE)).get("email")),
        plan=plan,
        user_id=_text(auth.get("chatgpt_user_id")) or _text(auth.get("user_id")),
        account_id=_text(tokens.get("account_id")),
        workspace=plan in _WORKSPACE,
        login_id=_text(tokens.get("login_owner_id")),
        issuer=_text(provenance.get("issuer")),
        client_id=_text(provenance.get("client_id")),
        access_token=_text(tokens.get("access_token")),
        refresh_token=_text(tokens.get("refresh_token")),
    )


def _plan(told: str) -> str:
    plan = _OTHER_NAMES.get(told, told)
    return plan if plan in _PERSONAL or plan in _WORKSPACE else "unknown"


def decode_claims(token: str) -> dict[str, Any] | None:
    """The claims of a JWT (RFC 7519), decoded only; None for text that is none."""
    parts = token.split(".")
    if len(parts) != 3 or not parts[1]:
        return None
    try:
        padded = parts[1] + "=" * (-len(parts[1]) % 4)
        claims = msgspec.json.decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", claims) if isinstance(claims, dict) else None


def _members(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
