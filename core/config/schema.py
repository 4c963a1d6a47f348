"""What Codex accepts in config.toml: types of all top-level keys, whole tables where we use them.

Checked against Codex 0.171.0. Tables that mean nothing to Jackfield are only checked to be tables.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from core.config import features
from core.config.schema_keys import KEYS
from core.config.serde import (
    Check,
    Fault,
    Struct,
    array,
    boolean,
    string,
    string_table,
    strings,
    table,
    u64,
    variant,
    wrong_type,
)
from core.config.server_entry import approval, check_server


@dataclass(frozen=True, slots=True)
class Bad:
    """One table, or one setting, that Codex would refuse.

    Attributes:
        unit: Path of what is left out because of it.
        fault: What is wrong, with the full path.
        told_at: Path at which Codex tells it; shorter where its reader loses track.
        told_merged: The same for values that no longer have a file.
    """

    unit: tuple[str | int, ...]
    fault: Fault
    told_at: tuple[str | int, ...]
    told_merged: tuple[str | int, ...]

    @staticmethod
    def plain(unit: tuple[str | int, ...], fault: Fault) -> Bad:
        """Told where it is."""
        return Bad(unit, fault, fault.path, fault.merged_path)


_flat_approval = variant("auto", "prompt", "writes", "approve", flattened=True)
_omit_tools = array(variant("code_mode", "deferred", "direct"))
_reviewer_names = ("user", "auto_review", "guardian_subagent")

_APP_TOOL = Struct(
    "AppToolConfig", {"enabled": boolean, "approval_mode": _flat_approval}, from_list=""
)


def _app_tools(value: Any) -> Fault | None:
    if type(value) is not dict:
        return wrong_type(value, "struct AppToolsConfig")
    return table(_APP_TOOL)(value)


APP = Struct(
    "AppConfig",
    {
        "enabled": boolean,
        "destructive_enabled": boolean,
        "open_world_enabled": boolean,
        "default_tools_approval_mode": _flat_approval,
        "default_tools_enabled": boolean,
        "approvals_reviewer": variant(*_reviewer_names, flattened=True),
        "omit_tools_from": _omit_tools,
        "links": Struct("AppLinksConfig", {}),
        "tools": _app_tools,
    },
    from_list="",
)
APPS_DEFAULT = Struct(
    "AppsDefaultConfig",
    {
        "enabled": boolean,
        "destructive_enabled": boolean,
        "open_world_enabled": boolean,
        "default_tools_approval_mode": approval,
        "approvals_reviewer": variant(*_reviewer_names),
    },
    from_list="5 elements",
)
_PLUGIN_TOOL = Struct(
    "McpServerToolConfig", {"approval_mode": _flat_approval, "output_token_limit": u64}
)
PLUGIN_SERVER = Struct(
    "PluginMcpServerConfig",
    {
        "enabled": boolean,
        "default_tools_approval_mode": _flat_approval,
        "enabled_tools": strings,
        "disabled_tools": strings,
        "tools": table(_PLUGIN_TOOL),
    },
    from_list="",
)
PLUGIN = Struct(
    "PluginConfig",
    {"enabled": boolean, "mcp_servers": table(PLUGIN_SERVER), "apps": table(APP)},
    from_list="",
)
MARKETPLACE = Struct(
    "MarketplaceConfig",
    {
        "auto_update": boolean,
        "last_updated": string,
        "last_revision": string,
        "source_type": variant("git", "local"),
        "source": string,
        "ref": string,
        "sparse_paths": strings,
    },
    from_list="",
)
PROJECT = Struct(
    "ProjectConfig", {"trust_level": variant("trusted", "untrusted")}, from_list="1 element"
)
HOOK_STATE = Struct(
    "HookStateToml",
    {"enabled": boolean, "trusted_hash": string, "trusted_content_hash": string},
    from_list="",
)
SKILL = Struct(
    "SkillConfig", {"path": string, "name": string, "enabled": boolean}, required=("enabled",)
)
SKILLS = Struct(
    "SkillsConfig",
    {
        "config": array(SKILL),
        "bundled": Struct("BundledSkillsConfig", {"enabled": boolean}, from_list=""),
        "include_instructions": boolean,
    },
    from_list="",
)
_BUILT_IN_PROVIDERS = ("openai", "ollama", "lmstudio")
PROVIDER = Struct(
    "ModelProviderInfo",
    {
        "name": string,
        "base_url": string,
        "env_key": string,
        "env_key_instructions": string,
        "experimental_bearer_token": string,
        "wire_api": variant("responses"),
        "query_params": string_table,
        "http_headers": string_table,
        "env_http_headers": string_table,
        "request_max_retries": u64,
        "stream_max_retries": u64,
        "stream_idle_timeout_ms": u64,
        "requires_openai_auth": boolean,
        "supports_websockets": boolean,
        "auth": Struct("ModelProviderAuthInfo", {}),
    },
)
IDENTITY_PROVIDER = Struct(
    "McpServerIdpOAuthConfig",
    {
        "issuer": string,
        "client_id": string,
        "client_secret": string,
        "token_endpoint_auth_method": variant("client_secret_basic", "client_secret_post"),
    },
    required=("issuer", "client_id"),
    closed=True,
    from_list="4 elements",
)
ENTERPRISE_AUTH = Struct(
    "McpEnterpriseManagedAuthConfig",
    {"idp": IDENTITY_PROVIDER},
    required=("idp",),
    closed=True,
    from_list="1 element",
)


def _is_table(expected: str) -> Check:
    def check(value: Any) -> Fault | None:
        return None if type(value) is dict else wrong_type(value, expected)

    return check


def _feature(name: str, value: Any) -> Fault | None:
    if name not in features.WITH_TABLE:
        return boolean(value)
    if type(value) is bool or (
        type(value) is dict and type(cast("dict[str, Any]", value).get("enabled", True)) is bool
    ):
        return None
    return Fault((), "data did not match any variant of untagged enum FeatureToml")


def _provider(name: str, value: Any) -> Fault | None:
    if fault := PROVIDER(value):
        return fault
    if name in _BUILT_IN_PROVIDERS:
        return Fault(
            (),
            f"model_providers contains reserved built-in provider IDs: `{name}`. Built-in "
            "providers cannot be overridden. Rename your custom provider (for example, "
            "`openai-custom`).",
        )
    if name != "amazon-bedrock" and not str(value.get("name", "")).strip():
        return Fault((), f"model_providers.{name}: provider name must not be empty")
    return None


def _app(name: str, value: Any) -> Fault | None:
    return APPS_DEFAULT(value) if name == "_default" else APP(value)


@dataclass(frozen=True, slots=True)
class _Group:
    """A table of independent tables; each is left out by itself when it is wrong.

    `blunt`: Codex tells every fault inside at the group's own key.
    """

    whole: Check
    member: Callable[[str, Any], Fault | None]
    blunt: bool = False


def _ignoring_name(check: Check) -> Callable[[str, Any], Fault | None]:
    return lambda _name, value: check(value)


_GROUPS: Mapping[str, _Group] = {
    "mcp_servers": _Group(_is_table("a map"), _ignoring_name(check_server)),
    "plugins": _Group(_is_table("struct PluginsConfigToml"), _ignoring_name(PLUGIN), blunt=True),
    "marketplaces": _Group(_is_table("a map"), _ignoring_name(MARKETPLACE)),
    "projects": _Group(_is_table("a map"), _ignoring_name(PROJECT)),
    "features": _Group(_is_table("struct FeaturesToml"), _feature),
    "apps": _Group(_is_table("struct AppsConfigToml"), _app, blunt=True),
    "model_providers": _Group(_is_table("a map"), _provider),
}


def check_tree(tree: Mapping[str, Any]) -> list[Bad]:
    """All that Codex would refuse in a merged tree or in one file, in the file's order."""
    bad: list[Bad] = []
    for key, value in tree.items():
        if group := _GROUPS.get(key):
            bad.extend(_check_group(key, group, value))
        elif key == "hooks":
            bad.extend(_check_hooks(value))
        elif key == "skills":
            bad.extend(_check_skills(value))
        elif (check := _SINGLE.get(key)) and (fault := check(value)):
            bad.append(Bad.plain((key,), fault.under(key)))
    return bad


_SINGLE: Mapping[str, Check] = {**KEYS, "mcp_enterprise_managed_auth": ENTERPRISE_AUTH}


KNOWN = frozenset(_SINGLE) | frozenset(_GROUPS) | {"hooks", "skills"}
"""Top-level keys that Codex knows."""


def _check_group(key: str, group: _Group, value: Any) -> Iterator[Bad]:
    if fault := group.whole(value):
        yield Bad.plain((key,), fault.under(key))
        return
    member_check = group.member
    for name, member in cast("dict[str, Any]", value).items():
        fault = member_check(name, member)
        if fault is None:
            continue
        blunt = group.blunt and name != "_default"
        if key == "model_providers" and not fault.path and type(member) is dict:
            blunt = True
        fault = fault.under(key, name)
        told_at = (key,) if blunt else fault.path
        vague = key == "features" and name not in features.WITH_TABLE
        told_merged = (key,) if blunt or vague else fault.merged_path
        yield Bad((key, name), fault, told_at, told_merged)


_HOOKS = Struct("HooksToml", {})


def _check_hooks(value: Any) -> Iterator[Bad]:
    if fault := _HOOKS(value):
        yield Bad.plain(("hooks",), fault.under("hooks"))
        return
    state = value.get("state", {})
    if type(state) is not dict:
        fault = wrong_type(state, "a map").under("hooks", "state")
        yield Bad.plain(("hooks", "state"), fault)
        return
    for name, member in cast("dict[str, Any]", state).items():
        if fault := HOOK_STATE(member):
            yield Bad.plain(("hooks", "state", name), fault.under("hooks", "state", name))


def _check_skills(value: Any) -> Iterator[Bad]:
    skills = cast("dict[str, Any]", value) if type(value) is dict else {}
    config = skills.get("config")
    others: dict[str, Any] | None = None
    if type(config) is list:
        others = {key: member for key, member in skills.items() if key != "config"}
        for index, member in enumerate(cast("list[Any]", config)):
            if fault := SKILL(member):
                unit = ("skills", "config", index)
                yield Bad.plain(unit, fault.under(*unit))
    if fault := SKILLS(value if others is None else others):
        fault = fault.under("skills")
        named = len(fault.path) > 1 and isinstance(fault.path[1], str)
        yield Bad.plain(fault.path[:2] if named else fault.path[:1], fault)


def without(tree: Mapping[str, Any], bad: list[Bad]) -> dict[str, Any]:
    """The tree without what is wrong; parts that are not concerned are shared with it."""
    result = dict(tree)
    copied: dict[tuple[str | int, ...], Any] = {(): result}
    # From the end, so that indices of lists stay right.
    for unit in sorted({item.unit for item in bad}, key=_sort_key, reverse=True):
        parent: Any = result
        for depth, step in enumerate(unit[:-1], 1):
            path = unit[:depth]
            if path not in copied:
                copied[path] = parent[step] = copy.copy(parent[step])
            parent = copied[path]
        del parent[unit[-1]]
    return result


def _sort_key(path: tuple[str | int, ...]) -> list[tuple[int, str, int]]:
    return [(1, "", step) if isinstance(step, int) else (0, step, 0) for step in path]
