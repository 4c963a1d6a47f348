"""Keys that Codex ignores with a warning, and the warnings it shows at the start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from core.config import features
from core.config.schema import (
    APPS_DEFAULT,
    HOOK_STATE,
    KNOWN,
    MARKETPLACE,
    PROJECT,
    PROVIDER,
    SKILL,
    SKILLS,
)
from core.config.server_entry import SERVER


def unknown_keys(tree: Mapping[str, Any]) -> list[str]:
    """Dotted paths of keys that Codex ignores with a warning; of the tables that we know."""
    found = [key for key in tree if key not in KNOWN]
    found += _members(tree, "mcp_servers", _unknown_in_server)
    found += _members(tree, "marketplaces", MARKETPLACE.unknown)
    found += _members(tree, "projects", PROJECT.unknown)
    found += _members(tree, "model_providers", _unknown_in_provider)
    found += [f"features.{name}" for name in _table(tree, "features") if not _known_feature(name)]
    found += [
        f"apps._default.{key}" for key in APPS_DEFAULT.unknown(_table(tree, "apps").get("_default"))
    ]
    found += [
        f"hooks.state.{name}.{key}"
        for name, state in _table(_table(tree, "hooks"), "state").items()
        for key in HOOK_STATE.unknown(state)
    ]
    found += [f"skills.{key}" for key in SKILLS.unknown(tree.get("skills"))]
    config = _table(tree, "skills").get("config")
    if isinstance(config, list):
        found += [
            f"skills.config.{index}.{key}"
            for index, skill in enumerate(cast("list[Any]", config))
            for key in SKILL.unknown(skill)
        ]
    sandbox = _table(tree, "sandbox_workspace_write")
    found += [f"sandbox_workspace_write.{key}" for key in sandbox if key not in _SANDBOX_KEYS]
    return found


_SANDBOX_KEYS = frozenset(
    ("writable_roots", "network_access", "exclude_tmpdir_env_var", "exclude_slash_tmp")
)
_PROVIDER_KEYS = frozenset(PROVIDER.fields) | {
    "aws",
    "websocket_connect_timeout_ms",
}


def _known_feature(name: str) -> bool:
    return name in features.NAMES


def _table(tree: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = tree.get(key)
    return cast("dict[str, Any]", value) if type(value) is dict else {}


def _members(
    tree: Mapping[str, Any], group: str, unknown: Callable[[Any], list[str]]
) -> Iterator[str]:
    for name, member in _table(tree, group).items():
        for key in unknown(member):
            yield f"{group}.{name}.{key}"


def _unknown_in_provider(value: Any) -> list[str]:
    return [key for key in PROVIDER.unknown(value) if key not in _PROVIDER_KEYS]


def _unknown_in_server(value: Any) -> list[str]:
    found = SERVER.unknown(value)
    if type(value) is not dict:
        return found
    entry = cast("dict[str, Any]", value)
    for key in _table(entry, "oauth"):
        if key not in _OAUTH_KEYS:
            found.append(f"oauth.{key}")
    for tool, rule in _table(entry, "tools").items():
        found += [f"tools.{tool}.{key}" for key in _keys(rule) if key not in _TOOL_KEYS]
    return found


def _keys(value: Any) -> list[str]:
    return list(cast("dict[str, Any]", value)) if type(value) is dict else []


_OAUTH_KEYS = frozenset(
    (
        "client_id",
        "client_secret",
        "callback_url",
        "callback_port",
        "token_endpoint_auth_method",
        "authorization_server_issuer",
    )
)
_TOOL_KEYS = frozenset(("approval_mode", "output_token_limit"))
