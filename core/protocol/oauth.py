"""Wire types of signing in to MCP servers, and what the panel asks of an attempt."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from core.protocol.base import I64, Params, Wire


class McpServerOauthLoginParams(Params):
    """Parameters of `mcpServer/oauth/login`. `timeout_secs`: below 1 counts as 1."""

    name: str
    scopes: list[str] | None = None
    timeout_secs: I64 | None = None
    thread_id: str | None = None
    environment_id: str | None = None
    client_registration: Literal["auto", "cimd", "dcr"] | None = None


class McpServerOauthLoginResult(Wire):
    """The page that the person is to open."""

    authorization_url: str
    login_id: str


class McpServerOauthLoginCompleted(Wire):
    """Notification `mcpServer/oauthLogin/completed`; `error` only on failure."""

    name: str
    thread_id: str | None
    login_id: str
    success: bool
    error: str | None = Field(default=None, exclude_if=lambda value: value is None)
