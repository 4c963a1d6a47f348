"""account/read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.auth.account import Account, AccountState
from core.auth.auth_file import Login
from core.scope import RequestScope
from core.service.dispatch import Handler

if TYPE_CHECKING:
    from core.protocol.account import (
        AccountReadParams,
        AccountReadResult,
        ApiKeyAccount,
        BedrockAccount,
        ChatGptAccount,
        WorkspaceRouting,
    )


class AccountService:
    """The account methods of every face."""

    def __init__(self, account: Account) -> None:
        self._account = account

    def handlers(self) -> dict[str, Handler]:
        return {"account/read": self.read}

    async def read(self, params: AccountReadParams, scope: RequestScope) -> AccountReadResult:
        """Who is signed in; a workspace's name and routing as the backend tells them."""
        from core.protocol.account import AccountReadResult

        state = await self._account.state(fresh=params.refresh_token)
        if state.routing is not None:
            await self._account.refresh()
        login = state.login
        chatgpt = login is not None and login.kind == "chatgpt"
        return AccountReadResult(
            account=_account(state),
            user_id=login.user_id or None if login is not None and chatgpt else None,
            requires_openai_auth=state.needs_openai,
            workspace_routing=_routing(state),
        )


def _account(state: AccountState) -> ApiKeyAccount | ChatGptAccount | BedrockAccount | None:
    from core.protocol.account import ApiKeyAccount, BedrockAccount, ChatGptAccount

    if state.bedrock:
        return BedrockAccount()
    match state.login:
        case Login(kind="apiKey"):
            return ApiKeyAccount()
        case Login(kind="chatgpt", email=email, plan=plan):
            name = state.routing.name if state.routing else None
            return ChatGptAccount(email=email or None, plan_type=plan, workspace_name=name)
        case _:
            return None


def _routing(state: AccountState) -> WorkspaceRouting | None:
    from core.protocol.account import WorkspaceRouting

    if state.routing is None:
        return None
    return WorkspaceRouting(
        chatgpt_account_id=state.routing.account_id,
        backend_origin=state.routing.origin,
        account_routing_override=state.routing.override,
    )
