"""Types of the top-level keys of config.toml, as Codex 0.171.0 checks them.

Keys with tables that Jackfield uses are in `core.config.schema`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from core.config.serde import (
    Check,
    Fault,
    Struct,
    array,
    boolean,
    i64,
    integer,
    string,
    string_table,
    strings,
    table,
    u16,
    u64,
    usize,
    variant,
    wrong_type,
)

_STRINGS = """
    apps_mcp_product_sku chatgpt_base_url compact_prompt default_permissions
    developer_instructions experimental_realtime_start_instructions
    experimental_realtime_webrtc_call_base_url experimental_realtime_ws_backend_prompt
    experimental_realtime_ws_base_url experimental_realtime_ws_model
    experimental_realtime_ws_startup_context experimental_thread_store_endpoint instructions
    mcp_oauth_callback_url model model_provider model_reasoning_effort openai_base_url
    oss_provider plan_mode_reasoning_effort profile review_model service_tier
"""
_PATHS = """
    experimental_compact_prompt_file js_repl_node_path log_dir model_catalog_json
    model_instructions_file sqlite_home
"""
_BOOLEANS = """
    allow_login_shell allow_symlinked_codex_home check_for_update_on_startup daybreak
    disable_paste_burst experimental_use_unified_exec_tool hide_agent_reasoning
    include_apps_instructions include_collaboration_mode_instructions
    include_environment_context include_environment_context_time
    include_permissions_instructions show_raw_agent_reasoning suppress_unstable_features_warning
"""
# Name of the record and what is said of an empty list in its place, by key.
_RECORDS: Mapping[str, tuple[str, str | None]] = {
    "agents": ("AgentsToml", None),
    "analytics": ("AnalyticsConfigToml", "1 element"),
    "audio": ("RealtimeAudioToml", "3 elements"),
    "auto_review": ("AutoReviewToml", "5 elements"),
    "browser_use": ("BrowserUseConfigToml", "3 elements"),
    "cloud": ("CloudToml", "1 element"),
    "code_mode": ("CodeModeToml", "1 element"),
    "computer_use": ("ComputerUseConfigToml", "3 elements"),
    "feedback": ("FeedbackConfigToml", "1 element"),
    "ghost_snapshot": ("GhostSnapshotToml", "3 elements"),
    "goals": ("GoalsToml", "1 element"),
    "history": ("History", ""),
    "memories": ("MemoriesToml", "15 elements"),
    "notice": ("Notice", "9 elements"),
    "orchestrator": ("OrchestratorToml", "2 elements"),
    "otel": ("OtelConfigToml", "13 elements"),
    "realtime": ("RealtimeToml", "4 elements"),
    "responses": ("ResponsesToml", "1 element"),
    "rollout_trace": ("RolloutTraceToml", "2 elements"),
    "shell_environment_policy": ("ShellEnvironmentPolicyTomlRaw", "7 elements"),
    "tool_suggest": ("ToolSuggestConfig", ""),
    "tools": ("ToolsToml", "4 elements"),
    "tui": ("Tui", None),
    "windows": ("WindowsToml", "2 elements"),
}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "approvals_reviewer": (
        "user",
        "auto_review",
        "guardian_subagent",
    ),
    "cli_auth_credentials_store": (
        "file",
        "keyring",
        "auto",
        "ephemeral",
    ),
    "file_opener": (
        "vscode",
        "vscode-insiders",
        "windsurf",
        "cursor",
        "none",
    ),
    "forced_login_method": (
        "chatgpt",
        "api",
    ),
    "mcp_oauth_credentials_store": (
        "auto",
        "file",
        "keyring",
    ),
    "model_auto_compact_token_limit_scope": (
        "total",
        "body_after_prefix",
    ),
    "model_reasoning_summary": (
        "auto",
        "concise",
        "detailed",
        "none",
    ),
    "model_verbosity": (
        "low",
        "medium",
        "high",
    ),
    "personality": (
        "none",
        "friendly",
        "pragmatic",
    ),
    "sandbox_mode": (
        "read-only",
        "workspace-write",
        "danger-full-access",
    ),
    "web_search": (
        "disabled",
        "cached",
        "indexed",
        "live",
    ),
}


def _path(value: Any) -> Fault | None:
    return None if string(value) is None else wrong_type(value, "path string")


def _workspaces(value: Any) -> Fault | None:
    if type(value) is str or strings(value) is None:
        return None
    return Fault((), "data did not match any variant of untagged enum Repr")


_approval_word = variant("untrusted", "on-failure", "on-request", "granular", "never")
_GRANULAR = Struct(
    "GranularApprovalConfig",
    {},
    required=("sandbox_approval", "rules", "mcp_elicitations"),
)


def _approval_policy(value: Any) -> Fault | None:
    if type(value) is dict:
        words = cast("dict[str, Any]", value)
        if len(words) == 1 and "granular" in words:
            fault = _GRANULAR(words["granular"])
            return fault and Fault(("granular",), fault.message, cut=1)
    return _approval_word(value)


def _thread_store(value: Any) -> Fault | None:
    if type(value) is dict:
        return None
    return wrong_type(value, "internally tagged enum ThreadStoreToml")


def _any_table(value: Any) -> Fault | None:
    return None if type(value) is dict else wrong_type(value, "a map")


def _permissions(value: Any) -> Fault | None:
    if type(value) is not dict:
        return wrong_type(value, "struct PermissionsToml")
    for profile in cast("dict[str, Any]", value).values():
        if type(profile) is not dict:
            return wrong_type(profile, "struct PermissionProfileToml")
    return None


_SANDBOX = Struct(
    "SandboxWorkspaceWrite",
    {
        "writable_roots": array(_path),
        "network_access": boolean,
        "exclude_tmpdir_env_var": boolean,
        "exclude_slash_tmp": boolean,
    },
    from_list="",
)

KEYS: Mapping[str, Check] = {
    **dict.fromkeys(_STRINGS.split(), string),
    **dict.fromkeys(_PATHS.split(), _path),
    **dict.fromkeys(_BOOLEANS.split(), boolean),
    **{key: Struct(name, {}, from_list=listed) for key, (name, listed) in _RECORDS.items()},
    **{key: variant(*words) for key, words in _WORDS.items()},
    "approval_policy": _approval_policy,
    "background_terminal_max_timeout": u64,
    "desktop": _any_table,
    "experimental_thread_store": _thread_store,
    "forced_chatgpt_workspace_id": _workspaces,
    "js_repl_node_module_dirs": array(_path),
    "mcp_oauth_callback_port": u16,
    "mcp_optional_startup_grace_ms": u64,
    "model_auto_compact_token_limit": i64,
    "model_context_window": i64,
    "model_post_turn_compact_threshold_percent": integer("u8", 0, 255),
    "notify": strings,
    "permissions": _permissions,
    "profiles": table(Struct("ConfigProfile", {})),
    "project_doc_fallback_filenames": strings,
    "project_doc_max_bytes": usize,
    "project_root_markers": strings,
    "responses_api_metadata": string_table,
    "sandbox_workspace_write": _SANDBOX,
    "thread_unload_delay_secs": u64,
    "tool_output_token_limit": usize,
}
"""The check of each key; all of them together are what Codex knows."""
