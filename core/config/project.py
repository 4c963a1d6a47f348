"""Which folder is the project of a working directory, and whether it is trusted."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

DEFAULT_MARKERS = (".git",)

# Repository contents must not choose where credentials are sent or which commands run.
DENIED = (
    "openai_base_url",
    "chatgpt_base_url",
    "apps_mcp_product_sku",
    "responses_api_metadata",
    "model_provider",
    "model_providers",
    "notify",
    "profile",
    "profiles",
    "experimental_realtime_webrtc_call_base_url",
    "experimental_realtime_ws_base_url",
    "otel",
)
"""Top-level keys that count for nothing in a project file (observed in Codex 0.171.0)."""


class RealPaths:
    """Canonical paths, each looked up at most once a second."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, str]] = {}

    def of(self, path: str) -> str:
        """As `os.path.realpath`."""
        now = time.monotonic()
        kept = self._kept.get(path)
        if kept is not None and now - kept[0] < 1.0:
            return kept[1]
        if len(self._kept) > 256:
            self._kept.clear()
        real = os.path.realpath(path)
        self._kept[path] = (now, real)
        return real


@dataclass(frozen=True, slots=True)
class Project:
    """The project around a working directory.

    Attributes:
        root: Nearest ancestor with a marker, else the directory itself.
        folders: Directories from the root down to the working directory that hold a `.codex`
            folder, the lowest layer first.
        main_root: Root of the main checkout, when the directory lies in a git worktree.
    """

    cwd: str
    root: str
    folders: tuple[str, ...]
    main_root: str | None


@dataclass(frozen=True, slots=True)
class Trust:
    """The decision on a folder: `trusted`, `untrusted` or None, and the key that decides or
    would have to be added.
    """

    level: str | None
    key: str


def markers(merged: Mapping[str, Any]) -> tuple[str, ...]:
    """`project_root_markers`, when they are a list of names."""
    value = merged.get("project_root_markers")
    if isinstance(value, list):
        names = cast("list[Any]", value)
        if all(isinstance(name, str) for name in names):
            return tuple(names)
    return DEFAULT_MARKERS


def find_project(
    cwd: str, root_markers: Sequence[str], codex_home: str, real: RealPaths
) -> Project:
    """Looks at the disk, a handful of times; cheap enough for every load."""
    ancestors = _ancestors(cwd)
    root = cwd
    if root_markers:
        root = next(
            (
                folder
                for folder in ancestors
                if any(_marks(f"{folder}/{marker}", marker) for marker in root_markers)
            ),
            cwd,
        )
    folders: list[str] = []
    for folder in ancestors:
        dot_codex = f"{folder}/.codex"
        if os.path.isdir(dot_codex) and not (
            dot_codex == codex_home or real.of(dot_codex) == real.of(codex_home)
        ):
            folders.append(folder)
        if folder == root:
            break
    return Project(cwd, root, tuple(reversed(folders)), _main_root(ancestors))


def _marks(path: str, marker: str) -> bool:
    """A `.git` folder needs its HEAD, a `.git` file (of a worktree or submodule) nothing."""
    if marker == ".git":
        return os.path.isfile(path) or os.path.exists(f"{path}/HEAD")
    return os.path.exists(path)


def _ancestors(cwd: str) -> list[str]:
    found = [cwd]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def _main_root(ancestors: Sequence[str]) -> str | None:
    """Repository root for trust: for a linked worktree the main checkout's."""
    for folder in ancestors:
        dot_git = f"{folder}/.git"
        if os.path.exists(f"{dot_git}/HEAD"):
            return folder
        if os.path.isfile(dot_git):
            return _worktree_of(folder, dot_git) or folder
    return None


def _worktree_of(folder: str, dot_git: str) -> str | None:
    try:
        with open(dot_git, encoding="utf-8", errors="replace") as file:
            line = file.read(4096).strip()
    except OSError:
        return None
    if not line.startswith("gitdir:"):
        return None
    git_dir = os.path.normpath(os.path.join(folder, line.removeprefix("gitdir:").strip()))
    worktrees = os.path.dirname(git_dir)
    if os.path.basename(worktrees) != "worktrees":
        return None
    return os.path.dirname(os.path.dirname(worktrees))


def trust_of(folder: str, project: Project, merged: Mapping[str, Any], real: RealPaths) -> Trust:
    """The folder's own word, else the project root's, else the repository's."""
    levels = _levels(merged)
    candidates = [folder, project.root]
    if project.main_root is not None:
        candidates.append(project.main_root)
    for candidate in candidates:
        for key in _keys(candidate, real):
            if level := levels.get(key):
                return Trust(level, key)
    return Trust(None, _keys(project.main_root or project.root, real)[0])


def _levels(merged: Mapping[str, Any]) -> dict[str, str]:
    projects = merged.get("projects")
    if not isinstance(projects, dict):
        return {}
    found: dict[str, str] = {}
    for key, value in cast("dict[str, Any]", projects).items():
        level = cast("dict[str, Any]", value).get("trust_level") if type(value) is dict else None
        if level in ("trusted", "untrusted"):
            found[key] = level
    return found


def _keys(folder: str, real: RealPaths) -> list[str]:
    canonical = real.of(folder)
    return [canonical] if canonical == folder else [canonical, folder]


def why_disabled(trust: Trust, user_file: str) -> str:
    """The real one's words for a project layer that does not count; "" when it does."""
    if trust.level == "trusted":
        return ""
    what = "project-local config, hooks, and exec policies"
    if trust.level == "untrusted":
        return (
            f"{trust.key} is marked as untrusted in the effective configuration. To load {what}, "
            "update its trust setting. If that setting is managed by your organization, contact "
            "your administrator."
        )
    return f"To load {what}, add {trust.key} as a trusted project in {user_file}."


def without_denied(value: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A project file's tree without what it may not set, and what that was."""
    ignored = [key for key in DENIED if key in value]
    kept = {key: member for key, member in value.items() if key not in DENIED}
    feature_table = kept.get("features")
    if isinstance(feature_table, dict) and "respect_system_proxy" in feature_table:
        table = cast("dict[str, Any]", feature_table)
        kept["features"] = {k: v for k, v in table.items() if k != "respect_system_proxy"}
        ignored.append("features.respect_system_proxy")
    return kept, tuple(ignored)
