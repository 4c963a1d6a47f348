"""Wire types of the account methods."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

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


LoginType = Literal[
    "apiKey",
    "chatgpt",
    "chatgptDeviceCode",
    "chatgptAuthTokens",
    "amazonBedrock",
    "amazonBedrockAccessKeys",
]


class AccountLoginStartParams(Params):
    """Parameters of `account/login/start`; which of them are needed depends on `type`.

    The brand, the streamlined form and the hosted page are of the real application's own pages
    and change nothing here; the last four are Amazon Bedrock's.
    """

    type: LoginType
    api_key: str | None = Field(default=None, repr=False)
    access_token: str | None = Field(default=None, repr=False)
    chatgpt_account_id: str | None = None
    chatgpt_plan_type: str | None = None
    app_brand: str | None = None
    codex_streamlined_login: bool | None = None
    use_hosted_login_success_page: bool | None = None
    region: str | None = None
    access_key_id: str | None = Field(default=None, repr=False)
    secret_access_key: str | None = Field(default=None, repr=False)
    session_token: str | None = Field(default=None, repr=False)


class AccountLoginStartResult(Wire):
    """What the person is to do; members that the type does not have are left out."""

    type: str
    login_id: str | None = Field(default=None, exclude_if=lambda value: value is None)
    auth_url: str | None = Field(default=None, exclude_if=lambda value: value is None)
    verification_url: str | None = Field(default=None, exclude_if=lambda value: value is None)
    user_code: str | None = Field(default=None, exclude_if=lambda value: value is None)


class AccountLoginCancelParams(Params):
    """An attempt by its id, a UUID."""

    login_id: str


class AccountLoginCancelResult(Wire):
    """`canceled` or `notFound`."""

    status: str


class AccountLoginCompleted(Wire):
    """Notification `account/login/completed`; `login_id` null where there was no attempt."""

    login_id: str | None
    success: bool
    error: str | None
    onboarding_entrypoint: str | None = None


class AccountUpdated(Wire):
    """Notification `account/updated`; `auth_mode` null when nobody is signed in."""

    auth_mode: str | None
    plan_type: str | None
    reason: str | None = None
