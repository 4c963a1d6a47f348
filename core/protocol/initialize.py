"""Wire types of the handshake. `msgspec.Struct`s: the answer waits for no pydantic model."""

from __future__ import annotations

from typing import Any

import msgspec


class ClientInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Who connects."""

    name: str
    title: str | None = None
    version: str


class InitializeCapabilities(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What the client can do and wants.

    Attributes:
        experimental_api: Methods and members that are experimental may be used.
        extensions: MCP extension settings, passed on to servers.
        mcp_server_openai_form_elicitation: Older form of the extension `openai/form`.
        opt_out_notification_methods: Never sent on this connection.
    """

    experimental_api: bool = False
    request_attestation: bool = False
    mcp_server_openai_form_elicitation: bool = False
    opt_out_notification_methods: list[str] | None = None
    extensions: dict[str, Any] | None = None


class InitializeParams(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The first request of every connection."""

    client_info: ClientInfo
    capabilities: InitializeCapabilities | None = None


class InitializeResponse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Who answers, and on which files.

    Attributes:
        user_agent: `CLIENT/VERSION (OS OS-VERSION; ARCH) PROGRAM (CLIENT; CLIENT-VERSION)`.
        platform_family: `unix` or `windows`.
        platform_os: `linux`, `macos` or `windows`.
    """

    user_agent: str
    codex_home: str
    platform_family: str
    platform_os: str
