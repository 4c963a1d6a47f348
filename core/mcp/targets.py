"""From a configured entry to what is started or connected to."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from core.config.server_entry import ServerEntry
from core.mcp.masking import Secrets, secret_values, url_secrets
from core.mcp.spec import Endpoint, Program

NAME_PATTERN = "^[a-zA-Z0-9_:@/.-]+$"
_NAME = re.compile(r"[a-zA-Z0-9_:@/.-]+", re.ASCII)
INHERITED = (
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "USER",
    "__CF_USER_TEXT_ENCODING",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "TZ",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
)
"""All that a server's process gets of our own environment (observed in Codex 0.171.0)."""


def program_of(entry: ServerEntry, environ: Mapping[str, str], base: Path) -> Program:
    """`base`: directory of the thread, or CODEX_HOME for requests without one."""
    env = {name: environ[name] for name in INHERITED if name in environ}
    env |= {v.name: environ[v.name] for v in entry.env_vars if v.name in environ}
    env |= entry.env or {}
    names = [*(entry.env or {}), *(variable.name for variable in entry.env_vars)]
    return Program(
        argv=(entry.command, *entry.args),
        cwd=os.path.join(base, entry.cwd) if entry.cwd else str(base),
        env=env,
        env_names=tuple(dict.fromkeys(names)),
    )


def endpoint_of(
    entry: ServerEntry, environ: Mapping[str, str], base: Path, *, strict_redirects: bool = False
) -> Endpoint:
    """See `program_of`. Header variables that are not set are left out."""
    from_env = entry.env_http_headers or {}
    headers = dict(entry.http_headers or {})
    headers |= {name: environ[var] for name, var in from_env.items() if environ.get(var)}
    bearer_variable = entry.bearer_token_env_var or ""
    variables = [*([bearer_variable] if bearer_variable else []), *from_env.values()]
    return Endpoint(
        url=entry.url,
        headers=headers,
        helper=entry.http_headers_helper or "",
        helper_cwd=str(base),
        bearer=environ.get(bearer_variable) if bearer_variable else None,
        bearer_variable=bearer_variable,
        env_names=tuple(dict.fromkeys(variables)),
        strict_redirects=strict_redirects,
        oauth=entry.oauth,
        scopes=entry.scopes,
        resource=entry.oauth_resource,
        enterprise=entry.auth == "ema_auth",
    )


def start_fault(name: str, entry: ServerEntry, target: Program | Endpoint) -> str:
    """What makes every start fail before anything is tried; "" when nothing does."""
    if not _NAME.fullmatch(name):
        return f"Invalid MCP server name '{name}': must match pattern {NAME_PATTERN}"
    for variable in entry.env_vars:
        if variable.source == "remote":
            return (
                f"env_vars entry `{variable.name}` uses source `remote`, "
                "which requires remote MCP stdio"
            )
    if isinstance(target, Endpoint) and target.bearer_variable and not target.bearer:
        state = "not set" if target.bearer is None else "empty"
        return f"Environment variable {target.bearer_variable} for MCP server '{name}' is {state}"
    return ""


def secrets_of(entry: ServerEntry, target: Program | Endpoint) -> Secrets:
    """Everything of an entry that must not be shown anywhere."""
    secrets = Secrets(secret_values(entry.env or {}))
    secrets.add(*(target.headers.values() if isinstance(target, Endpoint) else ()))
    if isinstance(target, Endpoint):
        secrets.add(*url_secrets(target.url), target.bearer or "")
    if isinstance(target, Program):
        copied = {v.name: target.env[v.name] for v in entry.env_vars if v.name in target.env}
        secrets.add(*secret_values(copied))
    if entry.oauth is not None and entry.oauth.client_secret:
        secrets.add(entry.oauth.client_secret)
    return secrets


def fingerprint(*parts: Any) -> str:
    """Of JSON values and dataclasses; differs when anything in them does."""
    try:
        # In C: it is made of each server whenever the files are read.
        text = _ENCODER.encode(parts)
    except UnicodeEncodeError:  # a lone surrogate, from an environment that is no UTF-8
        plain = json.dumps(parts, sort_keys=True, default=_plain, separators=(",", ":"))
        text = plain.encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, ServerEntry | Program | Endpoint):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    return str(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_plain, order="deterministic")
