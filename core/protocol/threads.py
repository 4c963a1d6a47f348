"""Wire types of threads. Only what concerns servers is alive here: there are no turns."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from core.protocol.base import U32, Params, Wire


class GranularApproval(Params):
    """Members of `{"granular": …}`, as the configuration writes them."""

    sandbox_approval: bool = Field(alias="sandbox_approval")
    rules: bool = Field(alias="rules")
    skill_approval: bool = Field(default=False, alias="skill_approval")
    request_permissions: bool = Field(default=False, alias="request_permissions")
    mcp_elicitations: bool = Field(alias="mcp_elicitations")


class GranularApprovalPolicy(Params):
    """Approval decided for each kind of question."""

    granular: GranularApproval


ApprovalPolicy = Literal["untrusted", "on-request", "never"] | GranularApprovalPolicy
SandboxMode = Literal["read-only", "workspace-write", "danger-full-access"]


class ThreadStartParams(Params):
    """A new thread.

    Attributes:
        cwd: Relative ones are taken from the server's own directory.
        config: Members over the configuration, dotted keys or nested.
    """

    model: str | None = None
    model_provider: str | None = None
    service_tier: str | None = None
    cwd: str | None = None
    approval_policy: ApprovalPolicy | None = None
    approvals_reviewer: Literal["user", "auto_review", "guardian_subagent"] | None = None
    sandbox: SandboxMode | None = None
    config: dict[str, Any] | None = None
    service_name: str | None = None
    base_instructions: str | None = None
    developer_instructions: str | None = None
    personality: Literal["none", "friendly", "pragmatic"] | None = None
    ephemeral: bool | None = None
    session_start_source: Literal["startup", "clear"] | None = None
    thread_source: str | None = None


class ThreadEnvironment(Wire):
    """Where a thread works."""

    environment_id: str
    cwd: str
    runtime_workspace_roots: list[str]


class ThreadInfo(Wire):
    """A thread as clients see it; `path` is null: we keep no transcript."""

    id: str
    environments: list[ThreadEnvironment]
    extra: None = None
    session_id: str
    forked_from_id: str | None = None
    attached_to_thread_id: str | None = None
    parent_thread_id: str | None = None
    preview: str = ""
    ephemeral: bool = False
    section: None = None
    section_entered_at: int | None = None
    project_id: str | None = None
    history_mode: str = "paginated"
    model_provider: str
    model: str
    reasoning_effort: str | None = None
    created_at: int
    updated_at: int
    recency_at: int
    status: dict[str, Any]
    path: str | None = None
    cwd: str
    cli_version: str
    originator: str
    source: str = "vscode"
    can_accept_direct_input: bool = True
    thread_source: str | None = None
    agent_nickname: str | None = None
    agent_role: str | None = None
    git_info: None = None
    name: str | None = None
    daybreak_enabled: bool | None = None
    turns: list[Any] = []


class PermissionProfile(Wire):
    """The built-in profile that trust chose; null where the sandbox was set."""

    id: str
    extends: str | None = None


class ThreadStartResult(Wire):
    """The new thread and the settings in force."""

    thread: ThreadInfo
    model: str
    model_provider: str
    service_tier: str | None = None
    disabled_plugin_ids: list[str] = []
    cwd: str
    runtime_workspace_roots: list[str]
    instruction_sources: list[str] = []
    approval_policy: Any
    approvals_reviewer: str = "user"
    sandbox: dict[str, Any]
    active_permission_profile: PermissionProfile | None = None
    reasoning_effort: str | None = None
    multi_agent_mode: Any = "explicitRequestOnly"


class ThreadStarted(Wire):
    """Notification `thread/started`."""

    thread: ThreadInfo


class ThreadLoadedListParams(Params):
    """A page of loaded threads. `cursor`: the last id of the page before."""

    cursor: str | None = None
    limit: U32 | None = None


class ThreadLoadedListResult(Wire):
    """Thread ids, ascending."""

    data: list[str]
    next_cursor: str | None = None


class ThreadUnsubscribeParams(Params):
    """Stop the notifications of a thread on this connection; it stays loaded."""

    thread_id: str


class ThreadUnsubscribeResult(Wire):
    """What there was to do."""

    status: Literal["notLoaded", "notSubscribed", "unsubscribed"]


class ThreadArchiveParams(Params):
    """Unload a thread for good."""

    thread_id: str


class ThreadArchived(Wire):
    """Notification `thread/archived`."""

    thread_id: str


class ThreadStatusChanged(Wire):
    """Notification `thread/status/changed`: `{type: "idle" | "active" | "notLoaded", …}`."""

    thread_id: str
    status: dict[str, Any]
