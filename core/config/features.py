"""The names under `[features]`, as Codex 0.171.0 knows them, and what they are when not set."""

from __future__ import annotations

_ON = """
    api_key_cyber_access_programs api_key_model_discovery apps auth_elicitation
    bedrock_setup_wizard browser_annotation_api browser_use browser_use_external
    browser_use_full_cdp_access cli_daybreak code_mode_host code_mode_host_grpc
    code_mode_host_output_truncation code_mode_interrupt collaboration_modes
    compaction_image_budget computer_use content_item_kinds daemon_auto_start
    deferred_tool_world_state enable_request_compression fast_mode goals guardian_approval
    guardian_include_additional_context guardian_reuse_parent_compaction hooks image_generation
    in_app_browser in_app_chat in_app_dictation in_app_local_automation in_app_updates
    in_app_voice incremental_tools incremental_tools_legacy incremental_tools_legacy_gcp
    instant_interrupt item_ids mcp_oauth_refresh_coordination mentions_v2 multi_agent
    plugin_sharing plugins prediction_preserve_parent_tools realtime_conversation
    reasoning_effort_override remote_plugin resize_all_images retain_client_tool_outputs
    shell_snapshot shell_tool skill_mcp_dependency_install skill_search sleep_tool sqlite steer
    system_proxy_fallback terminal_resize_reflow tool_call_mcp_elicitation
    tool_search_always_defer_mcp_tools tool_suggest tui_app_server tui_workspace ultrafast_mode
    unbounded_connection_retries unified_exec unified_exec_tty unified_image_budget
    untrusted_as_tool_output view_image workspace_dependencies worktrees write_stdin_approval
"""
_OFF = """
    agent_message_board agent_message_board_mcp analytics_plan_history
    app_server_websocket_compression apply_patch_freeform apply_patch_preserve_line_endings
    apply_patch_streaming_events apps_early_resource_discovery apps_mcp_path_override artifact
    async_compaction async_compaction_root_only background_paginated_rollout_migration
    catalog_apps_instructions chronicle cli_resume_account_check code_mode
    code_mode_buffered_exec code_mode_only code_mode_only_strict_3p_tools code_mode_prewarm
    code_mode_tool_description_first code_mode_tool_search codex_apps_mcp_2026_07_28
    codex_git_commit command_sessions_world_state concurrent_reasoning_summaries
    context_management credential_masking critical_path_timing current_time_reminder
    cwd_relative_turn_diffs daybreak_program_propagation default_mode_request_user_input
    defer_mailbox_preemption deferred_executor elevated_windows_sandbox enable_fanout
    enable_mcp_apps exec_permission_approvals executed_tool_call_metadata
    executor_capability_discovery executor_capability_discovery_v2 experimental_windows_sandbox
    external_agent_memory_import external_migration file_backed_tool_audio gateway_setup_wizard
    gcp_setup_wizard guardian_conversation_history_tools guardian_denial_reconsideration
    guardian_enhanced_node_repl_transcripts guardian_ext guardian_native_multi_agent_history
    guardian_nested_approval_context guardian_node_repl_transcript_images
    guardian_recorded_items guardian_root_handoff_context guardian_trust_orchestrator_connectors
    guardianv2 guardianv2.thread_context guardianv2_decisions_comparison guardianv3
    hosted_search_policy image_detail_original image_generation_animation image_resize_notice
    incremental_exec_tools interrupt_on_cancel js_repl js_repl_tools_only
    local_thread_store_compression local_thread_store_shared_compression
    login_shell_package_path mcp_2026_07_28 mcp_connection_sharing mcp_lazy_stdio_startup
    mcp_shared_repl_cwd mcp_tool_list_changed memories model_catalog_in_context multi_agent_mode
    multi_agent_v2 multi_agent_v2_dynamic_tools multi_env_copy_file multi_environment_mcp
    network_proxy non_prefixed_mcp_tool_names nonfatal_clock_read_errors
    omit_app_server_notification_media omit_skill_descriptions output_token_replay
    per_environment_context personality plugin_discovery_prefetch plugin_hooks
    powershell_shell_version prefer_mxc prevent_idle_sleep psp recommended_plugins
    remote_compaction_v2 remote_control remote_models request_permissions_tool request_rule
    respect_system_proxy responses_websockets responses_websockets_v2 restored_history_prewarm
    retain_client_developer_messages rollout_budget runtime_agent_instances runtime_metrics
    safe_image_decoder search_tool secret_auth_storage send_async_message
    send_message_to_user_async shell_snapshot_v2 shell_zsh_fork simplified_selection_hints
    skill_catalog_deltas skill_env_var_dependency_prompt skip_host_skill_discovery
    stable_environment_tools standalone_web_search step_model_switching
    subagent_default_context_limits subagent_thread_environments
    suppress_model_change_announcements terminal_visualization_instructions token_budget
    tool_search transcript_v2 tui_extensions_statusline tui_multi_backend
    unavailable_dummy_tools undo unified_exec_zsh_fork use_agent_identity use_legacy_landlock
    use_linux_sandbox_bwrap use_xaa utc_environment_date wake_on_agent_messages
    web_search_cached web_search_request windows_sandbox_service workspace_owner_usage_nudge
"""
_OLDER = """
    codex_hooks collab connectors enable_experimental_windows_sandbox
    experimental_use_unified_exec_tool memory_tool request_permissions telepathy web_search
"""

DEFAULTS: dict[str, bool] = {
    **dict.fromkeys(_ON.split(), True),
    **dict.fromkeys(_OFF.split(), False),
}
NAMES = frozenset(DEFAULTS) | frozenset(_OLDER.split())
"""Names that are taken without a warning; older spellings too."""

ALIASES = {"apps": ("connectors",), "hooks": ("codex_hooks",)}
"""Older spellings of a feature, by its present name."""

WITH_TABLE = frozenset(
    """
    apps_mcp_path_override async_compaction code_mode code_mode_host context_management
    current_time_reminder guardianv2 guardianv3 multi_agent_v2 network_proxy
    non_prefixed_mcp_tool_names rollout_budget runtime_agent_instances sleep_tool token_budget
    """.split()
)
"""Features that take a table in place of true or false."""
