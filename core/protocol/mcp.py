"""Wire types of MCP servers: status, calls, resources, elicitation, startup notifications."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from core.protocol.base import U32, Params, Wire

AuthStatus = Literal["unknown", "unsupported", "notLoggedIn", "bearerToken", "oAuth"]
RuntimeStatus = Literal[
    "notStarted",
    "starting",
    "connected",
    "authenticationRequired",
    "failed",
    "cancelled",
    "disabled",
]
StartupState = Literal["starting", "ready", "failed", "cancelled"]


class McpServerStatusListParams(Params):
    """A page of servers, in byte order of their names.

    Attributes:
        cursor: Decimal index of the first row.
        limit: Rows of the page; 0 counts as 1, missing means all.
        detail: `toolsAndAuthOnly` asks no server for resources.
        thread_id: Take that thread's configuration and runtime states.
        server_name: Only this one; with `thread_id` over the thread's live connection.
        environment_id: Only in this environment; needs the two above.
    """

    cursor: str | None = None
    limit: U32 | None = None
    detail: Literal["full", "toolsAndAuthOnly"] | None = None
    thread_id: str | None = None
    server_name: str | None = None
    environment_id: str | None = None


class McpServerInfo(Wire):
    """What a server said of itself in `initialize`."""

    name: str
    title: str | None = None
    version: str
    description: str | None = None
    icons: list[Any] | None = None
    website_url: str | None = None


class McpServerStatus(Wire):
    """One server; `tools` after enabled_tools and disabled_tools, by raw name."""

    name: str
    environment_id: str | None = None
    runtime_status: RuntimeStatus | None = None
    plugin_id: str | None = None
    http_origin: str | None = None
    server_info: McpServerInfo | None = None
    server_capabilities: dict[str, Any] | None = None
    tool_list_meta: dict[str, Any] | None = None
    tools: dict[str, dict[str, Any]] = {}
    tools_error: str | None = None
    resources: list[dict[str, Any]] = []
    resource_templates: list[dict[str, Any]] = []
    auth_status: AuthStatus


class McpServerStatusListResult(Wire):
    """A page, and where the next one begins."""

    data: list[McpServerStatus]
    next_cursor: str | None = None


class McpServerToolCallParams(Params):
    """A direct call, outside a turn. `arguments` and `_meta` of another shape than an object are
    refused by the handler with the real one's words.
    """

    thread_id: str
    server: str
    tool: str
    arguments: Any = None
    meta: Any = Field(default=None, alias="_meta")
    environment_id: str | None = None


class McpServerToolCallResult(Wire):
    """The server's result; what it did not send is left out, a null that it sent is kept."""

    content: list[Any]
    structured_content: Any = None
    is_error: bool | None = None
    meta: Any = Field(default=None, alias="_meta")

    @model_serializer(mode="wrap")
    def _only_what_was_sent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        names = {
            "structured_content": "structuredContent",
            "is_error": "isError",
            "meta": "_meta",
        }
        left_out = {name for name in names if name not in self.model_fields_set}
        left_out |= {names[name] for name in left_out}
        dumped: dict[str, Any] = handler(self)
        return {key: value for key, value in dumped.items() if key not in left_out}


class McpResourceReadTarget(Params):
    """An app's connector and link."""

    connector_id: str
    link_id: str | None


class McpServerResourceReadParams(Params):
    """A resource of a server; without `thread_id` over a connection of its own."""

    server: str
    uri: str
    thread_id: str | None = None
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")
    environment_id: str | None = None
    connector_id: str | None = None
    origin_call_id: str | None = None
    target: McpResourceReadTarget | None = None


class McpServerResourceReadResult(Wire):
    """`contents`: text entries `{uri, mimeType?, text, _meta?}` and blobs with `blob`."""

    contents: list[dict[str, Any]]
    origin_call_id: str | None = None


class McpServerStartupStatusUpdated(Wire):
    """Notification `mcpServer/startupStatus/updated`."""

    thread_id: str
    name: str
    environment_id: str | None = None
    status: StartupState
    error: str | None = None
    failure_reason: Literal["reauthenticationRequired"] | None = None


class McpServerElicitationRequest(Wire):
    """Server request `mcpServer/elicitation/request`: a form or a page for the person."""

    thread_id: str
    turn_id: str | None = None
    server_name: str
    environment_id: str | None = None
    mode: Literal["form", "url"]
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")
    message: str
    requested_schema: dict[str, Any] | None = Field(default=None, exclude_if=lambda v: v is None)
    url: str | None = Field(default=None, exclude_if=lambda v: v is None)
    elicitation_id: str | None = Field(default=None, exclude_if=lambda v: v is None)


class McpServerElicitationResponse(Params):
    """The client's answer; anything else counts as a refusal."""

    action: Literal["accept", "decline", "cancel"]
    content: Any = None
    meta: Any = Field(default=None, alias="_meta")


class McpServerEventStreamStartParams(Params):
    """Subscribe to events of the hosted apps server; `subscription_id` is the client's choice."""

    thread_id: str
    server: str
    name: str
    arguments: dict[str, Any]
    subscription_id: str
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")


class McpServerEventStreamStopParams(Params):
    """End a subscription; unknown ids are fine."""

    subscription_id: str


class McpServerEventStreamNotification(Wire):
    """Notification `mcpServer/event/stream/notification`: what the server said, as it said it."""

    subscription_id: str
    notification: dict[str, Any]
