"""The configuration as `config/read` tells it: every member that Codex knows, null when unset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from pydantic.alias_generators import to_camel

from core.config.cooked import cooked
from core.config.model import Layer, Loaded
from core.config.requirements import LOGIN_METHODS
from core.config.schema import APP, KNOWN, MARKETPLACE, PROJECT
from core.config.server_entry import ServerEntry, ToolRule
from core.config.version import jsonable

_DEFAULTS: Mapping[str, Any] = {
    "allow_login_shell": True,
    "background_terminal_max_timeout": 300000,
    "chatgpt_base_url": "https://chatgpt.com/backend-api/",
    "cli_auth_credentials_store": "file",
    "client_search_provider": None,
    "file_opener": "vscode",
    "hide_agent_reasoning": False,
    "history": {"persistence": "save-all", "max_bytes": None},
    "include_apps_instructions": True,
    "include_collaboration_mode_instructions": True,
    "include_environment_context": True,
    "include_environment_context_time": True,
    "include_permissions_instructions": True,
    "marketplaces": {},
    "mcp_oauth_credentials_store": "auto",
    "mcp_servers": {},
    "model_providers": {},
    "plugins": {},
    "profiles": {},
    "project_doc_fallback_filenames": [],
    "project_doc_max_bytes": 32768,
    "project_root_markers": [".git"],
    "shell_environment_policy": {
        "inherit": None,
        "ignore_default_excludes": None,
        "exclude": None,
        "set": None,
        "include_only": None,
        "filters": None,
        "experimental_use_profile": None,
    },
}
_SANDBOX: Mapping[str, Any] = {
    "writable_roots": [],
    "network_access": False,
    "exclude_tmpdir_env_var": False,
    "exclude_slash_tmp": False,
}
# Features that are told with their effective value even when nothing sets them.
_TOLD_FEATURES = (
    "api_key_cyber_access_programs",
    "api_key_model_discovery",
    "auth_elicitation",
    "background_paginated_rollout_migration",
    "codex_apps_mcp_2026_07_28",
    "daybreak_program_propagation",
    "mcp_2026_07_28",
    "mcp_connection_sharing",
    "mcp_lazy_stdio_startup",
    "mcp_shared_repl_cwd",
    "memories",
    "mentions_v2",
    "remote_control",
    "remote_plugin",
    "tool_suggest",
    "windows_sandbox_service",
)


def effective_config(loaded: Loaded) -> dict[str, Any]:
    """The `config` member. Tables that mean nothing to Jackfield are told as they are written."""
    config: dict[str, Any] = {**dict.fromkeys(sorted(KNOWN)), **_DEFAULTS}
    for key, value in loaded.value.items():
        if key in KNOWN:
            config[key] = jsonable(value)
    config["features"] = _features(loaded)
    config["mcp_servers"] = {
        name: {**server(entry), **_env_vars(loaded.get("mcp_servers", name))}
        for name, entry in loaded.servers.items()
    }
    config["plugins"] = _each(loaded, "plugins", _plugin)
    config["marketplaces"] = _each(loaded, "marketplaces", _marketplace)
    # What requirements force off is not told here.
    apps = loaded.merged.get("apps")
    config["apps"] = _apps(_table(apps)) if apps is not None else None
    if "projects" in loaded.value:
        config["projects"] = _each(loaded, "projects", _project)
    if "sandbox_workspace_write" in loaded.value:
        table = _table(config["sandbox_workspace_write"])
        config["sandbox_workspace_write"] = {
            **_SANDBOX,
            **{key: value for key, value in table.items() if key in _SANDBOX},
        }
    for key in ("history", "shell_environment_policy"):
        config[key] = {**_DEFAULTS[key], **_table(config[key])}
    return config


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if type(value) is dict else {}


def _each(
    loaded: Loaded, key: str, make: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    return {name: make(_table(value)) for name, value in _table(loaded.value.get(key)).items()}


def _features(loaded: Loaded) -> dict[str, Any]:
    written = _table(loaded.merged.get("features"))
    told = {name: jsonable(value) for name, value in written.items()}
    if told:
        told.setdefault("network_proxy", None)
    for name in _TOLD_FEATURES:
        if not isinstance(told.get(name), dict):
            told[name] = loaded.feature(name)
    return told


def _filled(value: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    return {key: jsonable(value.get(key)) for key in keys}


def _project(value: dict[str, Any]) -> dict[str, Any]:
    return _filled(value, PROJECT.fields)


def _marketplace(value: dict[str, Any]) -> dict[str, Any]:
    return {**_filled(value, MARKETPLACE.fields), "auto_update": value.get("auto_update", False)}


def _plugin(value: dict[str, Any]) -> dict[str, Any]:
    """As written, without unknown keys."""
    told: dict[str, Any] = {}
    if "enabled" in value:
        told["enabled"] = value["enabled"]
    if servers := _table(value.get("mcp_servers")):
        told["mcp_servers"] = {name: _plugin_server(_table(s)) for name, s in servers.items()}
    if apps := _table(value.get("apps")):
        told["apps"] = {
            name: {key: jsonable(app[key]) for key in APP.fields if key in app}
            for name, app in ((name, _table(app)) for name, app in apps.items())
        }
    return told


_PLUGIN_SERVER = ("enabled", "default_tools_approval_mode", "enabled_tools", "disabled_tools")


def _plugin_server(value: dict[str, Any]) -> dict[str, Any]:
    told = {key: value[key] for key in _PLUGIN_SERVER if key in value}
    if tools := _table(value.get("tools")):
        told["tools"] = {
            tool: {key: rule[key] for key in ("approval_mode", "output_token_limit") if key in rule}
            for tool, rule in ((tool, _table(rule)) for tool, rule in tools.items())
        }
    return told


def _apps(apps: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"_default": None}
    for name, value in apps.items():
        app = _table(value)
        if name == "_default":
            told[name] = {
                "enabled": app.get("enabled", True),
                "approvals_reviewer": app.get("approvals_reviewer"),
                "destructive_enabled": app.get("destructive_enabled", True),
                "open_world_enabled": app.get("open_world_enabled", True),
                "default_tools_approval_mode": app.get("default_tools_approval_mode"),
            }
            continue
        told[name] = _filled({"enabled": True, **app}, APP.fields)
        if "tools" in app:
            told[name]["tools"] = {
                tool: {key: _table(rule).get(key) for key in ("enabled", "approval_mode")}
                for tool, rule in _table(app["tools"]).items()
            }
    return told


def _env_vars(entry: dict[str, Any]) -> dict[str, Any]:
    """Told as written: the short and the long form differ."""
    return {"env_vars": entry["env_vars"]} if entry.get("env_vars") else {}


def server(entry: ServerEntry) -> dict[str, Any]:
    """A server's record; members that are not set are left out, the tool time limit aside."""
    members = {
        **_transport(entry),
        "environment_id": entry.environment_id,
        "enabled": entry.enabled,
        "auth": entry.auth if entry.auth != "oauth" else None,
        "required": entry.required or None,
        "supports_parallel_tool_calls": entry.supports_parallel_tool_calls or None,
        "startup_readiness": entry.startup_readiness,
        "startup_timeout_sec": entry.startup_timeout,
        "tool_input_schema_max_bytes": entry.tool_input_schema_max_bytes,
        "omit_tools_from": _listed(entry.omit_tools_from),
        "default_tools_approval_mode": entry.default_tools_approval_mode,
        "enabled_tools": _listed(entry.enabled_tools),
        "disabled_tools": _listed(entry.disabled_tools),
        "scopes": _listed(entry.scopes),
        "oauth": _oauth(entry),
        "oauth_resource": entry.oauth_resource,
        "tools": {tool: _rule(rule) for tool, rule in entry.tools.items()} or None,
    }
    told = {key: value for key, value in members.items() if value is not None}
    return {**told, "tool_timeout_sec": entry.tool_timeout}


def _listed(value: tuple[str, ...] | None) -> list[str] | None:
    return None if value is None else list(value)


def _transport(entry: ServerEntry) -> dict[str, Any]:
    if entry.transport == "http":
        pairs = {
            "url": entry.url,
            "bearer_token_env_var": entry.bearer_token_env_var,
            "http_headers": entry.http_headers,
            "env_http_headers": entry.env_http_headers,
            "http_headers_helper": entry.http_headers_helper,
        }
        return {key: value for key, value in pairs.items() if value is not None}
    told: dict[str, Any] = {"command": entry.command, "args": list(entry.args)}
    if entry.env is not None:
        told["env"] = dict(entry.env)
    if entry.cwd is not None:
        told["cwd"] = entry.cwd
    return told


def _oauth(entry: ServerEntry) -> dict[str, Any] | None:
    if entry.oauth is None:
        return None
    pairs = {
        "client_id": entry.oauth.client_id,
        "client_secret": entry.oauth.client_secret,
        "callback_url": entry.oauth.callback_url,
        "callback_port": entry.oauth.callback_port,
        "token_endpoint_auth_method": entry.oauth.token_endpoint_auth_method,
        "authorization_server_issuer": entry.oauth.authorization_server_issuer,
    }
    return {key: value for key, value in pairs.items() if value is not None}


def _rule(rule: ToolRule) -> dict[str, Any]:
    pairs = {"approval_mode": rule.approval_mode, "output_token_limit": rule.output_token_limit}
    return {key: value for key, value in pairs.items() if value is not None}


def origins(loaded: Loaded) -> dict[str, Any]:
    """Which layer decides, by dotted path of every leaf; unknown keys included."""
    told: dict[str, Any] = {}
    for layer in loaded.layers:
        if not layer.active:
            continue
        metadata = {"name": layer.wire_source(), "version": layer.version}
        for path in _leaves(layer.value, ""):
            told[path] = metadata
    for app, plugin_id in loaded.plugin_apps.items():
        prefix = f"plugins.{plugin_id}.apps.{app}."
        for path in [path for path in told if path.startswith(prefix)]:
            told.setdefault(f"apps.{app}.{path.removeprefix(prefix)}", told[path])
    # Leaves that a higher layer has replaced by something of another kind are gone.
    present = set(_leaves(loaded.merged, ""))
    pinned = loaded.requirements.pins
    return {
        path: metadata
        for path, metadata in told.items()
        if path in present and path.split(".", 1)[0] not in pinned
    }


def _leaves(value: Any, path: str) -> Iterator[str]:
    if type(value) is dict:
        for key, member in cast("dict[str, Any]", value).items():
            yield from _leaves(member, f"{path}.{key}" if path else key)
    elif type(value) is list:
        for index, member in enumerate(cast("list[Any]", value)):
            yield from _leaves(member, f"{path}.{index}")
    else:
        yield path


def layers(loaded: Loaded) -> list[dict[str, Any]]:
    """The `layers` member, highest first."""
    return [_layer(layer) for layer in reversed(loaded.layers)]


def _layer(layer: Layer) -> dict[str, Any]:
    told = {
        "name": layer.wire_source(),
        "version": layer.version,
        "config": jsonable(cooked(layer.value)),
    }
    return {**told, "disabledReason": layer.disabled} if layer.disabled else told


_REQUIREMENT_MEMBERS = """
    modelProvider modelProviders allowedLoginMethods cliAuthCredentialsStore chatgptBaseUrl
    additionalDeveloperInstructions allowedApprovalPolicies allowedApprovalsReviewers
    allowedSandboxModes allowedWindowsSandboxImplementations allowedPermissionProfiles
    defaultPermissions allowedWebSearchModes allowManagedHooksOnly allowBrowserAndComputerUse
    allowAppshots allowRemoteControl computerUse browserUse inAppBrowser featureRequirements
    hooks enforceResidency network application autoReview models sqliteHome logDir
    modelCatalogJson checkForUpdateOnStartup allowLoginShell feedback otel
"""


def requirements(loaded: Loaded) -> dict[str, Any] | None:
    """The `requirements` member: every member, null when unset; None when nothing is required.

    Only what Jackfield heeds is filled in; the server list is never part of it.
    """
    required = loaded.requirements
    forced = loaded.get("forced_login_method")
    if required.empty and forced is None:
        return None
    methods = required.login_methods or LOGIN_METHODS
    if forced in methods:
        methods = (str(forced),)
    told: dict[str, Any] = dict.fromkeys(_REQUIREMENT_MEMBERS.split())
    told["allowedLoginMethods"] = list(methods)
    told["featureRequirements"] = dict(required.features) or None
    told["allowedSandboxModes"] = required.value.get("allowed_sandbox_modes")
    for key, value in required.pins.items():
        told[to_camel(key)] = Path(value).as_uri() if key in _AS_URI else value
    return told


_AS_URI = frozenset(("log_dir", "sqlite_home", "model_catalog_json"))
