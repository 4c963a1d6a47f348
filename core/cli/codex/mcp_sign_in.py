"""`codex mcp login` and `codex mcp logout`, and what `codex mcp add` does for a server with OAuth.

The page is opened, its address printed, and the redirect waited for; without a browser here the
address of the page that the person was sent to may be pasted.
"""

from __future__ import annotations

import sys
from urllib.parse import urlsplit

import anyio

from core.channels import Subscription
from core.cli.codex.face import Failed, Run
from core.cli.codex.gate import check_bootstrap
from core.cli.text import safe_lines
from core.cli.waiting import line_from_stdin, login_ended
from core.errors import CoreError
from core.method_table import (
    JACKFIELD_LOGIN_OPEN,
    JACKFIELD_LOGIN_PASTE,
    JACKFIELD_LOGIN_SIGN_OUT,
    JACKFIELD_SERVER_ENTRIES,
    MCP_SERVER_OAUTH_LOGIN,
)
from core.protocol.events import LoginCompleted
from core.protocol.jackfield import NameParams
from core.protocol.jackfield_lists import EntriesParams, ServerEntryInfo
from core.protocol.login import LoginIdParams, LoginPasteParams

_UNDECIDED = "MCP server may or may not require login. Run `codex mcp login {}` to login."
_FORGOT = "failed to delete OAuth credentials: "


def callback_url(url: str) -> str:
    """Where the browser of a client that was registered beforehand is sent back to."""
    from core.auth.grants import callback_id

    return f"http://127.0.0.1/callback/{callback_id(url)}"


async def _entry(run: Run, *, auth: bool = False) -> ServerEntryInfo | None:
    name = run.given.text("name") or ""
    params = EntriesParams(names=(name,), auth=auth)
    found = (await run.client.call(JACKFIELD_SERVER_ENTRIES, params)).entries
    return found[0] if found else None


async def offer_sign_in(run: Run, name: str) -> int:
    """After a server has been added: sign in when it offers that."""
    entry = await _entry(run, auth=True)
    if entry is not None and entry.auth == "notLoggedIn":
        print("Detected OAuth support. Starting OAuth flow…", flush=True)
        await _sign_in(run, name)
        print("Successfully logged in.")
    elif entry is not None and entry.auth == "unknown":
        print(_UNDECIDED.format(name))
    return 0


async def login(run: Run) -> int:
    """Sign in to a server."""
    await check_bootstrap(run)
    name = run.given.text("name") or ""
    entry = await _entry(run)
    if entry is None:
        raise Failed(f"No MCP server named '{name}' found.")
    if entry.transport["type"] == "stdio":
        raise Failed("OAuth login is only supported for streamable HTTP servers.")
    if entry.enterprise:
        how = "is managed by Codex account sign-in. Open Codex to sign in."
        raise Failed(f"Enterprise MCP authorization {how}")
    if entry.disabled_reason is not None:
        raise Failed("the MCP server is disabled by managed requirements")
    url: str = entry.transport["url"]
    if not urlsplit(url).scheme:
        raise Failed(f"invalid MCP server URL `{url}`", "relative URL without a base")
    await _sign_in(run, name)
    print(f"Successfully logged in to MCP server '{name}'.")
    return 0


async def _sign_in(run: Run, name: str) -> None:
    """Begin, tell the address, and wait until it has ended.

    Raises:
        Failed: It did not work out.
    """
    from core.protocol.oauth import McpServerOauthLoginParams

    given = run.given
    params = McpServerOauthLoginParams.model_validate(
        {
            "name": name,
            "scopes": given.texts("scopes") or None,
            "clientRegistration": given.text("registration"),
        }
    )
    async with run.client.subscribe() as events:
        try:
            begun = await run.client.call(MCP_SERVER_OAUTH_LOGIN, params)
        except CoreError as error:
            prefix = f"failed to login to MCP server '{name}': "
            raise Failed(error.message.removeprefix(prefix)) from None
        by_hand = given.has("no_browser")
        _tell(name, begun.authorization_url, by_hand=by_hand)
        if by_hand:
            ended = await _by_hand(run, begun.login_id, events)
        else:
            await run.client.call(JACKFIELD_LOGIN_OPEN, LoginIdParams(login_id=begun.login_id))
            ended = await login_ended(events, begun.login_id)
    if not ended.success:
        raise Failed(ended.error or "the sign-in did not work out")


def _tell(name: str, url: str, *, by_hand: bool) -> None:
    what = "the MCP server" if by_hand else f"`{name}`"
    print(f"Authorize {what} by opening this URL in your browser:\n{safe_lines(url)}\n")
    if by_hand:
        print("After signing in, copy the full URL from your browser's address bar.")
        print("If the callback page cannot load, paste that URL here anyway.", flush=True)
        print("Callback URL (input hidden): ", end="", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()


async def _by_hand(run: Run, login_id: str, events: Subscription) -> LoginCompleted:
    """A browser that finds its way back by itself counts as well."""
    ended: list[LoginCompleted] = []
    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            ended.append(await login_ended(events, login_id))
            tasks.cancel_scope.cancel()

        tasks.start_soon(wait)
        await _paste(run, login_id)
    return ended[0]


async def _paste(run: Run, login_id: str) -> None:
    text = await line_from_stdin()
    if text is None:
        raise Failed("No OAuth callback URL received before input closed")
    if not urlsplit(text.strip()).scheme:
        raise Failed("Invalid OAuth callback URL", "relative URL without a base")
    params = LoginPasteParams(login_id=login_id, text=text.strip())
    result = await run.client.call(JACKFIELD_LOGIN_PASTE, params)
    if not result.accepted:
        raise Failed("Invalid OAuth callback URL", result.reason)


async def logout(run: Run) -> int:
    """Sign out of a server: nothing that is stored for it stays."""
    await check_bootstrap(run)
    name = run.given.text("name") or ""
    entry = await _entry(run)
    if entry is None:
        raise Failed(f"No MCP server named '{name}' found in configuration.")
    if entry.transport["type"] == "stdio":
        raise Failed("OAuth logout is only supported for streamable_http transports.")
    if entry.enterprise:
        raise Failed("Sign in to your Codex account before removing enterprise authorization")
    try:
        result = await run.client.call(JACKFIELD_LOGIN_SIGN_OUT, NameParams(name=name))
    except CoreError as error:
        raise Failed(f"{_FORGOT}{error.message}") from None
    if result.removed:
        print(f"Removed OAuth credentials for '{name}'.")
    else:
        print(f"No OAuth credentials stored for '{name}'.")
    return 0
