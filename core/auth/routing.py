"""Where the selected workspace's backend is: `accounts/check`, in the words of Codex 0.171.0."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from core.errors import InternalError
from core.net.backend import BackendFailed, open_backend
from core.ports import HttpFactory
from core.seams import BackendAccount

_OVERRIDES = frozenset({"NO_CONSTRAINT", "us", "us_cr"})


@dataclass(frozen=True, kw_only=True)
class Routing:
    """One workspace. `name`: of the workspace, or None."""

    account_id: str
    origin: str
    override: str
    name: str | None


class _Account(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str | None = None
    workspace_backend_origin: str | None = None
    account_routing_override: str | None = None


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    accounts: tuple[_Account, ...]


async def discover(http: HttpFactory, account: BackendAccount, *, deadline: float) -> Routing:
    """Ask the backend; `deadline` in seconds.

    Raises:
        InternalError: In the wire's words; its evidence says what came instead.
    """
    path = "/wham/accounts/check" if "/backend-api" in account.base_url else _PATH
    try:
        async with open_backend(
            http, account, originator="jackfield", deadline=deadline
        ) as backend:
            answer = msgspec.json.decode(await backend.get(path), type=_Answer)
    except BackendFailed as failure:
        raise InternalError(
            "workspace routing discovery failed", evidence=failure.evidence, hint=failure.hint
        ) from failure
    except (msgspec.DecodeError, RecursionError) as error:
        raise InternalError("workspace routing discovery failed") from error
    return _selected(answer.accounts, account.account_id)


_PATH = "/api/codex/accounts/check"


def _selected(accounts: tuple[_Account, ...], account_id: str) -> Routing:
    found = [entry for entry in accounts if entry.id == account_id]
    if not found:
        raise InternalError("selected workspace missing from routing discovery")
    if len(found) > 1:
        raise InternalError("duplicate workspace in routing discovery")
    chosen = found[0]
    if chosen.workspace_backend_origin is None:
        raise InternalError("workspace routing discovery missing backend origin")
    if chosen.account_routing_override not in _OVERRIDES:
        raise InternalError("workspace routing discovery has invalid account routing override")
    return Routing(
        account_id=account_id,
        origin=_origin(chosen.workspace_backend_origin),
        override=chosen.account_routing_override,
        name=chosen.name,
    )


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = parts = None
    if parts is None or not parts.scheme or not host:
        raise InternalError("invalid workspace backend URL")
    if parts.scheme != "https" or parts.username is not None or parts.password is not None:
        raise InternalError("workspace backend must use an HTTPS origin without credentials")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise InternalError("workspace routing discovery must return an origin")
    name = f"[{host}]" if ":" in host else host
    return f"https://{name}" if port in (None, 443) else f"https://{name}:{port}"
