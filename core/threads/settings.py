"""The settings that a thread starts with: parameters over configuration over what trust chooses.

Source: defaults and precedence observed in Codex 0.171.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.config.model import Loaded
from core.mcp.elicitation import Approvals

if TYPE_CHECKING:  # the panel starts without any of the wire's models
    from core.protocol.threads import ThreadInfo, ThreadStartParams, ThreadStartResult

DEFAULT_MODEL, DEFAULT_PROVIDER = "gpt-6.2-sol", "openai"
_MODES = ("read-only", "workspace-write", "danger-full-access")
_GRANULAR = {
    "sandbox_approval": False,
    "rules": False,
    "skill_approval": False,
    "request_permissions": False,
    "mcp_elicitations": False,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What clients are told of a thread, and what follows from it for servers.

    Attributes:
        approval: `untrusted`, `on-request`, `never` or `{"granular": …}`.
        profile: Built-in permission profile that trust chose; None where the sandbox was set.
    """

    cwd: str
    model: str
    model_provider: str
    reasoning_effort: str | None
    service_tier: str | None
    approval: Any
    reviewer: str
    sandbox: dict[str, Any]
    profile: str | None
    roots: tuple[str, ...]
    ephemeral: bool
    thread_source: str | None

    @property
    def approvals(self) -> Approvals:
        """What servers may ask the person."""
        approval: Any = self.approval
        asks = approval != "never"
        if isinstance(approval, dict):
            asks = bool(cast("dict[str, Any]", approval)["granular"]["mcp_elicitations"])
        return Approvals(ask=asks, full_access=self.sandbox["type"] == "dangerFullAccess")

    def info(
        self, thread_id: str, *, now: float, version: str, originator: str, status: dict[str, Any]
    ) -> ThreadInfo:
        """The thread as clients see it."""
        from core.protocol.threads import ThreadEnvironment, ThreadInfo

        seconds = int(now)
        return ThreadInfo(
            id=thread_id,
            environments=[
                ThreadEnvironment(
                    environment_id="local",
                    cwd=self.cwd,
                    runtime_workspace_roots=list(self.roots),
                )
            ],
            session_id=thread_id,
            ephemeral=self.ephemeral,
            model_provider=self.model_provider,
            model=self.model,
            reasoning_effort=self.reasoning_effort,
            created_at=seconds,
            updated_at=seconds,
            recency_at=seconds,
            status=status,
            cwd=self.cwd,
            cli_version=version,
            originator=originator,
            thread_source=self.thread_source,
        )

    def result(self, info: ThreadInfo) -> ThreadStartResult:
        """The answer to thread/start."""
        from core.protocol.threads import PermissionProfile, ThreadStartResult

        return ThreadStartResult(
            thread=info,
            model=self.model,
            model_provider=self.model_provider,
            service_tier=self.service_tier,
            cwd=self.cwd,
            runtime_workspace_roots=list(self.roots),
            approval_policy=self.approval,
            approvals_reviewer=self.reviewer,
            sandbox=self.sandbox,
            active_permission_profile=PermissionProfile(id=self.profile) if self.profile else None,
            reasoning_effort=self.reasoning_effort,
        )


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a thread/start asks for; None leaves it to the configuration."""

    model: str | None = None
    model_provider: str | None = None
    service_tier: str | None = None
    approval: Any = None
    reviewer: str | None = None
    sandbox: str | None = None
    ephemeral: bool = False
    thread_source: str | None = None

    @staticmethod
    def of(params: ThreadStartParams) -> Wishes:
        """From the wire."""
        approval = params.approval_policy
        if approval is not None and not isinstance(approval, str):
            approval = approval.model_dump()
        return Wishes(
            model=params.model,
            model_provider=params.model_provider,
            service_tier=params.service_tier,
            approval=approval,
            reviewer=params.approvals_reviewer,
            sandbox=params.sandbox,
            ephemeral=params.ephemeral or False,
            thread_source=params.thread_source,
        )


def settings_of(wishes: Wishes, loaded: Loaded, cwd: str) -> Settings:
    """Settings of a new thread in `cwd`."""
    mode = wishes.sandbox or _word(loaded, "sandbox_mode", *_MODES)
    chosen = mode or ("read-only" if loaded.trusted is None else "workspace-write")
    sandbox = _sandbox(chosen, loaded.get("sandbox_workspace_write", default={}))
    roots = [cwd]
    if chosen == "workspace-write":
        roots += [root for root in sandbox["writableRoots"] if root != cwd]
    return Settings(
        cwd=cwd,
        model=wishes.model or _text(loaded, "model") or DEFAULT_MODEL,
        model_provider=wishes.model_provider or _text(loaded, "model_provider") or DEFAULT_PROVIDER,
        reasoning_effort=_text(loaded, "model_reasoning_effort"),
        service_tier=wishes.service_tier or _text(loaded, "service_tier"),
        approval=wishes.approval or _approval(loaded),
        reviewer=wishes.reviewer or _text(loaded, "approvals_reviewer") or "user",
        sandbox=sandbox,
        profile=None if mode else f":{chosen.removesuffix('-write')}",
        roots=tuple(roots),
        ephemeral=wishes.ephemeral,
        thread_source=wishes.thread_source,
    )


def standing_approvals(loaded: Loaded) -> Approvals:
    """For requests without a thread: nobody is asked, permissions follow the sandbox."""
    full = _text(loaded, "sandbox_mode") == "danger-full-access"
    return Approvals(ask=False, full_access=full)


def _approval(loaded: Loaded) -> Any:
    configured: Any = loaded.get("approval_policy")
    if isinstance(configured, str):
        return configured
    granular = cast("dict[str, Any]", configured or {}).get("granular")
    if isinstance(granular, dict):
        return {"granular": {**_GRANULAR, **cast("dict[str, Any]", granular)}}
    return "untrusted" if loaded.trusted is False else "on-request"


def _sandbox(mode: str, table: Any) -> dict[str, Any]:
    if mode == "danger-full-access":
        return {"type": "dangerFullAccess"}
    if mode == "read-only":
        return {"type": "readOnly", "networkAccess": False}
    given = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    return {
        "type": "workspaceWrite",
        "writableRoots": list(given.get("writable_roots", [])),
        "networkAccess": given.get("network_access", False),
        "excludeTmpdirEnvVar": given.get("exclude_tmpdir_env_var", False),
        "excludeSlashTmp": given.get("exclude_slash_tmp", False),
    }


def _text(loaded: Loaded, key: str) -> str | None:
    value: Any = loaded.get(key)
    return value if isinstance(value, str) and value else None


def _word(loaded: Loaded, key: str, *words: str) -> str | None:
    value = _text(loaded, key)
    return value if value in words else None
