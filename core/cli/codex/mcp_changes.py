"""`codex mcp add` and `codex mcp remove`."""

from __future__ import annotations

import re
import sys
from typing import Any

from core.cli.codex.face import USAGE, Failed, Run
from core.cli.codex.gate import check_bootstrap, check_own_servers, own_servers
from core.cli.codex.mcp_words import URL_ONLY
from core.cli.codex.usage import MORE, NO_URL
from core.method_table import CONFIG_VALUE_WRITE, JACKFIELD_ENTRY_REMOVE
from core.protocol.config import ConfigValueWriteParams
from core.protocol.jackfield import NameParams

_NAME = re.compile(r"[a-zA-Z0-9_:@/.-]+", re.ASCII)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        allowed = "(use letters, numbers, '-', '_', ':', '@', '/', '.')"
        raise Failed(f"invalid server name '{name}' {allowed}")


async def _write(run: Run, name: str, entry: dict[str, Any]) -> None:
    """Put a table in the place of what there is."""
    await run.client.call(
        CONFIG_VALUE_WRITE,
        ConfigValueWriteParams(
            key_path=f'mcp_servers."{name}"', value=entry, merge_strategy="replace"
        ),
    )


async def add(run: Run) -> int:
    """Configure a server; one with a URL is signed in to when it offers that."""
    given = run.given
    name, url = given.text("name") or "", given.text("url")
    if url is None and any(given.has(key) for key in (*URL_ONLY, "client_secret")):
        print(f"error: {NO_URL}\n\n{MORE}", file=sys.stderr)
        return USAGE
    await check_bootstrap(run)
    _check_name(name)
    if url is None:
        await _write(run, name, _program(run))
        print(f"Added global MCP server '{name}'.")
        return 0
    if given.has("env"):
        raise Failed("command is required")
    from core.cli.codex.mcp_sign_in import callback_url, offer_sign_in

    entry = _endpoint(run, url)
    callback = None
    if given.has("client_id"):
        callback = callback_url(url)
        entry["oauth"] = {**entry.get("oauth", {}), "callback_url": callback}
    await _write(run, name, entry)
    print(f"Added global MCP server '{name}'.")
    if callback is not None:
        print(f"OAuth callback URL: {callback}")
    if given.has("bearer"):
        return 0
    return await offer_sign_in(run, name)


def _program(run: Run) -> dict[str, Any]:
    command, *arguments = run.given.texts("command")
    entry: dict[str, Any] = {"command": command}
    if arguments:
        entry["args"] = arguments
    pairs = [text.partition("=") for text in run.given.texts("env")]
    if pairs:
        env = {key.strip(): value for key, _, value in pairs}
        entry["env"] = {key: env[key] for key in sorted(env, key=str.encode)}
    return entry


def _endpoint(run: Run, url: str) -> dict[str, Any]:
    given = run.given
    entry: dict[str, Any] = {"url": url}
    if (variable := given.text("bearer")) is not None:
        entry["bearer_token_env_var"] = variable
    if resource := given.text("resource"):
        entry["oauth_resource"] = resource
    if given.has("client_id"):
        secret = given.text("client_secret")
        if secret is not None and not secret.strip():
            raise Failed("--oauth-client-secret must not be empty")
        if client_id := given.text("client_id"):
            entry["oauth"] = {"client_id": client_id}
            if secret is not None:
                entry["oauth"]["client_secret"] = secret
    return entry


async def remove(run: Run) -> int:
    """Take a server out of the person's own file; what is stored for it stays."""
    name = run.given.text("name") or ""
    _check_name(name)
    await check_own_servers(run)
    if name not in own_servers(await run.loaded(None)):
        print(f"No MCP server named '{name}' found.")
        return 0
    await run.client.call(JACKFIELD_ENTRY_REMOVE, NameParams(name=name))
    print(f"Removed global MCP server '{name}'.")
    return 0
