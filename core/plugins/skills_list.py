"""skills/list: the skills of a directory, of the user, of the product and of enabled plugins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from core.config.model import Loaded
from core.config.paths import Home
from core.config.store import ConfigStore
from core.config.strict import refusal
from core.plugins.discovery import git_root
from core.plugins.effective import active_plugins
from core.plugins.json_fast import member
from core.plugins.skills import Found, Switches, collect, plugin_skills
from core.protocol.skills import SkillError, SkillsListEntry


class SkillLists:
    """Reads skills; every call reads the disk.

    Args:
        cwd: Directory that relative ones are taken from.
    """

    def __init__(self, home: Home, configs: ConfigStore, cwd: Path) -> None:
        self._home = home
        self._configs = configs
        self._cwd = cwd
        self.extra_roots: tuple[str, ...] = ()

    def entry(self, cwd: str) -> SkillsListEntry:
        """The skills of one directory, called as it was asked for. Blocks."""
        directory = self._cwd / cwd
        loaded = self._configs.load(directory)
        if (found := refusal(loaded)) is not None:
            message = f"failed to reload config: {found.message}"
            return SkillsListEntry(
                cwd=cwd, skills=(), errors=(SkillError(path=cwd, message=message),)
            )
        skills = self.of(str(directory), loaded)
        switches = Switches(self.rules(loaded))
        return SkillsListEntry(
            cwd=cwd,
            skills=tuple(skill.metadata(switches) for skill in skills.skills),
            errors=tuple(skills.faults),
        )

    def rules(self, loaded: Loaded) -> object:
        """`[[skills.config]]` of the user; a project's own rules do not count."""
        for layer in reversed(loaded.layers):
            if layer.kind == "user" and layer.active:
                return member(layer.value.get("skills"), "config")
        return None

    def of(self, directory: str, loaded: Loaded) -> Found:
        """Skills and faults below every root that counts for a directory, sorted."""
        found = Found(skills=[], faults=[], seen=set())
        home = self._home
        above = _above(directory)
        for place in above:
            collect(found, f"{place}/.codex/skills", scope="repo")
        user = [str(home.skills_dir), f"{home.home}/.agents/skills", *self.extra_roots]
        for root in user:
            collect(found, root)
        if loaded.get("skills", "bundled", "enabled", default=True) is not False:
            collect(found, f"{home.skills_dir}/.system", scope="system")
        collect(found, f"{home.system_dir}/skills", scope="admin")
        for place in above:
            collect(found, f"{place}/.agents/skills", scope="repo")
        for plugin in active_plugins(home, loaded):
            plugin_skills(plugin.manifest, found, plugin.plugin_id, installed=True)
        found.sort()
        return found


def _above(directory: str) -> Sequence[str]:
    """Directories from the repository's root down to `directory`; itself without a repository."""
    root = git_root(directory)
    if root is None:
        return (directory,)
    places = [directory]
    while places[-1] != root:
        places.append(os.path.dirname(places[-1]))
    return tuple(reversed(places))
