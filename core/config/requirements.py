"""Managed requirements: what an administrator allows, whatever the configuration says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from core.config.pattern import PatternError, compile_whole
from core.config.serde import (
    Check,
    Fault,
    Struct,
    array,
    boolean,
    string,
    table,
    variant,
    wrong_type,
)
from core.config.server_entry import ServerEntry
from core.protocol.facts import Evidence, Problem

LOGIN_METHODS = ("api", "chatgpt")

_IDENTITY_FAULT = "data did not match any variant of untagged enum RawMcpServerIdentity"


@dataclass(frozen=True, slots=True)
class Matcher:
    """One rule for a text."""

    match: Literal["exact", "prefix", "regex"]
    value: str
    pattern: re.Pattern[str] | None = None

    def fits(self, candidate: str) -> bool:
        if self.match == "exact":
            return candidate == self.value
        if self.match == "prefix":
            return candidate.startswith(self.value)
        return self.pattern is not None and self.pattern.match(candidate) is not None


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server must be.

    Attributes:
        command: Exact program, None for a URL identity.
        args: One matcher per argument, None when arguments do not matter.
        url: Matcher of the URL, None for a command identity.
    """

    command: str | None = None
    args: tuple[Matcher, ...] | None = None
    url: Matcher | None = None

    def fits(self, entry: ServerEntry) -> bool:
        if self.url is not None:
            return entry.transport == "http" and self.url.fits(entry.url)
        if entry.transport != "stdio" or entry.command != self.command:
            return False
        if self.args is None:
            return True
        return len(self.args) == len(entry.args) and all(
            matcher.fits(arg) for matcher, arg in zip(self.args, entry.args, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether policy lets a server start.

    Attributes:
        allowed: It may start.
        evidence: The file that decides, with the line of the rule where there is one.
        rule: `none` (no policy), `listed`, `not-listed`, `identity`, `empty-list`,
            `plugin-not-listed`, `unreadable`.
    """

    allowed: bool
    evidence: Evidence = Evidence()
    rule: str = "none"


def _matcher(value: Any) -> Fault | None:
    fault = Fault((), _IDENTITY_FAULT)
    if type(value) is not dict:
        return fault
    rule = cast("dict[str, Any]", value)
    wanted = {"exact": "value", "prefix": "value", "regex": "expression"}.get(rule.get("match", ""))
    if wanted is None or set(rule) != {"match", wanted} or type(rule[wanted]) is not str:
        return fault
    return None


def _identity(value: Any) -> Fault | None:
    """A command when that can be read, else a URL; other members do not matter."""
    if type(value) is dict:
        identity = cast("dict[str, Any]", value)
        command, url = identity.get("command"), identity.get("url")
        if type(command) is str or (type(command) is dict and _invocation(command)):
            return None
        if type(url) is str or (type(url) is dict and _matcher(url) is None):
            return None
    return Fault((), _IDENTITY_FAULT)


def _invocation(value: Any) -> bool:
    rule = cast("dict[str, Any]", value)
    args = rule.get("args")
    return (
        set(rule) == {"executable", "args"}
        and type(rule["executable"]) is str
        and type(args) is list
        and all(_matcher(arg) is None for arg in cast("list[Any]", args))
    )


_SERVER = Struct("RawMcpServerRequirement", {"identity": _identity}, required=("identity",))
_PLUGIN = Struct("PluginMcpRequirements", {"mcp_servers": table(_SERVER)}, from_list="")
_APP_TOOL = Struct(
    "AppToolRequirementToml",
    {"approval_mode": variant("auto", "prompt", "writes", "approve", flattened=True)},
)
_APP = Struct("AppRequirementToml", {"enabled": boolean, "tools": table(_APP_TOOL)}, from_list="")
_ALLOWED_SOURCE = Struct(
    "MarketplaceAllowedSourceToml",
    {
        "source": variant("git", "host_pattern", "local"),
        "url": string,
        "ref": string,
        "host_pattern": string,
        "path": string,
    },
    closed=True,
)
_MARKETPLACES = Struct(
    "MarketplaceRequirementsToml",
    {"restrict_to_allowed_sources": boolean, "allowed_sources": table(_ALLOWED_SOURCE)},
    closed=True,
)


def _features(value: Any) -> Fault | None:
    if type(value) is not dict:
        return wrong_type(value, "struct FeatureRequirementsInput")
    return table(boolean)(value)


def _apps(value: Any) -> Fault | None:
    if type(value) is not dict:
        return wrong_type(value, "struct AppsRequirementsToml")
    return table(_APP)(value)


_CHECKS: Mapping[str, Check] = {
    "mcp_servers": table(_SERVER),
    "plugins": table(_PLUGIN),
    "features": _features,
    "apps": _apps,
    "marketplaces": _MARKETPLACES,
    "allowed_login_methods": array(variant("chatgpt", "api")),
    "allowed_sandbox_modes": array(string),
    "feature_requirements": _features,
    "chatgpt_base_url": string,
    "check_for_update_on_startup": boolean,
    "cli_auth_credentials_store": variant("file", "keyring", "auto", "ephemeral"),
    "allow_login_shell": boolean,
    "log_dir": string,
    "model_catalog_json": string,
    "sqlite_home": string,
    "model_provider": string,
}
_BLUNT = frozenset(("features", "feature_requirements", "apps", "allowed_login_methods"))
PINNED = (
    "cli_auth_credentials_store",
    "chatgpt_base_url",
    "model_provider",
    "log_dir",
    "sqlite_home",
    "model_catalog_json",
    "allow_login_shell",
    "check_for_update_on_startup",
)
"""Settings that requirements can fix: theirs counts, whatever the configuration says."""

_KNOWN = (
    frozenset(_CHECKS)
    | frozenset(PINNED)
    | frozenset(
        """
        additional_developer_instructions allow_appshots allow_browser_and_computer_use
        allow_managed_hooks_only allow_remote_control allowed_approval_policies
        allowed_approvals_reviewers allowed_chatgpt_workspaces allowed_permission_profiles
        allowed_web_search_modes application auto_review browser_use computer_use config_server
        default_permissions enforce_residency experimental_network feedback
        guardian_extra_policy guardian_policy_config hooks in_app_browser model_providers models
        network_proxy otel permissions remote_sandbox_config rules
        unsafe_enforce_sqlite_journal_mode windows
        """.split()
    )
)


@dataclass(frozen=True, slots=True)
class Requirements:
    """What was required when the files were last read.

    Attributes:
        value: Merged tree of all sources, empty when `broken`.
        broken: Why they cannot be used; then nothing may be started.
        closed: Policy unknown: start nothing.
        source: How Codex names where they come from.
        servers: Identities by server name; None when servers are not restricted.
        plugins: Identities by plugin id and server name; None when not restricted.
        features: Pinned features.
        apps_off: Ids of apps that are forced off.
        pins: Settings that are fixed.
        login_methods: Allowed ones, in the order `api`, `chatgpt`; None when not restricted.
        unknown: Dotted paths of keys that Codex ignores.
        places: Evidence by key path of everything above.
    """

    value: Mapping[str, Any] = field(default_factory=dict[str, Any])
    broken: Problem | None = None
    source: str = ""
    evidence: Evidence = Evidence()
    servers: Mapping[str, Identity] | None = None
    plugins: Mapping[str, Mapping[str, Identity]] | None = None
    features: Mapping[str, bool] = field(default_factory=dict[str, bool])
    apps_off: frozenset[str] = frozenset()
    pins: Mapping[str, Any] = field(default_factory=dict[str, Any])
    login_methods: tuple[str, ...] | None = None
    unknown: tuple[str, ...] = ()
    places: Mapping[tuple[str, ...], Evidence] = field(
        default_factory=dict[tuple[str, ...], Evidence]
    )

    @property
    def closed(self) -> bool:
        return self.broken is not None

    @property
    def empty(self) -> bool:
        """Nothing recognised is required."""
        return not any(key in _KNOWN for key in self.value)

    def place(self, *path: str) -> Evidence:
        """Where the nearest part of a path stands; the file itself when nowhere."""
        for end in range(len(path), 0, -1):
            if (found := self.places.get(path[:end])) is not None:
                return found
        return self.evidence

    def allows_server(self, name: str, entry: ServerEntry, plugin_id: str | None = None) -> Verdict:
        """Whether a configured server, or one that a plugin brings, may start."""
        if self.closed:
            return Verdict(False, self.evidence, "unreadable")
        if plugin_id is not None:
            return self._allows_plugin_server(name, entry, plugin_id)
        if self.servers is None:
            return Verdict(True)
        identity = self.servers.get(name)
        if identity is None:
            rule = "not-listed" if self.servers else "empty-list"
            return Verdict(False, self.place("mcp_servers"), rule)
        fits = identity.fits(entry)
        return Verdict(fits, self.place("mcp_servers", name), "listed" if fits else "identity")

    def _allows_plugin_server(self, name: str, entry: ServerEntry, plugin_id: str) -> Verdict:
        if self.servers is not None and not self.servers:
            return Verdict(False, self.place("mcp_servers"), "empty-list")
        if self.plugins is None:
            return Verdict(True)
        identity = self.plugins.get(plugin_id, {}).get(name)
        if identity is None:
            return Verdict(False, self.place("plugins", plugin_id), "plugin-not-listed")
        fits = identity.fits(entry)
        evidence = self.place("plugins", plugin_id, "mcp_servers", name)
        return Verdict(fits, evidence, "listed" if fits else "identity")


class RequirementsError(ValueError):
    """Requirements that make the real process end; the text is its message."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


def check_layer(value: Mapping[str, Any], source: str) -> None:
    """Raises RequirementsError with the real one's words."""
    if "features" in value and "feature_requirements" in value:
        raise RequirementsError(
            f"failed to parse requirements layer {source}: duplicate field `features`\n",
            ("feature_requirements",),
        )
    for key, member in value.items():
        check = _CHECKS.get(key)
        if check is None or (fault := check(member)) is None:
            continue
        path = (key, *fault.path)
        told = (key,) if key in _BLUNT else tuple(step for step in path if isinstance(step, str))
        raise RequirementsError(
            f"failed to parse requirements layer {source}: {fault.merged_message}\n"
            f"in `{'.'.join(told)}`\n",
            path,
        )


def compose(value: Mapping[str, Any], source: str, evidence: Evidence) -> Requirements:
    """Requirements of a merged tree that `check_layer` has found right.

    Raises:
        RequirementsError: A pattern cannot be compiled, or no login method is left.
    """
    servers = _identities(value.get("mcp_servers"), source, "")
    plugins: dict[str, Mapping[str, Identity]] | None = None
    if "plugins" in value:
        plugins = {
            plugin_id: _identities(rules.get("mcp_servers", {}), source, f"{plugin_id}/") or {}
            for plugin_id, rules in value["plugins"].items()
        }
    methods = value.get("allowed_login_methods")
    if methods is not None and not methods:
        raise RequirementsError(
            "authentication requirements do not permit any usable login method",
            ("allowed_login_methods",),
        )
    apps: Mapping[str, Any] = value.get("apps", {})
    return Requirements(
        value=value,
        source=source,
        evidence=evidence,
        servers=servers,
        plugins=plugins,
        features=value.get("features", value.get("feature_requirements", {})),
        apps_off=frozenset(name for name, app in apps.items() if app.get("enabled") is False),
        pins={key: value[key] for key in PINNED if key in value},
        login_methods=None
        if methods is None
        else tuple(method for method in LOGIN_METHODS if method in methods),
        unknown=tuple(_unknown(value)),
    )


def _unknown(value: Mapping[str, Any]) -> Sequence[str]:
    found = [key for key in value if key not in _KNOWN]
    for name, rule in value.get("mcp_servers", {}).items():
        found += [f"mcp_servers.{name}.{key}" for key in rule if key != "identity"]
    for plugin_id, rules in value.get("plugins", {}).items():
        found += [f"plugins.{plugin_id}.{key}" for key in rules if key != "mcp_servers"]
    return found


def _identities(value: Any, source: str, prefix: str) -> dict[str, Identity] | None:
    if value is None:
        return None
    return {
        name: _read_identity(rule["identity"], source, f"{prefix}{name}")
        for name, rule in value.items()
    }


def _read_identity(identity: Mapping[str, Any], source: str, server: str) -> Identity:
    command = identity.get("command")
    try:
        if type(command) is str:
            return Identity(command=command)
        if type(command) is dict and _invocation(command):
            rule = cast("dict[str, Any]", command)
            return Identity(command=rule["executable"], args=_read_args(rule["args"]))
        url = identity["url"]
        if type(url) is str:
            return Identity(url=Matcher("exact", url))
        return Identity(url=_read_matcher(url))
    except PatternError as error:
        message = f"invalid requirement for MCP server `{server}` (set by {source}): {error}"
        raise RequirementsError(message, ("mcp_servers", server)) from None


def _read_args(args: list[Any]) -> tuple[Matcher, ...]:
    matchers: list[Matcher] = []
    for index, rule in enumerate(args):
        try:
            matchers.append(_read_matcher(rule))
        except PatternError as error:
            raise PatternError(f"invalid argument matcher at index {index}: {error}") from None
    return tuple(matchers)


def _read_matcher(rule: Mapping[str, str]) -> Matcher:
    match rule["match"]:
        case "exact":
            return Matcher("exact", rule["value"])
        case "prefix":
            return Matcher("prefix", rule["value"])
        case _:
            expression = rule["expression"]
            try:
                return Matcher("regex", expression, compile_whole(expression))
            except PatternError as error:
                raise PatternError(f"invalid regex `{expression}`: {error}") from None
