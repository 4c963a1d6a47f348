"""How to reach the hosted apps server of an account."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.apps.view import Views
from core.errors import CoreError
from core.seams import Accounts, BackendAccount, HostedServer

TOKEN_VARIABLE = "CODEX_CONNECTORS_TOKEN"


async def signed_in(accounts: Accounts) -> BackendAccount | None:
    """Who is signed in; a sign-in that cannot be read counts as none, as in Codex."""
    try:
        return await accounts.backend_account()
    except CoreError:
        return None


class HostedApps:
    """The `HostedServers` of a core. As observed in Codex 0.171.0, the account's token goes to
    the hosted server over https only; a token of its own comes from the environment.
    """

    def __init__(self, accounts: Accounts, views: Views, environ: Mapping[str, str]) -> None:
        self._accounts, self._views, self._environ = accounts, views, environ

    async def hosted_server(self, cwd: Path | None) -> HostedServer | None:
        """None without a ChatGPT sign-in, or where the configuration has apps off."""
        account = await signed_in(self._accounts)
        if account is None or not account.account_id:
            return None
        view = await self._views.at(cwd)
        return self.server_of(account) if view.policy.feature().on else None

    def server_of(self, account: BackendAccount) -> HostedServer:
        base = account.base_url
        path = "/ps/mcp" if "/backend-api" in base else "/api/codex/ps/mcp"
        headers = {"x-openai-product-sku": "codex"}
        own = self._environ.get(TOKEN_VARIABLE) or None
        if own is None and base.startswith("https:"):
            headers["authorization"] = f"Bearer {account.access_token}"
            headers["chatgpt-account-id"] = account.account_id
        return HostedServer(url=base + path, headers=headers, bearer_token=own)
