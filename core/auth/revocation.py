"""Telling the authorization server that tokens are not wanted any more (RFC 7009)."""

from __future__ import annotations

import anyio

from core.auth.discovery import discover
from core.auth.grants import Grant
from core.auth.outgoing import Outgoing
from core.auth.token_endpoint import Client, post_form
from core.errors import CoreError
from core.seams import SignInTarget

LIMIT = 8.0


async def revoke(out: Outgoing, target: SignInTarget, grant: Grant, client: Client) -> str:
    """Revoke both tokens, the one that makes new ones first; "" when done, else why not.

    Takes 8 s at most; never raises.
    """
    try:
        with anyio.fail_after(LIMIT):
            return await _revoke(out, target, grant, client)
    except TimeoutError:
        return "the authorization server did not answer in time"
    except CoreError as error:
        return error.message


async def _revoke(out: Outgoing, target: SignInTarget, grant: Grant, client: Client) -> str:
    import httpx

    server = (await discover(out, httpx.URL(target.url), assume=False)).server
    if server.issuer != grant.issuer:
        return "the tokens come from another authorization server"
    if server.revocation_endpoint is None:
        return "the authorization server offers no revocation"
    endpoint = httpx.URL(server.base).join(server.revocation_endpoint)
    failed = ""
    for token, hint in (
        (grant.refresh_token, "refresh_token"),
        (grant.access_token, "access_token"),
    ):
        if token is None:
            continue
        answer = await post_form(
            out, endpoint, client, [("token", token), ("token_type_hint", hint)]
        )
        kind = answer.value.get("error") if answer.value else None
        # Tokens that end by themselves need not be revocable (RFC 7009 section 2.2.1).
        if not answer.ok and kind != "unsupported_token_type":
            failed = failed or f"revocation: HTTP {answer.status}"
    return failed
