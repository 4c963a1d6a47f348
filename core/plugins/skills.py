"""Skills below a directory: every `SKILL.md`, read or said why not."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET

from core.plugins.front_matter import SkillFault, read_front_matter
from core.plugins.layout import os_reason, read_file
from core.plugins.manifest import Manifest, below
from core.plugins.skill_yaml import NOTHING, SkillExtras, read_extras
from core.protocol.plugins import SkillSummary
from core.protocol.skills import (
    SkillDependencies,
    SkillError,
    SkillInterface,
    SkillMetadata,
)

DEPTH = 6
DIRECTORIES = 2000
SCOPES = ("repo", "user", "system", "admin")


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill that was read. `name` carries the plugin's name in front."""

    name: str
    description: str
    short_description: str | None = None
    interface: SkillInterface | None = None
    dependencies: SkillDependencies | None = None
    path: str
    scope: str = "user"
    plugin_id: str | None = None

    def metadata(self, switches: Switches) -> SkillMetadata:
        """As `skills/list` tells it."""
        return SkillMetadata(
            name=self.name,
            description=self.description,
            short_description=self.short_description or UNSET,
            interface=self.interface or UNSET,
            dependencies=self.dependencies or UNSET,
            path=self.path,
            scope=self.scope,
            enabled=switches.enabled(self),
            plugin_id=self.plugin_id,
        )

    def summary(self, switches: Switches) -> SkillSummary:
        """As `plugin/read` tells it."""
        return SkillSummary(
            name=self.name,
            description=self.description,
            short_description=self.short_description,
            interface=self.interface,
            path=self.path,
            enabled=switches.enabled(self),
        )


class Switches:
    """`[[skills.config]]`: by listed name or by path; the last that fits decides."""

    def __init__(self, rules: Any) -> None:
        self._names: dict[str, tuple[int, bool]] = {}
        self._paths: dict[str, tuple[int, bool]] = {}
        listed = cast("list[Any]", rules) if isinstance(rules, list) else []
        for number, rule in enumerate(listed):
            if not isinstance(rule, Mapping):
                continue
            table = cast("Mapping[str, Any]", rule)
            enabled = table.get("enabled") is not False
            name, path = table.get("name"), table.get("path")
            if isinstance(path, str) and name is None:
                self._paths[os.path.normpath(path)] = (number, enabled)
            elif isinstance(name, str) and path is None:
                self._names[name] = (number, enabled)

    def enabled(self, skill: Skill) -> bool:
        """Whether a skill is on."""
        by_name = self._names.get(skill.name, (-1, True))
        by_path = self._paths.get(skill.path, (-1, True))
        return max(by_name, by_path)[1]


class Found(msgspec.Struct):
    """Skills and faults, collected over several directories; each file once."""

    skills: list[Skill] = []
    faults: list[SkillError] = []
    seen: set[str] = set()

    def sort(self) -> None:
        """By scope, name and path, as Codex lists them."""
        rank = {scope: number for number, scope in enumerate(SCOPES)}
        self.skills.sort(key=lambda skill: (rank[skill.scope], skill.name, skill.path))


def collect(
    found: Found,
    root: str,
    *,
    prefix: str = "",
    scope: str = "user",
    plugin_id: str | None = None,
    read: bool = True,
) -> None:
    """Add what lies below `root`: at most six directories deep, none that begins with a dot.

    Linked directories are followed, linked files are not. A root that is not there adds nothing.

    Args:
        prefix: The plugin's name, put before the skills' names.
        read: False: only count the files, with empty names.
    """
    for directory in _directories(os.path.realpath(root), scope != "system"):
        path = f"{directory}/SKILL.md"
        if path in found.seen:
            continue
        found.seen.add(path)
        if not read:
            found.skills.append(Skill(name="", description="", path=path))
            continue
        try:
            skill = _read(path, directory, prefix, scope, plugin_id)
        except SkillFault as fault:
            found.faults.append(SkillError(path=path, message=str(fault)))
            continue
        if skill is not None:
            found.skills.append(skill)


def _directories(root: str, links: bool) -> Iterable[str]:
    """Directories that hold a regular SKILL.md, breadth first."""
    level = [root]
    visited = {root}
    for _ in range(DEPTH + 1):
        below_it: list[str] = []
        for directory in level:
            inner, holds = _scan(directory, links)
            if holds:
                yield directory
            for child in inner:
                if child not in visited and len(visited) < DIRECTORIES:
                    visited.add(child)
                    below_it.append(child)
        level = below_it


def _scan(directory: str, links: bool) -> tuple[list[str], bool]:
    inner: list[str] = []
    holds = False
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name == "SKILL.md":
                    holds = entry.is_file(follow_symlinks=False)
                elif entry.name.startswith("."):
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    inner.append(entry.path)
                elif links and entry.is_symlink() and entry.is_dir():
                    inner.append(os.path.realpath(entry.path))
    except OSError:
        pass
    return sorted(inner), holds


def _read(
    path: str, directory: str, prefix: str, scope: str, plugin_id: str | None
) -> Skill | None:
    try:
        data = read_file(path)
    except OSError as error:
        raise SkillFault(f"failed to read file: {os_reason(error)}") from None
    front = read_front_matter(data)
    extras = _extras(directory)
    if extras.hidden:
        return None
    name = front.name or os.path.basename(directory)
    return Skill(
        name=f"{prefix}:{name}" if prefix else name,
        description=front.description,
        short_description=front.short_description,
        interface=extras.interface,
        dependencies=extras.dependencies,
        path=path,
        scope=scope,
        plugin_id=plugin_id,
    )


def _extras(directory: str) -> SkillExtras:
    try:
        data = read_file(f"{directory}/agents/openai.yaml")
    except OSError:
        return NOTHING
    return read_extras(data, directory)


def skill_roots(manifest: Manifest) -> list[str]:
    """Directories that a plugin keeps its skills in."""
    default = [f"{manifest.root}/skills"]
    written = manifest.skills
    if manifest.agent_plugins or written is None:
        return default
    paths = cast("list[Any]", written) if isinstance(written, list) else [written]
    if not all(isinstance(path, str) for path in paths):
        return default
    roots = [root for path in paths if (root := below(path, manifest.root)) is not None]
    return list(dict.fromkeys(roots)) or default


MIGRATED = ".codex-plugin/migrated-command-skills"
"""Where an install puts the skills that it makes of simple commands."""


def plugin_skills(
    manifest: Manifest,
    found: Found,
    plugin_id: str | None = None,
    *,
    read: bool = True,
    installed: bool = False,
) -> None:
    """Add the skills of a plugin. `installed`: of its copy, made ones included."""
    roots = skill_roots(manifest)
    if installed:
        roots = [*roots, f"{manifest.root}/{MIGRATED}"]
    for root in roots:
        collect(found, root, prefix=manifest.name, plugin_id=plugin_id, read=read)
