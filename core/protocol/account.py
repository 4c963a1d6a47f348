"""Wire types of `account/read`."""

from __future__ import annotations

from core.protocol.base import Params, Wire


class AccountReadParams(Params):
    """`refresh_token`: ask for a fresh token first."""

    refresh_token: bool = False


class ApiKeyAccount(Wire):
    """Signed in with an API key."""

    type: str = "apiKey"


class ChatGptAccount(Wire):
    """Signed in with ChatGPT."""

    type: str = "chatgpt"
    email: str | None
    plan_type: str
    workspace_name: str | None = None


class BedrockAccount(Wire):
    """The provider is Amazon Bedrock, signed in by means of its own."""

    type: str = "amazonBedrock"
    uses_codex_managed_credentials: bool = False


class WorkspaceRouting(Wire):
    """Where the selected workspace's backend is, as `accounts/check` tells."""

    chatgpt_account_id: str
    backend_origin: str
    account_routing_override: str


class AccountReadResult(Wire):
    """Who is signed in."""

    account: ApiKeyAccount | ChatGptAccount | BedrockAccount | None
    user_id: str | None = None
    requires_openai_auth: bool = True
    workspace_routing: WorkspaceRouting | None = None
