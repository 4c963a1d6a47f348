"""What Claude Code knows and wants: as its plugin reference says."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, cast

from core.plugins.validate.report import Path, Report

NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
RESERVED = frozenset(
    {
        "claude-code-marketplace",
        "claude-code-plugins",
        "claude-plugins-official",
        "claude-plugins-community",
        "claude-community",
        "claude-tag-plugins",
        "claude-for-legal",
        "claude-for-financial-services",
        "claude-plugin-directory",
        "anthropic-marketplace",
        "anthropic-plugins",
        "anthropic-agent-skills",
        "anthropic-plugin-directory",
        "agent-skills",
        "first-party-plugins",
        "financial-services-plugins",
        "healthcare",
        "knowledge-work-plugins",
        "life-sciences",
    }
)
"""Marketplace names that it takes from its maker's own repositories only."""
SOURCES = frozenset({"github", "git", "url", "git-subdir", "npm", "pip", "directory", "file"})
EVENTS = frozenset(
    {
        "SessionStart", "SessionEnd", "Setup", "InstructionsLoaded", "UserPromptSubmit",
        "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
        "PermissionRequest", "PermissionDenied", "Notification", "Stop", "StopFailure",
        "SubagentStart", "SubagentStop", "TaskCreated", "TaskCompleted", "TeammateIdle",
        "PreCompact", "PostCompact", "Elicitation", "ElicitationResult", "ConfigChange",
        "CwdChanged", "FileChanged", "DirectoryAdded", "WorktreeCreate", "WorktreeRemove",
        "PreModelSwitch", "PostModelSwitch", "MessageDisplay",
    }
)  # fmt: skip

_TOP = (
    "$schema", "name", "owner", "plugins", "description", "version", "metadata", "interface",
    "allowCrossMarketplaceDependenciesOn", "forceRemoveDeletedPlugins", "renames",
)  # fmt: skip
_ENTRY = (
    "name", "source", "policy", "category", "description", "version", "author", "homepage",
    "repository", "license", "keywords", "tags", "strict", "commands", "agents", "skills", "hooks",
    "mcpServers", "lspServers", "outputStyles", "apps", "interface", "displayName", "dependencies",
    "defaultEnabled", "userConfig", "extensions", "themes", "monitors", "channels", "settings",
    "relevance", "experimental",
)  # fmt: skip
MANIFEST = ("$schema", *(name for name in _ENTRY if name not in ("source", "policy", "tags")))


def check_typos(
    report: Report, path: str, table: dict[str, Any], at: Path, known: tuple[str, ...]
) -> None:
    """Members that are spelled almost like one that means something."""
    for name in table:
        if name in known:
            continue
        near = get_close_matches(name, known, 1, 0.84)
        if near and near[0] not in table:
            report.add(
                "member-typo", path, f"`{name}` is not known; did you mean `{near[0]}`?",
                at=(*at, name), hint=f"write `{near[0]}`",
            )  # fmt: skip


def check_marketplace(report: Report, path: str, top: dict[str, Any], *, read: bool) -> None:
    """Members of a marketplace file. `read`: Claude Code reads files in this place."""
    check_typos(report, path, top, (), _TOP)
    entries: Any = top.get("plugins")
    for number, entry in enumerate(cast("list[Any]", entries) if type(entries) is list else []):
        if type(entry) is dict:
            table = cast("dict[str, Any]", entry)
            check_typos(report, path, table, ("plugins", number), _ENTRY)
    if not read:
        return
    owner: Any = top.get("owner")
    if type(owner) is not dict or type(cast("dict[str, Any]", owner).get("name")) is not str:
        at: Path = ("owner",) if "owner" in top else ()
        report.add("owner-missing", path, "it has no `owner` with a `name`", at=at)
    name: Any = top.get("name")
    if isinstance(name, str) and name in RESERVED:
        report.add("marketplace-name-claude", path, f"`{name}` is a reserved name", at=("name",))


def check_manifest(report: Report, path: str, table: dict[str, Any]) -> None:
    """Members of a manifest that Claude Code reads and Codex does not look at."""
    check_typos(report, path, table, (), MANIFEST)
    wanted: tuple[tuple[str, tuple[type, ...], str], ...] = (
        ("author", (dict,), "an object with a `name`"),
        ("homepage", (str,), "a string"),
        ("repository", (str,), "a string"),
        ("license", (str,), "a string"),
    )
    for member, types, what in wanted:
        if member in table and type(table[member]) not in types:
            report.add("claude-type", path, f"`{member}` is not {what}", at=(member,))
